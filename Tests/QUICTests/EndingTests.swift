internal import Bytes
internal import Concurrency
internal import Identity
internal import TestSupport
internal import Testing
internal import Transport
internal import TransportConformance

@testable internal import QUIC

/// Processes that vanish, unauthenticated floods, and the remains of ten thousand streams.
@Suite("Endings") struct EndingTests {
    /// Reads a stream to its end.
    private func readAll(_ stream: any Transport.Stream) async throws -> [UInt8] {
        var bytes: [UInt8] = []
        while true {
            let piece = try await stream.read(atMost: 65_536)
            bytes += piece.bytes
            if piece.isFinal { return bytes }
        }
    }

    @Test(.timeLimit(.minutes(15)))
    func `the next process on the port ends the connections of a dead one (12)`() async throws {
        let isMute = Locked(false)
        let key = Ed25519PrivateKey()
        let secret = SecretBytes(copying: (0..<32).map { UInt8($0) })
        let dead = try loopbackEndpoint {
            $0.identity = key
            $0.addresses = [SocketAddress(.v4(0x7F00_0001), port: QuietPort.next())]
            $0.resetSecret = secret
            $0.seams.fault = { _, _, _ in isMute.withLock { $0 } ? 1 : 0 }
        }
        let place = try address(of: dead)
        let client = try loopbackEndpoint()
        let connection = try await client.connect(to: place, expecting: dead.localPeerId)
        _ = try await dead.accept()
        // No CONNECTION_CLOSE gets out.
        isMute.withLock { $0 = true }
        await dead.close(code: 0)
        let reborn = try QUICEndpoint.bind(
            QUICConfiguration(identity: key, addresses: [place], resetSecret: secret)
        )
        try? await connection.openStream().write([UInt8](repeating: 7, count: 1000), finish: true)  // May be over.
        let end = await connection.closed()
        #expect(end != .timedOut)
        await client.close(code: 0)
        await reborn.close(code: 0)
    }

    @Test(.timeLimit(.minutes(15))) func `ten thousand streams come and go on one connection`() async throws {
        try await TransportKit.quic().withConnection { dialled, accepted in
            try await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask {
                    for _ in 0..<10_000 {
                        guard let stream = try await accepted.acceptStream() else { return }
                        let bytes = try await self.readAll(stream)
                        try await stream.write(bytes, finish: true)
                    }
                }
                for number in 0..<10_000 {
                    let sent = [UInt8(truncatingIfNeeded: number), UInt8(truncatingIfNeeded: number >> 8)]
                    let stream = try dialled.openStream()
                    try await stream.write(sent, finish: true)
                    #expect(try await self.readAll(stream) == sent)
                }
                try await group.waitForAll()
            }
        }
    }

    @Test(.timeLimit(.minutes(15)))
    func `a flood of forged first packets blocks no connection (6)`() async throws {
        let server = try loopbackEndpoint()
        let place = try address(of: server)
        let unknownSocket = try RawSocket()
        var random = SplitMix64(seed: 42)
        for _ in 0..<50_000 {
            // A long header of version 1 with random ids: an Initial as far as can be seen before decrypting it.
            var packet: [UInt8] = [0xC3, 0, 0, 0, 1, 8]
            for _ in 0..<8 { packet.append(UInt8.random(in: .min ... .max, using: &random)) }
            packet += [8]
            for _ in 0..<8 { packet.append(UInt8.random(in: .min ... .max, using: &random)) }
            packet += [0, 0x44, 0x9E]
            packet += [UInt8](repeating: UInt8.random(in: .min ... .max, using: &random), count: 1200 - packet.count)
            unknownSocket.send(packet, to: place)
            _ = unknownSocket.received()
        }
        let good = try loopbackEndpoint()
        let connection = try await good.connect(to: place, expecting: server.localPeerId)
        #expect(connection.remotePeerId == server.localPeerId)
        await good.close(code: 0)
        await server.close(code: 0)
    }
}
