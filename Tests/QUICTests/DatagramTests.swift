internal import CQUICShim
internal import Concurrency
internal import Identity
internal import Testing
internal import Transport
internal import TransportConformance

@testable internal import QUIC

/// The contents of single datagrams, sent and received: whole packets, with their ECN marks (4, 12).
@Suite("Datagrams", .timeLimit(.minutes(15))) struct DatagramTests {
    /// Sends `byteCount` bytes to a server behind a tap and back, and returns the packets that passed.
    private func transfer(
        _ byteCount: Int,
        on host: String = "127.0.0.1",
        _ impairment: Tap.Impairment = .none
    ) async throws -> [Tap.Passed] {
        let server = try loopbackEndpoint(on: host)
        let dialler = try loopbackEndpoint(on: host)
        let tap = try Tap(to: try address(of: server), on: host, impairment)
        async let accepting = server.accept()
        let dialled = try await dialler.connect(to: tap.address, expecting: server.localPeerId)
        let accepted = try #require(try await accepting)
        async let echoes: Void = serveEchoes(on: accepted)
        try await checkEcho(of: pattern(byteCount, seed: 3), on: dialled)
        let passed = tap.passed
        await dialler.close(code: 0)
        await server.close(code: 0)
        try await echoes
        return passed
    }

    @Test func `a GSO batch is cut into whole packets, with probes of the path among them (4)`() async throws {
        // Lost probes are sent again next to the data, which is shorter.
        let passed = try await transfer(4 << 20, .narrow)
        for isFromDialler in [true, false] {
            let packets = passed.filter { $0.isFromDialler == isFromDialler && $0.isShort }
            #expect(packets.count > 1000)
            // Each begins with the one connection id of its receiver.
            #expect(Set(packets.map { $0.bytes[1...8] }).count == 1)
        }
        #expect(passed.count { !$0.isForwarded } > 2, "no probe was tried again")
    }

    @Test func `packets travel together that go the same way, of one length but for the last (4)`() throws {
        let place = ru_addr(try SocketAddress(parsing: "192.0.2.1:1"))
        let other = ru_addr(try SocketAddress(parsing: "192.0.2.1:2"))
        func outgoing(_ length: Int, segment: Int? = nil, _ change: (inout ru_outgoing) -> Void = { _ in })
            -> ru_outgoing
        {
            var out = unsafe ru_outgoing()
            unsafe (out.local, out.remote, out.ecn) = (place, place, 2)
            unsafe (out.length, out.segment) = (length, segment ?? length)
            unsafe change(&out)
            return unsafe out
        }
        func takes(_ batch: ru_outgoing, _ packet: ru_outgoing) -> Bool {
            var (batch, packet) = unsafe (batch, packet)
            return unsafe ru_outgoing_takes(&batch, &packet)
        }
        let batch = unsafe outgoing(4800, segment: 1200)
        #expect(unsafe takes(batch, outgoing(1200)))
        #expect(unsafe takes(batch, outgoing(1)))
        #expect(unsafe !takes(batch, outgoing(1201)), "longer than the first")
        #expect(unsafe !takes(outgoing(4700, segment: 1200), outgoing(1200)), "behind a shorter one")
        #expect(unsafe !takes(batch, outgoing(1200) { unsafe $0.remote = other }), "to another address")
        #expect(unsafe !takes(batch, outgoing(1200) { unsafe $0.local = other }), "from another address")
        #expect(unsafe !takes(batch, outgoing(1200) { unsafe $0.ecn = 0 }), "with another mark")
        #expect(unsafe takes(outgoing(6300, segment: 100), outgoing(100)))
        #expect(unsafe !takes(outgoing(6400, segment: 100), outgoing(100)), "the 65th")
        #expect(unsafe !takes(outgoing(64_800, segment: 1200), outgoing(1200)), "more than the system takes")
        #expect(unsafe !takes(outgoing(0, segment: 0), outgoing(1200)), "a train must begin somewhere")
    }

    @Test func `no GSO batch is longer than the system takes (4)`() async throws {
        let batches = Locked<[(byteCount: Int, segmentCount: Int)]>([])
        let kit = TransportKit.quic {
            $0.seams.fault = { _, byteCount, segmentCount in
                batches.withLock { $0.append((byteCount, segmentCount)) }
                return 0
            }
        }
        try await kit.withConnection { dialled, accepted in
            async let echoes: Void = serveEchoes(on: accepted)
            try await checkEcho(of: pattern(4 << 20, seed: 3), on: dialled)
            dialled.close(code: 0, reason: "")
            try await echoes
        }
        let seen = batches.withLock { $0 }
        #expect(seen.allSatisfy { $0.segmentCount <= 64 && $0.byteCount <= 65_000 })
        // Many, or single ones where the system has no GSO.
        let longest = seen.map(\.segmentCount).max() ?? 0
        #expect(longest == 1 || longest >= 10, "trains of at most \(longest) datagrams")
    }

    @Test(arguments: ["127.0.0.1", "::1"])
    func `all datagrams of a GSO batch carry its mark (12)`(host: String) async throws {
        let sender = try RawSocket(on: host)
        let receiver = try RawSocket(on: host)
        for mark in [0, 1, 2, 3] as [UInt8] {
            sender.send([UInt8](repeating: 4, count: 2500), to: receiver.address, mark: mark, segment: 1000)
            let arrived = try await receiver.next(3)
            #expect(arrived.map(\.bytes.count) == [1000, 1000, 500])
            #expect(arrived.allSatisfy { $0.mark == mark })
        }
    }

    @Test(arguments: ["127.0.0.1", "::1"])
    func `packets are marked as long as the peer counts the marks (12)`(host: String) async throws {
        let marked = try await transfer(1 << 20, on: host)
        let bleached = try await transfer(1 << 20, on: host, .bleached)
        for isFromDialler in [true, false] {
            // The first ten are marked to test the path; the last are only if the peer reported those marks.
            #expect(ends(of: marked, isFromDialler) == [2, 2])
            #expect(ends(of: bleached, isFromDialler) == [2, 0])
            #expect(bleached.filter { $0.isFromDialler == isFromDialler && $0.mark == 2 }.count <= 10)
        }
    }

    /// The marks of the first packet of a side, and of the last fifty that carried much.
    private func ends(of passed: [Tap.Passed], _ isFromDialler: Bool) -> [UInt8] {
        let packets = passed.filter { $0.isFromDialler == isFromDialler }
        let last = Set(packets.filter { $0.bytes.count > 1000 }.suffix(50).map(\.mark))
        return packets.prefix(1).map(\.mark) + last.sorted()
    }

    @Test func `an address that is gone does not cost the segmentation (2)`() async throws {
        // How many batches left, and how many refusals follow once the first one is about to leave.
        let state = Locked((batches: 0, refusals: 20))
        let kit = TransportKit.quic {
            $0.seams.fault = { _, _, segmentCount in
                state.withLock { state in
                    if segmentCount > 1 { state.batches += 1 }
                    guard state.batches > 0, state.refusals > 0 else { return 0 }
                    state.refusals -= 1
                    // The system returns it for missing offload, too.
                    return 22
                }
            }
        }
        try await kit.withConnection { dialled, accepted in
            async let echoes: Void = serveEchoes(on: accepted)
            try await checkEcho(of: pattern(4 << 20, seed: 3), on: dialled)
            dialled.close(code: 0, reason: "")
            try await echoes
        }
        let (batches, refusals) = state.withLock { $0 }
        // Where the system has GSO, batches continue.
        #expect(batches == 0 || (refusals == 0 && batches > 10), "\(batches) trains, \(refusals) refusals")
    }
}
