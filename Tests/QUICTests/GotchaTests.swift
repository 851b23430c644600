internal import Concurrency
internal import Identity
internal import Testing
internal import Transport
internal import TransportConformance

@testable internal import QUIC

/// Problems that other programs had, each with the test that keeps it from coming back.
///
/// docs/quic-gotchas.md has the whole list; the tests of its other numbers are in the other files of this folder.
@Suite("Gotchas") struct GotchaTests {
    /// Echoes 100 kB over a fresh connection of two endpoints changed by `change`.
    private func echo(_ change: @escaping @Sendable (inout QUICConfiguration) -> Void = { _ in }) async throws {
        try await TransportKit.quic(on: "127.0.0.1", change).withConnection { dialled, accepted in
            let sent = (0..<100_000).map { UInt8(truncatingIfNeeded: $0) }
            let stream = try dialled.openStream()
            try await stream.write(sent, finish: true)
            let taken = try #require(try await accepted.acceptStream())
            var received: [UInt8] = []
            var isFinal = false
            while !isFinal {
                let piece = try await taken.read(atMost: 65_536)
                received += piece.bytes
                isFinal = piece.isFinal
            }
            #expect(received == sent)
        }
    }

    @Test(.timeLimit(.minutes(15)), arguments: [1, 101, 105, 90, 5, 22] as [Int32])
    func `a send error counts as loss (2)`(error: Int32) async throws {
        let count = Locked(0)
        try await echo { configuration in
            configuration.seams.fault = { _, _, _ in
                count.withLock { count in
                    count += 1
                    return count % 7 == 3 ? error : 0
                }
            }
        }
        #expect(count.withLock { $0 } > 3)
    }

    @Test(.timeLimit(.minutes(15))) func `a system without segmentation gets single datagrams (2)`() async throws {
        try await echo { configuration in
            configuration.seams.fault = { _, _, segments in segments > 1 ? 5 : 0 }
        }
    }

    @Test(.timeLimit(.minutes(15))) func `another application protocol is refused (5)`() async throws {
        let server = try loopbackEndpoint()
        let client = try loopbackEndpoint { $0.seams.applicationProtocol = "something-else" }
        await #expect(throws: TransportError.self) {
            _ = try await client.connect(to: try address(of: server), expecting: server.localPeerId)
        }
        await client.close(code: 0)
        await server.close(code: 0)
    }

    @Test(.timeLimit(.minutes(15))) func `a Retry proves the address (6)`() async throws {
        try await echo { $0.limits.retryThreshold = 0 }
    }

    @Test(.timeLimit(.minutes(15)), arguments: [CongestionControl.cubic, .bbr])
    func `each congestion control carries the bytes`(control: CongestionControl) async throws {
        try await echo { $0.congestionControl = control }
    }

    @Test(.timeLimit(.minutes(15))) func `the exporter is the same on both sides`() async throws {
        try await TransportKit.quic().withConnection { dialled, accepted in
            let first = try dialled.exportKeyingMaterial(label: "runar test", byteCount: 40)
            #expect(first.count == 40)
            #expect(first == (try accepted.exportKeyingMaterial(label: "runar test", byteCount: 40)))
            #expect(first != (try accepted.exportKeyingMaterial(label: "another", byteCount: 40)))
        }
    }
}
