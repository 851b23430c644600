internal import Identity
internal import Testing

@testable internal import Platform

@Suite("Own addresses") struct OwnAddressesTests {
    private static let loopback = NetworkInterface(
        name: "lo",
        index: 1,
        isLoopback: true,
        isMulticast: false,
        addresses: addresses("127.0.0.1", "::1")
    )
    private static let wired = NetworkInterface(
        name: "eth0",
        index: 2,
        addresses: addresses("fe80::2%2", "10.0.0.2", "2001:db8::2")
    )
    private static let wireless = NetworkInterface(
        name: "wlan0",
        index: 3,
        addresses: addresses("169.254.7.7", "fe80::2%3")
    )
    private static let everywhere = sockets("0.0.0.0:77", "[::]:78")

    private static func addresses(_ texts: String...) -> [IPAddress] { texts.compactMap(IPAddress.init) }
    private static func sockets(_ texts: String...) -> [SocketAddress] { texts.compactMap { SocketAddress($0) } }

    private func dialable(_ bound: [SocketAddress], _ interfaces: [NetworkInterface], limit: Int = 8) -> [String] {
        OwnAddresses.dialable(bound: bound, interfaces: interfaces, limit: limit).map(\.description)
    }

    @Test func `an unspecified address expands to those of all interfaces that are up`() {
        var down = Self.wireless
        down.isUp = false
        down.addresses = [.v4(0x0A00_0009)]
        let found = dialable(Self.everywhere, [down, Self.wired, Self.loopback])
        #expect(found == ["10.0.0.2:77", "[2001:db8::2]:78", "[fe80::2]:78"])
    }

    @Test func `link-local addresses come last, without scope and each once`() {
        let found = dialable(Self.everywhere, [Self.wireless, Self.wired])
        #expect(found == ["10.0.0.2:77", "[2001:db8::2]:78", "169.254.7.7:77", "[fe80::2]:78"])
    }

    @Test func `a family that is not bound is left out`() {
        #expect(dialable(Self.sockets("0.0.0.0:77"), [Self.wired]) == ["10.0.0.2:77"])
    }

    @Test func `loopback counts only where there is nothing else`() {
        #expect(dialable(Self.everywhere, [Self.loopback]) == ["127.0.0.1:77", "[::1]:78"])
        #expect(dialable(Self.sockets("127.0.0.1:5", "[2001:db8::2]:6"), []) == ["[2001:db8::2]:6"])
        #expect(dialable(Self.sockets("127.0.0.1:5"), [Self.loopback, Self.wired]) == ["127.0.0.1:5"])
    }

    @Test func `a bound address is dialable, and port 0 and groups are not`() {
        #expect(dialable(Self.sockets("10.0.0.2:5"), [Self.loopback, Self.wired]) == ["10.0.0.2:5"])
        #expect(dialable(Self.sockets("10.0.0.2:0", "224.0.0.1:5", "255.255.255.255:5"), []).isEmpty)
        #expect(dialable([], [Self.wired]).isEmpty)
    }

    @Test func `a machine with many addresses announces the best few`() {
        let crowd = (2..<500).map {
            NetworkInterface(name: "br\($0)", index: $0, addresses: [.v4(0x0A00_0000 | $0), .v4(0xA9FE_0000 | $0)])
        }
        let found = dialable(Self.everywhere, crowd.reversed())
        #expect(found == (2..<10).map { "10.0.0.\($0):77" })
        #expect(dialable(Self.everywhere, crowd, limit: 0).isEmpty)
    }

    @Test func `only interfaces with a dialable address are used for announcements`() {
        var tunnel = Self.wireless
        tunnel.isPointToPoint = true
        func names(_ bound: [SocketAddress], _ interfaces: [NetworkInterface], limit: Int = 8) -> [String] {
            OwnAddresses.announcing(bound: bound, interfaces: interfaces, limit: limit, ranks: { _ in [:] }).used.map(
                \.name
            )
        }
        let all = [Self.wireless, Self.wired, Self.loopback]
        #expect(names(Self.everywhere, all) == ["lo", "eth0", "wlan0"])
        #expect(names(Self.everywhere, all, limit: 2) == ["lo", "eth0"])
        #expect(names(Self.everywhere, [tunnel]).isEmpty)
        #expect(names(Self.sockets("127.0.0.1:1"), all) == ["lo"])
        #expect(names(Self.sockets("10.0.0.2:1"), all) == ["eth0"])
        #expect(names(Self.sockets("192.0.2.9:1"), all).isEmpty)
    }
}
