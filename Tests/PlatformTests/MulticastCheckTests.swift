internal import Identity
internal import Testing

@testable internal import Platform

@Suite("Checking multicast") struct MulticastCheckTests {
    @Test func `an interface that is not there is refused, and useless ones are not asked`() throws {
        let gone = NetworkInterface(name: "gone0", index: 999_999, addresses: [.v4(0xC000_02C7)])
        #expect(MulticastCheck.run(on: [gone]).map(\.outcome) == [.refused])
        var useless = gone
        useless.isUp = false
        let loopback = NetworkInterface(name: "lo", index: 1, isLoopback: true, addresses: [.v4(0x7F00_0001)])
        #expect(MulticastCheck.run(on: [useless, loopback]).isEmpty)
    }
}
