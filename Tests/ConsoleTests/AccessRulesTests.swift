internal import Console
internal import Testing

@Suite("Access to the console") struct AccessRulesTests {
    let rules = AccessRules(port: 9464, token: "abc", paths: ["/metrics"])

    private func verdict(
        _ method: String = "GET",
        _ path: String = "/metrics",
        host: String? = "localhost:9464",
        origin: String? = nil,
        token: String? = "Bearer abc"
    ) -> AccessRules.Verdict {
        rules.judge(
            AccessRules.Request(method: method, path: path, host: host, origin: origin, authorization: token)
        )
    }

    @Test(arguments: ["localhost:9464", "LOCALHOST:9464", "127.0.0.1:9464", "[::1]:9464"])
    func `a program of this machine that has the token gets its page`(host: String) {
        #expect(verdict(host: host) == .allowed)
        #expect(verdict(host: host, origin: "http://\(host)", token: "bearer abc") == .allowed)
    }

    @Test(arguments: [
        "evil.example", "evil.example:9464", "localhost", "localhost:80", "localhost.:9464", "127.0.0.2:9464",
        "localhost:9464.evil.example", "0.0.0.0:9464", "::1:9464", "", nil,
    ])
    func `a name that an attacker points at this machine gets nothing`(host: String?) {
        #expect(verdict(host: host) == .foreignHost)
    }

    @Test(arguments: [
        "http://localhost", "http://localhost:3000", "https://localhost:9464", "null", "http://evil.example",
    ])
    func `a page of another origin gets nothing, even with the token`(origin: String) {
        #expect(verdict(origin: origin) == .foreignOrigin)
    }

    @Test(arguments: [nil, "", "abc", "Bearer", "Bearer ", "Bearer ab", "Bearer abcd", "Basic abc", "Bearer  abc"])
    func `without the token nothing is told, not even which pages there are`(token: String?) {
        #expect(verdict(token: token) == .unauthorized)
        #expect(verdict("GET", "/nothing", token: token) == .unauthorized)
    }

    @Test(arguments: ["POST", "PUT", "DELETE", "PATCH", "OPTIONS", "HEAD", "TRACE", "get"])
    func `nothing can be changed`(method: String) {
        #expect(verdict(method) == .methodNotAllowed)
    }

    @Test(arguments: ["/", "/metrics/", "/Metrics", "//metrics", "/metrics/../secrets", ""])
    func `there is one page`(path: String) {
        #expect(verdict("GET", path) == .notFound)
    }

    @Test func `an empty token opens nothing`() {
        let rules = AccessRules(port: 1, token: "", paths: ["/metrics"])
        let request = AccessRules.Request(path: "/metrics", host: "localhost:1", authorization: "Bearer ")
        #expect(rules.judge(request) == .unauthorized)
    }
}
