internal import Console
internal import Identity
internal import TestSupport
internal import Testing

@Suite("Access to the console") struct AccessRulesTests {
    let rules = AccessRules.loopback(port: 9464)

    private func verdict(
        host: String? = "localhost:9464",
        origin: String? = nil,
        site: String? = nil,
        forPage: Bool = false
    ) -> AccessRules.Verdict {
        rules.evaluate(AccessRules.Request(host: host, origin: origin, fetchSite: site), forPage: forPage)
    }

    @Test(arguments: ["localhost:9464", "LOCALHOST:9464", "127.0.0.1:9464", "[::1]:9464"])
    func `a program of this machine and a page of the console may ask`(host: String) {
        #expect(verdict(host: host) == .allowed)
        #expect(verdict(host: host, origin: "http://\(host)", site: "same-origin") == .allowed)
        #expect(verdict(host: host, site: "none") == .allowed)
    }

    @Test(arguments: [
        "evil.example", "evil.example:9464", "localhost", "localhost:80", "localhost.:9464", "127.0.0.2:9464",
        "localhost:9464.evil.example", "0.0.0.0:9464", "::1:9464", "", nil,
    ])
    func `a name that an attacker points at this machine gets nothing, not even a page`(host: String?) {
        #expect(verdict(host: host) == .foreignHost)
        #expect(verdict(host: host, forPage: true) == .foreignHost)
    }

    @Test(arguments: [
        "http://localhost", "http://localhost:3000", "https://localhost:9464", "null", "http://evil.example", "",
    ])
    func `a page of another origin gets nothing, another port of this machine included`(origin: String) {
        #expect(verdict(origin: origin) == .foreignOrigin)
        #expect(verdict(origin: origin, forPage: true) == .foreignOrigin)
    }

    @Test(arguments: ["cross-site", "same-site", "Cross-Site", "", "anything"])
    func `what a browser sends for another site gets no more than a page`(site: String) {
        #expect(verdict(site: site) == .foreignOrigin)
        #expect(verdict(site: site, forPage: true) == .allowed)
    }
}

@Suite("Access to the console over the network") struct NetworkRulesTests {
    private func verdict(
        _ host: String?,
        at local: String,
        origin: String? = nil,
        forPage: Bool = false
    ) -> AccessRules.Verdict {
        let request = AccessRules.Request(host: host, origin: origin, localAddress: SocketAddress(local))
        return AccessRules.network.evaluate(request, forPage: forPage)
    }

    @Test(arguments: [
        ("192.168.7.5:4281", "192.168.7.5:4281"), ("192.168.7.5:4281", "[::ffff:192.168.7.5]:4281"),
        ("[fd00::5]:4281", "[fd00::5]:4281"), ("[FD00:0:0:0:0:0:0:5]:4281", "[fd00::5]:4281"),
        ("[fe80::5]:4281", "[fe80::5%3]:4281"), ("192.168.7.5", "192.168.7.5:443"),
        ("192.168.7.5:443", "192.168.7.5:443"),
    ])
    func `the address of the connection is taken, however it is written`(host: String, local: String) {
        #expect(verdict(host, at: local) == .allowed)
        #expect(verdict(host, at: local, origin: "https://\(host)") == .allowed)
        #expect(verdict(host, at: local, origin: "http://\(host)") == .foreignOrigin)
        #expect(verdict(host, at: local, origin: "https://evil.example") == .foreignOrigin)
    }

    @Test(arguments: [
        ("192.168.7.6:4281", "192.168.7.5:4281"), ("192.168.7.5:4280", "192.168.7.5:4281"),
        ("192.168.7.5", "192.168.7.5:4281"), ("[::ffff:192.168.7.5]:4281", "[::ffff:192.168.7.5]:4281"),
        ("localhost:4281", "127.0.0.1:4281"), ("a-device.local:4281", "192.168.7.5:4281"),
        ("[fe80::5%3]:4281", "[fe80::5%3]:4281"), ("fd00::5:4281", "[fd00::5]:4281"), ("", "192.168.7.5:4281"),
    ])
    func `any other name is refused, for pages too`(host: String, local: String) {
        #expect(verdict(host, at: local) == .foreignHost)
        #expect(verdict(host, at: local, forPage: true) == .foreignHost)
        #expect(verdict(nil, at: local) == .foreignHost)
    }

    @Test func `without an end of ours nothing is allowed`() {
        #expect(AccessRules.network.evaluate(.init(host: "192.168.7.5:4281"), forPage: true) == .foreignHost)
    }

    @Test func `no name of a host crashes the rules`() {
        var random = SplitMix64(seed: 3)
        let letters = Array("0123456789abcdef.:[]%-/@x\u{0}".utf8)
        for _ in 0..<2000 {
            let bytes = (0..<Int(random.next() % 60)).map { _ in letters[Int(random.next() % UInt64(letters.count))] }
            let host = String(decoding: bytes, as: UTF8.self)
            #expect(verdict(host, at: "192.168.7.5:4281", origin: host) != .allowed)
        }
    }

    @Test(arguments: [
        "127.0.0.1", "127.9.9.9", "::1", "10.1.2.3", "172.16.0.1", "172.31.255.255", "192.168.0.1", "169.254.3.4",
        "::ffff:192.168.0.1", "fe80::1", "fe80::1%2", "fd12:3456::1", "fc00::1", "2001:db8:1:2::99", "203.0.113.7",
    ])
    func `this machine and its local network are near`(peer: String) throws {
        let own = ["203.0.113.7", "2001:db8:1:2:3:4:5:6", "::1"].compactMap { IPAddress($0) }
        #expect(Neighbourhood.includes(try #require(IPAddress(peer))) { own })
    }

    @Test(arguments: [
        "203.0.113.8", "8.8.8.8", "172.32.0.1", "172.15.255.255", "192.169.0.1", "11.0.0.1", "100.64.0.1", "0.0.0.0",
        "::ffff:8.8.8.8", "2001:db8:1:3::99", "2001:db8:2:2::99", "::", "::2", "fec0::1", "ff02::1", "64:ff9b::a00:1",
    ])
    func `everybody else is not`(peer: String) throws {
        let own = ["203.0.113.7", "2001:db8:1:2:3:4:5:6", "::1", "::"].compactMap { IPAddress($0) }
        #expect(!Neighbourhood.includes(try #require(IPAddress(peer))) { own })
    }
}
