internal import CQUICShim
internal import Concurrency
internal import Testing
internal import Transport
internal import TransportConformance

@testable internal import QUIC

/// Handshakes without time, and clocks that jump (1, 3).
@Suite("Clocks", .timeLimit(.minutes(15))) struct ClockTests {
    @Test func `a handshake waits for no clock (1)`() async throws {
        // Both clocks are stopped, so that every postponed action is postponed indefinitely.
        let clock = TestClock()
        clock.stop()
        let server = try loopbackEndpoint { $0.seams.now = { clock.now } }
        let dialler = try loopbackEndpoint { $0.seams.now = { clock.now } }
        for _ in 0..<10 {
            let (dialled, accepted) = try await connect(dialler, to: server)
            #expect(dialled.remotePeerId == server.localPeerId && accepted.remotePeerId == dialler.localPeerId)
        }
        clock.goOn()
        await dialler.close(code: 0)
        await server.close(code: 0)
    }

    @Test func `time goes on from where it was when the clock jumps back (3)`() {
        let reading = Locked<UInt64>(100)
        var clock = SteadyClock(reading: { reading.withLock { $0 } })
        #expect(clock.advance() == 100)
        reading.withLock { $0 = 130 }
        #expect(clock.advance() == 130)
        reading.withLock { $0 = 10 }
        #expect(clock.advance() == 130)
        reading.withLock { $0 = 15 }
        #expect(clock.advance() == 135)
        reading.withLock { $0 = 1015 }
        #expect(clock.advance() == 1135)
    }

    @Test func `clocks that jump back and forth stop no transfer (3)`() async throws {
        let clocks = [TestClock(), TestClock()]
        let server = try loopbackEndpoint { $0.seams.now = { clocks[0].now } }
        let dialler = try loopbackEndpoint { $0.seams.now = { clocks[1].now } }
        let (dialled, accepted) = try await connect(dialler, to: server)
        async let echoes: Void = serveEchoes(on: accepted)
        let hour: Int64 = 3_600_000
        for (round, jump) in [-1, 1, -hour, 10_000, -10_000, -24 * hour, 5_000, 15_000, -5_000].enumerated() {
            for clock in clocks {
                clock.shift(milliseconds: jump)
                try await checkEcho(of: pattern(1 << 20, seed: UInt64(round)), on: dialled)
            }
        }
        dialled.close(code: 0, reason: "")
        await dialler.close(code: 0)
        await server.close(code: 0)
        try await echoes
    }

    @Test func `a clock that leaps over the idle timeout ends the connection, not the endpoint (3)`() async throws {
        let clock = TestClock()
        let server = try loopbackEndpoint { $0.seams.now = { clock.now } }
        let dialler = try loopbackEndpoint()
        let tap = try Tap(to: try address(of: server))
        async let accepting = server.accept()
        let lost = try await dialler.connect(to: tap.address, expecting: server.localPeerId)
        let accepted = try #require(try await accepting)
        // Any packet after the sleep would show that the peer is still connected.
        tap.hold()
        _ = try await tap.answers(to: [], fromDialler: false)
        // Asleep for hours, as far as the endpoint can see.
        clock.shift(milliseconds: 7_200_000)
        server.networkChanged()
        #expect(await accepted.closed() == .timedOut)
        withExtendedLifetime(lost) {}
        clock.shift(milliseconds: -3_600_000)
        let (dialled, again) = try await connect(dialler, to: server)
        async let echoes: Void = serveEchoes(on: again)
        try await checkEcho(of: pattern(100_000, seed: 1), on: dialled)
        dialled.close(code: 0, reason: "")
        await dialler.close(code: 0)
        await server.close(code: 0)
        try await echoes
    }

    @Test func `the engine never sees time go backwards (3)`() throws {
        // ngtcp2 0.12 would take it without a word; 1.x would end the process.
        let endpoint = try loopbackEndpoint()
        defer { endpoint.loop.submissions.post(.shutDown(code: 0)) }
        let late: UInt64 = 1_000_000_000_000
        let socket = try RawSocket()
        var local = ru_addr(socket.address)
        var remote = ru_addr(try RawSocket().address)
        var hooks = EngineHooks.make()
        unsafe hooks.cid_added = { _, _ in }
        var options = endpoint.loop.engine.options
        unsafe withUnsafePointer(to: &hooks) { hooks in
            let tls = unsafe endpoint.loop.engine.tls.raw
            guard let raw = unsafe rq_conn_dial(tls, &options, hooks, nil, &local, &remote, late) else {
                Issue.record("no connection")
                return
            }
            #expect(unsafe rq_conn_send(raw, socket.raw, nil, late / 2) == RQ_OK)
            #expect(unsafe rq_conn_expiry(raw) > late)
            #expect(unsafe rq_conn_expire(raw, late / 4) == RQ_OK)
            #expect(unsafe rq_conn_send(raw, socket.raw, nil, 0) == RQ_OK)
            #expect(unsafe rq_conn_expiry(raw) > late)
            unsafe rq_conn_free(raw)
        }
    }
}
