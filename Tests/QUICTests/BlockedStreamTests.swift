internal import Testing
internal import Transport
internal import TransportConformance

@testable internal import QUIC

/// Many streams that wait for credit of the peer, of their own window or of the connection's.
@Suite("Blocked streams", .timeLimit(.minutes(15))) struct BlockedStreamTests {
    private static let streamCount = 200
    private static let byteCount = 20_000
    private static let streamWindow = 4 << 10

    /// Runs `body` with both ends of streams that are blocked: each has more on it than its window takes.
    private func withBlockedStreams(
        _ body: (_ opened: [any Transport.Stream], _ taken: [any Transport.Stream]) async throws -> Void
    ) async throws {
        try await TransportKit.quic { $0.limits.streamWindow = Self.streamWindow }.withConnection { dialled, accepted in
            var opened: [any Transport.Stream] = []
            var taken: [any Transport.Stream] = []
            for number in 0..<Self.streamCount {
                let (near, far) = try await openStream(from: dialled, to: accepted)
                try await near.write(pattern(Self.byteCount, seed: UInt64(number)), finish: true)
                opened.append(near)
                taken.append(far)
            }
            for stream in taken {
                let core = try #require(stream as? QUICStream).core
                // One byte was read, which is too little to move the window on.
                while core.withState({ $0.receiving.unread < Self.streamWindow - 1 }) { await Task.yield() }
            }
            try await body(opened, taken)
        }
    }

    @Test func `streams are freed one by one, in whatever order they are read`() async throws {
        try await withBlockedStreams { _, taken in
            for number in taken.indices.reversed() {
                let bytes = try await readAll(taken[number])
                #expect(bytes == pattern(Self.byteCount, seed: UInt64(number)))
            }
        }
    }

    @Test func `streams that wait for the window of the connection all get their turn`() async throws {
        try await TransportKit.quic {
            $0.limits.streamWindow = Self.streamWindow
            $0.limits.connectionWindow = 4 * Self.streamWindow
        }.withConnection { dialled, accepted in
            async let served: Void = serveEchoes(on: accepted)
            try await withThrowingTaskGroup(of: Void.self) { group in
                for number in 0..<Self.streamCount {
                    group.addTask {
                        try await checkEcho(of: pattern(Self.byteCount, seed: UInt64(number)), on: dialled)
                    }
                }
                try await group.waitForAll()
            }
            dialled.close(code: 0, reason: "")
            try await served
        }
    }

    @Test func `writers of blocked streams hear that the peer wants no more`() async throws {
        try await withBlockedStreams { opened, taken in
            for stream in taken { stream.reset(code: 6) }
            for stream in opened {
                await #expect(throws: TransportError.stopped(code: 6)) { try await stream.delivered() }
            }
        }
    }
}
