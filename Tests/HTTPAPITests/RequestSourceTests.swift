internal import Identity
internal import Testing

@testable internal import HTTPAPI

@Suite("Sources of requests") struct RequestSourceTests {
    private static let proxy = IPAddress.v4(0x0A00_0001)

    private func request(from address: IPAddress?, forwarded: [String] = []) throws -> RouteRequest {
        var request = RouteRequest()
        request.remoteAddress = address.map { SocketAddress($0, port: 1) }
        for value in forwarded { try request.fields.append("X-Forwarded-For", value) }
        return request
    }

    private func source(of address: IPAddress?, forwarded: String...) throws -> IPAddress? {
        try request(from: address, forwarded: forwarded).source(behind: [Self.proxy])
    }

    // MARK: Proxies

    @Test func `the source of a direct request is the other end of the connection`() throws {
        #expect(try source(of: .v4(7)) == .v4(7))
        #expect(try source(of: .v6(high: 0, low: 0xFFFF_0000_0007, scope: 0)) == .v4(7))
        #expect(try source(of: nil) == nil)
    }

    @Test func `the field of another peer than a proxy is ignored`() throws {
        #expect(try source(of: .v4(7), forwarded: "192.0.2.1") == .v4(7))
        #expect(try source(of: nil, forwarded: "192.0.2.1") == nil)
    }

    @Test func `the source of a forwarded request is the last entry of the proxy's last field`() throws {
        let client = IPAddress.v4(0xC000_0201)
        #expect(try source(of: Self.proxy, forwarded: "192.0.2.1") == client)
        #expect(try source(of: Self.proxy, forwarded: "198.51.100.9, 192.0.2.1") == client)
        #expect(try source(of: Self.proxy, forwarded: "198.51.100.9", "203.0.113.4,  ::ffff:192.0.2.1") == client)
        #expect(try source(of: .v6(high: 0, low: 0xFFFF_0A00_0001, scope: 0), forwarded: "192.0.2.1") == client)
        #expect(try source(of: Self.proxy, forwarded: "192.0.2.1:5555") == client)
        #expect(try source(of: Self.proxy, forwarded: "[::ffff:192.0.2.1]:44") == client)
    }

    @Test(arguments: ["unknown", "192.0.2.1:port", "192.0.2.1, _hidden"])
    func `an entry that is no address leaves the proxy as the source`(_ entry: String) throws {
        #expect(try source(of: Self.proxy, forwarded: entry) == Self.proxy)
    }

    @Test func `a proxy that names no client is the source`() throws {
        #expect(try source(of: Self.proxy) == Self.proxy)
    }

    // MARK: Measurements

    private struct NoToken: Error {}

    private func missingToken() throws(NoToken) -> String { throw NoToken() }

    @Test func `without a metrics token, measurements are for direct requests of this machine`() throws {
        func isAdmitted(_ address: IPAddress?, _ forwarded: String...) throws -> Bool {
            try request(from: address, forwarded: forwarded).mayReadMetrics(of: nil, given: missingToken())
        }
        #expect(try isAdmitted(.v4(0x7F00_0001)) && isAdmitted(.v6(high: 0, low: 1, scope: 0)))
        #expect(try !isAdmitted(.v4(7)) && !isAdmitted(nil))
        #expect(try !isAdmitted(.v4(0x7F00_0001), "127.0.0.1"))
    }

    @Test func `with a metrics token, measurements are for requests with an equal one`() throws {
        let own = try request(from: .v4(0x7F00_0001))
        #expect(own.mayReadMetrics(of: "0123456789abcdef", given: "0123456789abcdef"))
        for other in ["", "0123456789abcdeg", "0123456789abcde", "0123456789abcdef0"] {
            #expect(!own.mayReadMetrics(of: "0123456789abcdef", given: other))
        }
        #expect(throws: NoToken.self) { try own.mayReadMetrics(of: "0123456789abcdef", given: missingToken()) }
    }

    @Test func `a failure makes the health report an answer with status 503`() {
        #expect(HealthReport(failure: nil).answer.status == 200)
        let failing = HealthReport(failure: "the disk is full").answer
        #expect(failing.status == 503)
        guard case .json(let bytes) = failing.content else {
            Issue.record("the answer has other content")
            return
        }
        #expect(String(decoding: bytes, as: UTF8.self) == #"{"message":"the disk is full","status":"failing"}"#)
    }
}
