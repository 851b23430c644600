internal import Identity
internal import Testing

@testable internal import CommandModel
@testable internal import TokenIssuer

@Suite("Settings of an issuer") struct IssuerSettingTests {
    private static let purchases: [IssuerSetting: [String]] = [
        .bundleId: ["com.example.app"], .product: ["com.example.app.month=200", "com.example.app.year=65535"],
        .rootsPath: ["/etc/roots.pem"],
    ]

    private func configuration(
        _ flags: [IssuerSetting: [String]] = [:],
        environment: [String: String] = [:]
    ) throws -> TokenIssuerConfiguration {
        try TokenIssuerConfiguration(
            SettingValues(flags: flags, environment: { environment[$0] }, file: [:], named: "issuer.json")
        )
    }

    private func failure(_ flags: [IssuerSetting: [String]]) -> CommandFailure? {
        do {
            _ = try configuration(flags)
            return nil
        } catch {
            return error as? CommandFailure
        }
    }

    @Test func `the standard issuer is one of this machine, with vouchers alone`() throws {
        let standard = try configuration()
        #expect(standard.host.isLoopback && standard.port == 8_451 && standard.issuerName == "localhost")
        #expect(standard.purchases == nil && standard.hasLimits && standard.tls == nil)
        #expect(standard.ownOrigin == "http://localhost:8451")
    }

    @Test func `a host name serves all addresses`() throws {
        let named = try configuration([.issuerName: ["issuer.example.org"]])
        #expect(named.host == .v4(0) && named.ownOrigin == "https://issuer.example.org")
    }

    @Test func `each setting has a variable, and those of an identity server have its names`() {
        let names = Set(IssuerSetting.allCases.map(\.variable))
        let expected: Set = [
            "LISTEN_ADDRESS", "PORT", "ISSUER_NAME", "TLS_CERT_PATH", "TLS_KEY_PATH", "BUNDLE_ID", "ENVIRONMENT",
            "PRODUCT",
            "ROOTS_PATH", "TRUSTED_PROXY", "REQUEST_LIMITS", "CONNECTION_LIMIT", "METRICS_TOKEN",
        ]
        #expect(names == expected)
    }

    @Test func `purchases need an app, products and roots together`() throws {
        let purchases = try #require(try configuration(Self.purchases).purchases)
        #expect(purchases.allowances == ["com.example.app.month": 200, "com.example.app.year": 65_535])
        #expect(purchases.environment == .production && purchases.bundleId == "com.example.app")
        for missing in Self.purchases.keys {
            var flags = Self.purchases
            flags[missing] = nil
            #expect(failure(flags)?.code == "bad-setting", "\(missing)")
        }
        #expect(failure([.rootsPath: ["/etc/roots.pem"]]) == nil)
    }

    @Test func `products come from the environment with commas`() throws {
        let variables = [
            "BUNDLE_ID": "com.example.app", "PRODUCT": "a=1, b=2", "ROOTS_PATH": "/r", "ENVIRONMENT": "Sandbox",
        ]
        let purchases = try #require(try configuration(environment: variables).purchases)
        #expect(purchases.allowances == ["a": 1, "b": 2] && purchases.environment == .sandbox)
    }

    @Test(arguments: [
        (IssuerSetting.port, "70000"), (.listenAddress, "here"), (.issuerName, "https://issuer.example.org"),
        (.issuerName, "Issuer.example.org"), (.issuerName, "-a.org"), (.issuerName, "a..b"), (.issuerName, "a.org:443"),
        (.environment, "Xcode"), (.environment, "LocalTesting"), (.product, "month"), (.product, "month=0"),
        (.product, "=5"), (.product, "month=70000"), (.product, "a=1=2"), (.bundleId, "a b"), (.requestLimits, "no"),
        (.connectionLimit, "1"), (.metricsToken, "short"), (.trustedProxy, "proxy"), (.rootsPath, ""),
    ])
    func `a value that a setting does not take is refused`(setting: IssuerSetting, value: String) {
        var flags = Self.purchases
        flags[setting] = [value]
        #expect(failure(flags)?.code == "bad-setting")
    }

    @Test func `a product with two allowances is refused`() {
        var flags = Self.purchases
        flags[.product] = ["a=1", "a=2"]
        #expect(failure(flags)?.code == "bad-setting")
    }

    @Test func `a certificate needs its key`() {
        #expect(failure([.tlsCertPath: ["/a"]])?.code == "bad-setting")
        #expect(failure([.tlsKeyPath: ["/a"]])?.code == "bad-setting")
    }
}
