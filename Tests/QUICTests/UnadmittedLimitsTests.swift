internal import Concurrency
internal import Testing
internal import Transport
internal import TransportConformance

@testable internal import QUIC

/// The windows and streams of a peer before and after ``Connection/extendLimits()``.
@Suite("Limits before admission", .timeLimit(.minutes(15))) struct UnadmittedLimitsTests {
    private static let limits = UnadmittedLimits()

    /// Runs `body` with both ends of a connection on which neither side has extended the limits of the other.
    private func withConnection(
        _ body: (_ dialled: any Connection, _ accepted: any Connection) async throws -> Void
    ) async throws {
        try await TransportKit.quic { $0.limits.unadmitted = Self.limits }.withConnection(body)
    }

    private func unread(_ stream: any Transport.Stream) throws -> Int {
        try #require(stream as? QUICStream).core.withState { $0.receiving.unread }
    }

    /// Streams of the peer that wait for `acceptStream`.
    private func arrivals(on connection: any Connection) throws -> Int {
        try #require(connection as? QUICConnection).core.output.arrivals.count
    }

    /// Sends a byte to the other side and back three times: by then earlier bytes have arrived.
    private func exchange(_ near: any Transport.Stream, _ far: any Transport.Stream) async throws {
        for byte in UInt8(0)..<3 {
            try await near.write([byte], finish: false)
            #expect(try await read(1, from: far) == [byte])
            try await far.write([byte], finish: false)
            #expect(try await read(1, from: near) == [byte])
        }
    }

    @Test(arguments: [false, true])
    func `a peer holds 64 KiB unread until its limits are extended`(isDialler: Bool) async throws {
        try await withConnection { dialled, accepted in
            let (peer, local) = isDialler ? (dialled, accepted) : (accepted, dialled)
            let bytes = [pattern(1 << 20, seed: 1), pattern(1 << 20, seed: 2)]
            var taken: [any Transport.Stream] = []
            for bytes in bytes {
                let (opened, stream) = try await openStream(from: peer, to: local)
                taken.append(stream)
                try await opened.write(bytes, finish: true)
            }
            let total = { try taken.reduce(0) { try $0 + self.unread($1) } }
            // Of each stream one byte was read, which is too little to move a window on.
            while try total() < Self.limits.connectionWindow - 2 { await Task.yield() }
            let (ping, pong) = try await openStream(from: local, to: peer)
            for byte in UInt8(0)..<3 {
                // Everything that the peer could send arrives before its acknowledgement.
                try await ping.write([byte], finish: false)
                try await ping.delivered()
            }
            #expect(try total() == Self.limits.connectionWindow - 2)
            local.extendLimits()
            while try total() < 2 << 20 { await Task.yield() }
            for (stream, bytes) in zip(taken, bytes) { #expect(try await readAll(stream) == bytes) }
            withExtendedLifetime(pong) {}  // a released stream stops its sender
        }
    }

    @Test(arguments: [false, true])
    func `a peer opens two streams in all until its limits are extended`(isDialler: Bool) async throws {
        try await withConnection { dialled, accepted in
            let (peer, local) = isDialler ? (dialled, accepted) : (accepted, dialled)
            let (ping, pong) = try await openStream(from: peer, to: local)
            let second = try peer.openStream()
            try await second.write([2], finish: true)
            let taken = try #require(try await local.acceptStream())
            #expect(try await readAll(taken) == [2])
            try await taken.write([3], finish: true)
            #expect(try await readAll(second) == [3])
            // The second one has ended in both directions, and still there is no place for a third.
            let further = try (0..<100).map { _ in try peer.openStream() }
            for stream in further { try await stream.write([4], finish: true) }
            try await exchange(ping, pong)
            #expect(try arrivals(on: local) == 0)
            local.extendLimits()
            for _ in further {
                let stream = try #require(try await local.acceptStream())
                #expect(try await readAll(stream) == [4])
            }
        }
    }

    @Test func `an exchange of any length works within the limits`() async throws {
        try await withConnection { dialled, accepted in
            async let served: Void = serveEchoes(on: accepted)
            try await checkEcho(of: pattern(1 << 20, seed: 3), on: dialled)
            // Read in pieces smaller than half of a window, from a sender that waits for each.
            let (near, far) = try await openStream(from: accepted, to: dialled)
            for round in UInt64(0)..<100 {
                let frame = pattern(16 << 10, seed: round)
                try await near.write(frame, finish: false)
                #expect(try await read(frame.count, from: far) == frame)
            }
            dialled.close(code: 0, reason: "")
            try await served
        }
    }

    @Test func `bulk data and many streams cross once both sides have extended their limits`() async throws {
        try await withConnection { dialled, accepted in
            dialled.extendLimits()
            accepted.extendLimits()
            accepted.extendLimits()
            async let served: Void = serveEchoes(on: accepted)
            try await checkEcho(of: pattern(8 << 20, seed: 4), on: dialled)
            try await withThrowingTaskGroup(of: Void.self) { group in
                for seed in UInt64(0)..<200 {
                    group.addTask { try await checkEcho(of: pattern(40_000, seed: seed), on: dialled) }
                }
                try await group.waitForAll()
            }
            // More than the number of streams that may be open at once: each gives its place back.
            for seed in UInt64(0)..<1400 { try await checkEcho(of: pattern(10, seed: seed), on: dialled) }
            dialled.close(code: 0, reason: "")
            try await served
        }
    }
}
