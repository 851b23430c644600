internal import Concurrency
internal import Identity
internal import Testing
internal import Transport

@testable internal import QUIC

/// aioquic attacks us.
@Suite("Hostile client", .timeLimit(.minutes(15))) struct HostileClientTests {
    /// The time of an endpoint: real time that a test can advance.
    private struct LeapingClock: Sendable {
        private let start = ContinuousClock.now
        private let leap = Locked<UInt64>(1_000_000_000)

        var now: UInt64 { UInt64((ContinuousClock.now - start) / .nanoseconds(1)) + leap.withLock { $0 } }

        func leap(seconds: UInt64) { leap.withLock { $0 += seconds * 1_000_000_000 } }
    }

    @Test func `a closed connection is forgotten after three seconds, whatever delay its peer announced`() async throws
    {
        let clock = LeapingClock()
        let address = SocketAddress(.v4(0x7F00_0001), port: 0)
        var configuration = QUICConfiguration(identity: Ed25519PrivateKey(), addresses: [address])
        configuration.seams.now = { clock.now }
        let endpoint = try QUICEndpoint.bind(configuration)
        let port = try #require(endpoint.localAddresses.first).port
        let client = try PythonPeer(["dial", "\(port)", "late", "--patient"])
        let connection = try #require(try await endpoint.accept())
        connection.close(code: 7, reason: "enough")
        _ = try await client.next("closed")
        clock.leap(seconds: 4)
        // The pass that notices the time still has the connection, for all packets that have arrived; the next has not.
        var answers = 0
        repeat {
            try client.tell("later")
            answers += 1
        } while try await client.next("answer").equal != false && answers < 10
        #expect(answers < 10)
        try client.finish()
        await endpoint.close(code: 0)
    }
}
