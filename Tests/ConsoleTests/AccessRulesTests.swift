internal import Console
internal import Testing

@Suite("Access to the console") struct AccessRulesTests {
    let rules = AccessRules(port: 9464)

    private func verdict(
        host: String? = "localhost:9464",
        origin: String? = nil,
        site: String? = nil,
        forPage: Bool = false
    ) -> AccessRules.Verdict {
        rules.judge(AccessRules.Request(host: host, origin: origin, fetchSite: site), forPage: forPage)
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
