internal import Identity
internal import Testing

@testable internal import QUIC

@Suite("Admission gate") struct AdmissionGateTests {
    private static let second: UInt64 = 1_000_000_000
    private let client = IPAddress.v4(0xC633_6401)

    private func gate(_ change: (inout QUICLimits) -> Void) -> AdmissionGate {
        var limits = QUICLimits()
        change(&limits)
        return AdmissionGate(limits: limits)
    }

    /// Begins a handshake that must be accepted without taking another one's place.
    private func begin(
        _ gate: inout AdmissionGate,
        from address: IPAddress? = nil,
        isValidated: Bool = true,
        at now: UInt64 = 0
    ) throws -> AdmissionGate.Handshake {
        let verdict = gate.evaluate(address ?? client, isValidated: isValidated, at: now)
        guard case .accept(let handshake, nil) = verdict else { throw Refused(verdict: verdict) }
        return handshake
    }

    private struct Refused: Error {
        let verdict: AdmissionGate.Verdict
    }

    @Test func `half-open connections are capped`() throws {
        var gate = gate { ($0.halfOpen, $0.retryThreshold, $0.handshakesPerSource) = (2, 2, 10) }
        let first = try begin(&gate)
        _ = try begin(&gate)
        #expect(gate.evaluate(client, isValidated: true, at: 0) == .drop)
        gate.ended(first, hasCompleted: true)
        _ = try begin(&gate)
    }

    @Test func `above the threshold an address must be proved`() throws {
        var gate = gate { ($0.halfOpen, $0.retryThreshold) = (10, 1) }
        _ = try begin(&gate, isValidated: false)
        #expect(gate.evaluate(client, isValidated: false, at: 0) == .demandRetry)
        _ = try begin(&gate)
    }

    @Test func `a forger cannot use up the bucket of the one it pretends to be`() throws {
        var gate = gate { $0.handshakesPerSource = 1 }
        _ = try begin(&gate, isValidated: false)
        #expect(gate.evaluate(client, isValidated: false, at: 0) == .demandRetry)
        _ = try begin(&gate)
    }

    @Test func `handshakes that complete cost their source nothing`() throws {
        // There are no admissions here.
        var gate = gate { ($0.handshakesPerSource, $0.handshakesPerSourcePerSecond) = (1, 1) }
        for _ in 0..<100 { gate.ended(try begin(&gate), hasCompleted: true) }
        gate.ended(try begin(&gate), hasCompleted: false)
        #expect(gate.evaluate(client, isValidated: true, at: 0) == .drop)
        _ = try begin(&gate, at: Self.second)
    }

    @Test func `a handshake costs its source a place until the peer is admitted`() throws {
        var gate = gate {
            ($0.handshakesPerSource, $0.handshakesPerSourcePerSecond) = (2, 1)
            $0.unadmitted = UnadmittedLimits()
        }
        for _ in 0..<100 {
            let handshake = try begin(&gate)
            gate.ended(handshake, hasCompleted: true)
            gate.admitted(handshake)
        }
        for _ in 0..<2 { gate.ended(try begin(&gate), hasCompleted: true) }
        #expect(gate.evaluate(client, isValidated: true, at: 0) == .drop)
        _ = try begin(&gate, at: Self.second)
    }

    @Test func `twenty devices behind one address join at once`() throws {
        var gate = gate { $0.unadmitted = UnadmittedLimits() }
        // Each dials twice, and none of them is admitted while its person reads the digits.
        for _ in 0..<40 { gate.ended(try begin(&gate, isValidated: false), hasCompleted: true) }
    }

    @Test func `a network elsewhere is one party, until a member was admitted from it`() throws {
        var gate = gate { ($0.handshakesPerSource, $0.handshakesPerSourcePerSecond) = (1, 1) }
        let addresses = try ["2001:db8::1", "2001:db8::2", "2001:db8::3"].map { try #require(IPAddress($0)) }
        _ = try begin(&gate, from: addresses[0])
        #expect(gate.evaluate(addresses[1], isValidated: true, at: 0) == .drop)
        gate.remember(addresses[2])
        _ = try begin(&gate, from: addresses[1])
        // Nor on the link on which the packet arrived.
        let (guest, own) = (try #require(IPAddress("2001:db8:1::1")), try #require(IPAddress("2001:db8:1::2")))
        for address in [guest, own] {
            guard case .accept = gate.evaluate(address, to: own, isValidated: true, at: 0) else {
                Issue.record("\(address) is not a party of its own")
                return
            }
        }
    }

    @Test func `the devices of a household have a bounded number of handshakes together`() throws {
        var gate = gate { ($0.handshakesPerBlock, $0.handshakesPerBlockPerSecond, $0.halfOpen) = (8, 4, 64) }
        for device in UInt64(1)...8 {
            _ = try begin(&gate, from: .v6(high: 0xFD00 << 48, low: device, scope: 0))
        }
        let next = IPAddress.v6(high: 0xFD00 << 48, low: 9, scope: 0)
        #expect(gate.evaluate(next, isValidated: true, at: 0) == .drop)
        _ = try begin(&gate, from: next, at: Self.second / 4)
        #expect(gate.evaluate(next, isValidated: true, at: Self.second / 4) == .drop)
    }

    @Test func `a quarter of a household's handshakes is for addresses that spent none lately`() throws {
        var gate = gate {
            ($0.handshakesPerBlock, $0.handshakesPerBlockPerSecond, $0.halfOpen) = (8, 1, 64)
            $0.unadmitted = UnadmittedLimits()
        }
        let (guest, device) = (IPAddress.v4(0x0A00_0001), IPAddress.v4(0x0A00_0002))
        for _ in 0..<6 { gate.ended(try begin(&gate, from: guest), hasCompleted: true) }
        #expect(gate.evaluate(guest, isValidated: true, at: 0) == .drop)
        let handshake = try begin(&gate, from: device)
        gate.ended(handshake, hasCompleted: true)
        #expect(gate.evaluate(device, isValidated: true, at: 0) == .drop)
        // An admission returns the token, and the device may connect again.
        gate.admitted(handshake)
        _ = try begin(&gate, from: device)
    }

    @Test func `the source with the most handshakes gives its oldest up for one with fewer`() throws {
        var gate = gate { ($0.halfOpen, $0.retryThreshold) = (4, 4) }
        let single = try begin(&gate, from: .v4(0x0808_0808))
        let oldest = try begin(&gate)
        _ = try begin(&gate)
        // A quarter of the places is for members.
        #expect(gate.evaluate(client, isValidated: true, at: 0) == .drop)
        guard case .accept(let newcomer, oldest) = gate.evaluate(.v4(0x0909_0909), isValidated: true, at: 0) else {
            Issue.record("not accepted in place of the oldest")
            return
        }
        #expect(gate.underWay.count == 3 && gate.underWay.contains(single) && gate.underWay.contains(newcomer))
        // The evicted handshake has ended.
        gate.ended(oldest, hasCompleted: false)
        #expect(gate.underWay.count == 3)
    }

    @Test func `places are reserved for addresses of members, of which a bounded number is remembered`() throws {
        var gate = gate { ($0.halfOpen, $0.retryThreshold) = (4, 4) }
        for address in UInt32(0)..<3 { _ = try begin(&gate, from: .v4(0x0800_0000 + address << 8)) }
        gate.remember(.v4(0x0707_0707))
        let handshake = try begin(&gate, from: .v4(0x0707_0707))
        #expect(gate.underWay.count == 4)
        gate.ended(handshake, hasCompleted: true)
        for address in 0..<UInt32(AdmissionGate.maximumMembers) { gate.remember(.v4(0x0600_0000 + address)) }
        var copy = gate
        guard case .accept(_, .some) = copy.evaluate(.v4(0x0707_0707), isValidated: true, at: 0) else {
            Issue.record("a member that was forgotten has a place of its own")
            return
        }
        _ = try begin(&gate, from: .v4(0x0600_0000))
    }

    @Test func `answers without state are limited, each kind apart from the others`() {
        var gate = gate { $0.retryThreshold = 0 }
        for reply in [AdmissionGate.Reply.statelessReset, .versionNegotiation, .retry] {
            #expect((0..<20_000).filter { _ in gate.mayReply(reply, at: 0) }.count == reply.perSecond)
        }
        #expect((0..<20_000).filter { _ in gate.mayCheckReset(at: 0) }.count == AdmissionGate.resetChecksPerSecond)
    }

    @Test func `junk of unknown connections leaves the Retry packets alone`() {
        var gate = gate { $0.retryThreshold = 0 }
        for _ in 0..<20_000 { _ = (gate.mayCheckReset(at: 0), gate.mayReply(.statelessReset, at: 0)) }
        for _ in 0..<20_000 { _ = gate.mayReply(.versionNegotiation, at: 0) }
        #expect(gate.evaluate(client, isValidated: false, at: 0) == .demandRetry)
    }
}

private final class Entry: TimerHeapElement {
    var timer = TimerEntry()
}

@Suite("Timer heap") struct TimerHeapTests {
    @Test func `deadlines come out in order whatever moved before`() {
        var heap = TimerHeap<Entry>()
        let entries = (0..<200).map { _ in Entry() }
        for (index, entry) in entries.enumerated() { heap.set(entry, deadline: UInt64(index * 7919 % 200)) }
        for (index, entry) in entries.enumerated() where index % 3 == 0 {
            heap.set(entry, deadline: UInt64(index * 104_729 % 500))
        }
        for (index, entry) in entries.enumerated() where index % 5 == 0 { heap.remove(entry) }
        var last: UInt64 = 0
        var count = 0
        while let first = heap.first {
            #expect(first.timer.deadline >= last)
            last = first.timer.deadline
            heap.remove(first)
            count += 1
        }
        #expect(count == 160)
    }
}
