internal import ExitModel
internal import Identity
internal import Testing

@Suite("Values of the exit") struct ValueTests {
    @Test(arguments: ["exit.example.org", "a", "exit-1.example.org", String(repeating: "a", count: 63)])
    func `a name of host characters is an exit's`(_ text: String) throws {
        #expect(try ExitName(text).text == text)
    }

    @Test(arguments: [
        "", "Exit.example.org", "exit.example.org,other", "exit..org", ".exit", "exit.", "-exit", "exit-", "exit org",
        String(repeating: "a", count: 64), String(repeating: "a.", count: 127) + "a", "éxit",
    ])
    func `another name of an exit is refused`(_ text: String) {
        #expect(throws: ExitModelError.self) { try ExitName(text) }
    }

    @Test(arguments: ["https://issuer.example.org", "https://gw.example.org:8443/a?b=c", "http://127.0.0.1:8080"])
    func `an address of the web is a URL`(_ text: String) throws {
        #expect(try ExitURL(text).text == text)
    }

    @Test(arguments: [
        "", "https://", "https:///a", "ftp://a", "https://user@host", "https://a b", "https://a#b", "https://a\"",
        "https://" + String(repeating: "a", count: 505),
    ])
    func `another address is refused`(_ text: String) {
        #expect(throws: ExitModelError.self) { try ExitURL(text) }
    }

    private static func location(
        id: String = "us-east-1",
        name: String = "New York",
        country: String = "US",
        load: Int = 0
    ) throws -> ServerLocation {
        try ServerLocation(id: id, name: name, countryCode: country, load: load, premium: false)
    }

    @Test(arguments: [0, 100]) func `a load is a number from 0 to 100`(_ load: Int) throws {
        #expect(try Self.location(load: load).load == load)
        let outside = load == 0 ? -1 : 101
        #expect(throws: ExitModelError.self) { try Self.location(load: outside) }
    }

    @Test(arguments: ["", "US-east", "us_east", "us east", String(repeating: "a", count: 65)])
    func `a wrong id of a location is refused`(_ id: String) {
        #expect(throws: ExitModelError.self) { try Self.location(id: id) }
    }

    @Test(arguments: ["", "U", "us", "USA", "ÄÖ", "1A"]) func `a wrong country is refused`(_ country: String) {
        #expect(throws: ExitModelError.self) { try Self.location(country: country) }
    }

    @Test(arguments: ["", "a\u{202E}b", "a\nb", String(repeating: "a", count: 65)])
    func `a name that does not show is refused`(_ name: String) {
        #expect(throws: ExitModelError.self) { try Self.location(name: name) }
        #expect(throws: ExitModelError.self) { try GatewayPlace(city: name, latitude: 0, longitude: 0) }
    }

    @Test(arguments: [(90.1, 0), (-90.1, 0), (0, 180.1), (0, -180.1), (.nan, 0), (0, .infinity)] as [(Double, Double)])
    func `coordinates outside the globe are refused`(_ latitude: Double, _ longitude: Double) {
        #expect(throws: ExitModelError.self) { try GatewayPlace(city: "A", latitude: latitude, longitude: longitude) }
    }

    private static func roster(
        gateways: [Ed25519PublicKey],
        issuer: String = "issuer.example.org",
        issued: UInt64 = 1,
        expires: UInt64 = 2
    ) throws -> ExitRoster {
        try ExitRoster(
            exit: ExitName("exit.example.org"),
            issuerName: issuer,
            issuerURL: ExitURL("https://issuer.example.org"),
            gateways: gateways,
            issued: issued,
            expires: expires
        )
    }

    @Test func `a roster lists one gateway or more, each once`() throws {
        let key = Ed25519PrivateKey().publicKey
        #expect(try Self.roster(gateways: [key]).gateways == [key])
        #expect(throws: ExitModelError.self) { try Self.roster(gateways: []) }
        #expect(throws: ExitModelError.self) { try Self.roster(gateways: [key, key]) }
        let many = (0...ExitRoster.gatewayLimit).map { _ in Ed25519PrivateKey().publicKey }
        #expect(throws: ExitModelError.self) { try Self.roster(gateways: many) }
    }

    @Test func `a roster expires after it is issued`() {
        let key = Ed25519PrivateKey().publicKey
        #expect(throws: ExitModelError.self) { try Self.roster(gateways: [key], issued: 2, expires: 2) }
        #expect(throws: ExitModelError.self) { try Self.roster(gateways: [key], expires: .max) }
        #expect(throws: ExitModelError.self) { try Self.roster(gateways: [key], issuer: "a,b") }
    }
}
