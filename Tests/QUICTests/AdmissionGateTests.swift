internal import Testing

@testable internal import QUIC

@Suite("Admission gate") struct AdmissionGateTests {
    private let forged = AdmissionGate.Source(prefix: 1, isValidated: false)
    private let proved = AdmissionGate.Source(prefix: 1, isValidated: true)

    private func gate(_ change: (inout QUICLimits) -> Void) -> AdmissionGate {
        var limits = QUICLimits()
        change(&limits)
        return AdmissionGate(limits: limits)
    }

    @Test func `half-open connections are capped`() {
        var gate = gate { ($0.halfOpen, $0.retryThreshold, $0.handshakesPerSource) = (2, 2, 10) }
        #expect(gate.judge(proved, at: 0) == .accept)
        #expect(gate.judge(proved, at: 0) == .accept)
        #expect(gate.judge(proved, at: 0) == .drop)
        gate.ended(proved, hasCompleted: true)
        #expect(gate.judge(proved, at: 0) == .accept)
    }

    @Test func `above the threshold an address must be proved`() {
        var gate = gate { ($0.halfOpen, $0.retryThreshold) = (10, 1) }
        #expect(gate.judge(forged, at: 0) == .accept)
        #expect(gate.judge(forged, at: 0) == .demandRetry)
        #expect(gate.judge(proved, at: 0) == .accept)
    }

    @Test func `a forger cannot use up the bucket of the one it pretends to be`() {
        var gate = gate { $0.handshakesPerSource = 1 }
        #expect(gate.judge(forged, at: 0) == .accept)
        #expect(gate.judge(forged, at: 0) == .demandRetry)
        #expect(gate.judge(proved, at: 0) == .accept)
    }

    @Test func `handshakes that complete cost their source nothing`() {
        var gate = gate { ($0.handshakesPerSource, $0.handshakesPerSourcePerSecond) = (1, 1) }
        for _ in 0..<100 {
            #expect(gate.judge(proved, at: 0) == .accept)
            gate.ended(proved, hasCompleted: true)
        }
        #expect(gate.judge(proved, at: 0) == .accept)
        gate.ended(proved, hasCompleted: false)
        #expect(gate.judge(proved, at: 0) == .drop)
        #expect(gate.judge(proved, at: 1_000_000_000) == .accept)
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
        #expect(gate.judge(forged, at: 0) == .demandRetry)
    }
}

private final class Entry: TimerHeapElement {
    var deadline: UInt64 = .max
    var heapIndex = -1
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
            #expect(first.deadline >= last)
            last = first.deadline
            heap.remove(first)
            count += 1
        }
        #expect(count == 160)
    }
}
