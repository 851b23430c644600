internal import Testing

@testable internal import Tunnel

@Suite("Device features") struct NegotiationTests {
    /// The offloads that a kernel with the given ones accepts, as `TUNSETOFFLOAD` does.
    private func negotiated(_ kernel: OffloadSet, wanted: OffloadSet = .all) -> OffloadSet {
        OffloadSet.negotiate(wanted) { kernel.isSuperset(of: $0) }
    }

    @Test func `each offload is missing separately`() {
        #expect(negotiated(.all) == .all)
        #expect(negotiated([.checksum, .tcp4, .tcp6]) == [.checksum, .tcp4, .tcp6])
        #expect(negotiated([.checksum, .tcp4, .udp]) == [.checksum, .tcp4, .udp])
        #expect(negotiated([.checksum, .tcp6]) == [.checksum, .tcp6])
        #expect(negotiated([.checksum]) == [.checksum])
        #expect(negotiated([.tcp4]) == [])
        #expect(negotiated(.all, wanted: [.checksum, .tcp6]) == [.checksum, .tcp6])
        #expect(negotiated(.all, wanted: []) == [])
    }

    @Test func `a kernel without virtual headers or queues gets a simpler device`() {
        let attempts = DeviceFeatures().attempts.map { [$0.hasVirtualHeader, $0.hasQueues] }
        #expect(attempts == [[true, true], [true, false], [false, true], [false, false]])
        #expect(DeviceFeatures().attempts.filter { !$0.hasVirtualHeader }.allSatisfy { $0.offloads.isEmpty })
        let plain = DeviceFeatures(hasVirtualHeader: false, hasQueues: false, offloads: [])
        #expect(plain.attempts == [plain])
    }
}
