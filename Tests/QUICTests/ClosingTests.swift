internal import Concurrency
internal import Testing
internal import Transport
internal import TransportConformance

@testable internal import QUIC

/// The state kept of a connection after its end: its packets are recognised for three probe timeouts (11).
///
/// The clocks are stopped, so that those timeouts pass only when a test advances them.
@Suite("Closing", .timeLimit(.minutes(15))) struct ClosingTests {
    /// Less than three probe timeouts: each has 25 ms for a delayed acknowledgement in it.
    private static let within: Int64 = 60
    /// Far more than three.
    private static let beyond: Int64 = 60_000

    /// A connection through a tap that no longer passes datagrams, both clocks stopped, and a packet of each side.
    private struct Closed {
        let server: QUICEndpoint
        let dialler: QUICEndpoint
        let accepted: any Connection
        let dialled: any Connection
        let tap: Tap
        let clocks: [TestClock]
        let ofDialler: [UInt8]
        let ofServer: [UInt8]
    }

    private func withConnection(_ body: (Closed) async throws -> Void) async throws {
        let clocks = [TestClock(), TestClock()]
        let server = try loopbackEndpoint { $0.seams.now = { clocks[0].now } }
        let dialler = try loopbackEndpoint { $0.seams.now = { clocks[1].now } }
        let tap = try Tap(to: try address(of: server))
        async let accepting = server.accept()
        let dialled = try await dialler.connect(to: tap.address, expecting: server.localPeerId)
        let accepted = try #require(try await accepting)
        async let echoes: Void = serveEchoes(on: accepted)
        try await checkEcho(of: pattern(1000, seed: 1), on: dialled)
        let ofDialler = try await tap.first { $0.isFromDialler && $0.isShort && $0.bytes.count > 100 }
        let ofServer = try await tap.first { !$0.isFromDialler && $0.isShort && $0.bytes.count > 100 }
        for clock in clocks { clock.stop() }
        try await body(
            Closed(
                server: server,
                dialler: dialler,
                accepted: accepted,
                dialled: dialled,
                tap: tap,
                clocks: clocks,
                ofDialler: ofDialler.bytes,
                ofServer: ofServer.bytes
            )
        )
        for clock in clocks { clock.goOn() }
        await server.close(code: 0)
        await dialler.close(code: 0)
        try await echoes
    }

    @Test func `who closed answers late packets with the same words, then forgets the connection (11)`() async throws {
        try await withConnection { closed in
            closed.tap.hold()
            // By then it has answered every datagram passed on before, and sent what was due.
            for _ in 0..<2 { _ = try await closed.tap.answers(to: [], fromDialler: false) }
            let before = closed.tap.passed.count
            closed.accepted.close(code: 7, reason: "enough")
            let connectionClose = try await closed.tap.first(after: before) { !$0.isFromDialler }.bytes
            let late = closed.ofDialler
            // The first, the second and the fourth are answered,
            let early = try await closed.tap.answers(to: [late, late, late, late], fromDialler: false)
            #expect(early == [connectionClose, connectionClose, connectionClose])
            closed.clocks[0].shift(milliseconds: Self.within)
            // and the eighth.
            let later = try await closed.tap.answers(to: [late, late, late, late], fromDialler: false)
            #expect(later == [connectionClose])
            closed.clocks[0].shift(milliseconds: Self.beyond)
            // The pass that notices the time still has the connection; the next one does not.
            _ = try await closed.tap.answers(to: [], fromDialler: false)
            let afterwards = try await closed.tap.answers(to: [late], fromDialler: false)
            // Only for an unknown connection does an endpoint send a stateless reset.
            #expect(afterwards.count == 1 && afterwards[0] != connectionClose && afterwards[0].count < late.count)
        }
    }

    @Test func `who was told keeps silent, then forgets the connection (11)`() async throws {
        try await withConnection { closed in
            closed.accepted.close(code: 7, reason: "enough")
            #expect(await closed.dialled.closed() == .closed(code: 7, reason: "enough"))
            closed.tap.hold()
            // By then the packets that it had sent before the close have passed.
            _ = try await closed.tap.answers(to: [], fromDialler: true)
            let late = closed.ofServer
            let early = try await closed.tap.answers(to: [late, late, late, late], fromDialler: true)
            #expect(early.isEmpty)
            closed.clocks[1].shift(milliseconds: Self.within)
            let later = try await closed.tap.answers(to: [late], fromDialler: true)
            #expect(later.isEmpty)
            closed.clocks[1].shift(milliseconds: Self.beyond)
            _ = try await closed.tap.answers(to: [], fromDialler: true)
            let afterwards = try await closed.tap.answers(to: [late], fromDialler: true)
            #expect(afterwards.count == 1)
        }
    }

    /// A dialler that has completed the handshake, and whose server has not.
    private func withHalfHandshake(
        handshakeTimeout: Duration = .seconds(600),
        _ body: (_ server: QUICEndpoint, _ dialling: Task<any Connection, any Error>) async throws -> Void
    ) async throws {
        let server = try loopbackEndpoint()
        let (sentCount, completed) = (Locked(0), Promise<Void>())
        let dialler = try loopbackEndpoint {
            $0.timers.handshake = handshakeTimeout
            // Its second datagram is the first one after the server's flight.
            $0.seams.fault = { _, _, _ in
                let count = sentCount.withLock { count in
                    count += 1
                    return count
                }
                if count == 2 { completed.fulfil(()) }
                return count < 2 ? 0 : 1
            }
        }
        let place = try address(of: server)
        let dialling = Task { try await dialler.connect(to: place, expecting: server.localPeerId) }
        await completed.waitIgnoringCancellation()
        try await body(server, dialling)
        await server.close(code: 0)
        await dialler.close(code: 0)
    }

    @Test func `a server that stops in a handshake says so`() async throws {
        try await withHalfHandshake { server, dialling in
            await server.close(code: 7)
            let error = await #expect(throws: TransportError.self) { _ = try await dialling.value }
            #expect(error != .timedOut)
        }
    }

    // Takes half a second of real time, the timeout.
    @Test func `a handshake that the server does not confirm times out`() async throws {
        try await withHalfHandshake(handshakeTimeout: .milliseconds(500)) { _, dialling in
            let expected = TransportError.connectionFailed("the handshake was not completed in time")
            await #expect(throws: expected) { _ = try await dialling.value }
        }
    }
}
