internal import CommandModel
internal import HTTPAPI
internal import Identity
internal import RegistrationModel
internal import TestSupport
internal import Testing

@testable internal import IdentityServer

@Suite("Settings of the identity server") struct IdentitySettingTests {
    /// The configuration of flags, of variables and of a file.
    private func configuration(
        _ flags: [IdentitySetting: [String]] = [:],
        environment: [String: String] = [:],
        file: [IdentitySetting: [String]] = [:]
    ) throws -> IdentityServerConfiguration {
        try IdentityServerConfiguration(
            SettingValues(flags: flags, environment: { environment[$0] }, file: file, named: "identity.json")
        )
    }

    /// The failure of settings; nil if they are good.
    private func failure(
        _ flags: [IdentitySetting: [String]] = [:],
        environment: [String: String] = [:],
        file: [IdentitySetting: [String]] = [:]
    ) -> CommandFailure? {
        do {
            _ = try configuration(flags, environment: environment, file: file)
            return nil
        } catch {
            return CommandFailure(error)
        }
    }

    // MARK: Names

    @Test func `the variables have the names of the integration guide`() {
        let names: [IdentitySetting: String] = [
            .port: "PORT", .tlsCertPath: "TLS_CERT_PATH", .tlsKeyPath: "TLS_KEY_PATH", .signKeyPath: "SIGN_KEY_PATH",
            .encodingKeyPath: "ENCODING_KEY_PATH", .decodingKeyPath: "DECODING_KEY_PATH",
        ]
        for (setting, name) in names { #expect(setting.variable == name) }
        #expect(IdentitySetting.rpId.variable == "RP_ID")
        #expect(IdentitySetting.rpId.flag == "--rp-id")
        #expect(IdentitySetting.tlsCertPath.flag == "--tls-cert-path")
        #expect(Set(IdentitySetting.allCases.map(\.variable)).count == IdentitySetting.allCases.count)
    }

    @Test func `the variables set a server up`() throws {
        let configuration = try configuration(environment: [
            "PORT": "443", "TLS_CERT_PATH": "/tls/chain.pem", "TLS_KEY_PATH": "/tls/key.pem",
            "SIGN_KEY_PATH": "/keys/sign.pem", "ENCODING_KEY_PATH": "/keys/encoding.pem",
            "DECODING_KEY_PATH": "/keys/decoding.pem", "RP_ID": "example.org",
            "ORIGIN": "https://example.org, https://id.example.org",
        ])
        #expect(configuration.port == 443)
        #expect(configuration.tls?.certificatesPath == "/tls/chain.pem")
        #expect(configuration.tls?.keyPath == "/tls/key.pem")
        let paths = TokenKeyFiles.Paths(
            signing: "/keys/sign.pem",
            encoding: "/keys/encoding.pem",
            decoding: "/keys/decoding.pem"
        )
        #expect(configuration.keyPaths == paths)
        #expect(configuration.origins.map(\.description) == ["https://example.org", "https://id.example.org"])
    }

    @Test func `a flag precedes a variable, and a variable the file`() throws {
        let (variables, file): ([String: String], [IdentitySetting: [String]]) = (["PORT": "2"], [.port: ["3"]])
        #expect(try configuration([.port: ["1"]], environment: variables, file: file).port == 1)
        #expect(try configuration(environment: variables, file: file).port == 2)
        #expect(try configuration(file: file).port == 3)
    }

    // MARK: Defaults

    @Test func `without settings the server is for this machine`() throws {
        let configuration = try configuration()
        #expect(configuration.port == 8443)
        #expect(configuration.host == .v4(0x7F00_0001))
        #expect(configuration.rpId == "localhost")
        #expect(configuration.rpName == "Runar")
        #expect(configuration.origins.map(\.description) == ["http://localhost:8443"])
        #expect(configuration.ownOrigin == "http://localhost:8443")
        #expect(configuration.handleDomain.text == "localhost.test")
        #expect(configuration.issuer == "http://localhost:8443")
        #expect(configuration.audience == "http://localhost:8443")
        #expect(configuration.tls == nil)
        #expect(configuration.keyPaths == TokenKeyFiles.Paths(signing: nil, encoding: nil, decoding: nil))
        #expect(configuration.tokenLifeSeconds == 8 * 3600)
        #expect(configuration.sessionLifeSeconds == 30 * 86_400)
        #expect(configuration.attestation == .none)
        #expect(!configuration.allowsBackupEligibilityUpgrade)
        #expect(configuration.appleApps.isEmpty)
        #expect(configuration.trustedProxies.isEmpty)
        #expect(configuration.hasLimits)
        #expect(configuration.connectionLimit == 1024)
        #expect(configuration.metricsToken == nil)
        #expect(configuration.agreementPath == nil)
    }

    @Test func `the port is in the origin of localhost`() throws {
        #expect(try configuration([.port: ["9000"]]).ownOrigin == "http://localhost:9000")
    }

    @Test func `the domain of the passkeys determines the other names`() throws {
        let standard = try configuration([.rpId: ["id.example.org"]])
        #expect(standard.host == .v4(0))
        #expect(standard.origins.map(\.description) == ["https://id.example.org"])
        #expect(standard.handleDomain.text == "id.example.org")
        #expect(standard.issuer == "https://id.example.org")
        #expect(standard.audience == "https://id.example.org")
        let chosen = try configuration([
            .rpId: ["example.org"], .origin: ["https://id.example.org:8443"], .handleDomain: ["example.social"],
            .audience: ["https://kas.example.org"],
        ])
        #expect(chosen.issuer == "https://id.example.org:8443")
        #expect(chosen.audience == "https://kas.example.org")
        #expect(chosen.handleDomain.text == "example.social")
    }

    // MARK: Values

    @Test(
        arguments: [
            (
                IdentitySetting.listenAddress, ["127.0.0.1", "0.0.0.0", "::", "fe80::1"],
                ["localhost", "1.2.3", "", "::g"]
            ),
            (.port, ["0", "443", "65535"], ["65536", "-1", "http", "", "80 "]),
            (
                .rpId, ["localhost", "example.org", "a-b.example.org"],
                [
                    "example", "https://example.org", "Example.org", "example.org:443", "127.0.0.1", "", "-a.org",
                    "a..org",
                    "example.org/",
                ]
            ),
            (.rpName, ["Runar", "Ærlig Identitet"], ["", String(repeating: "x", count: 65), "a\nb", "a\u{202E}b"]),
            (.handleDomain, ["example.social", "example.test"], ["example", "a_b.org", "example.local", ""]),
            (
                .issuer,
                ["https://example.org", "http://localhost:8443", "https://example.org:8443/path", "http://[::1]:80"],
                [
                    "", "example.org", "urn:example", "https://", "https:///path", "https://exa mple.org",
                    "https://user@example.org", "https://example.org:port", "HTTPS://example.org",
                    "https://" + String(repeating: "x.", count: 120) + "example.org",
                ]
            ),
            (.audience, ["https://kas.example.org"], ["", "kas", "https://ex\u{E9}.org", "ftp://example.org"]),
            (.tlsCertPath, ["/a"], [""]), (.tlsKeyPath, ["/a"], [""]), (.signKeyPath, ["/a"], [""]),
            (.encodingKeyPath, ["/a"], [""]), (.decodingKeyPath, ["/a"], [""]), (.agreementPath, ["/a"], [""]),
            (.tokenLife, ["1m", "8h", "24h"], ["59s", "25h", "8", "", "-1h", "forever"]),
            (.sessionLife, ["1m", "720h", "400d"], ["59s", "401d", "1"]),
            (.attestation, ["none", "direct"], ["indirect", "None", ""]),
            (.backupUpgrade, ["on", "off"], ["true", "", "ON"]),
            (.requestLimits, ["on", "off"], ["no", ""]),
            (.appleApps, ["ABCDE12345.com.example.app"], ["com.example.app", "ABCDE12345", "ABCDE12345.", ""]),
            (.trustedProxy, ["10.0.0.1", "::1"], ["10.0.0.0/8", "proxy", ""]),
            (.connectionLimit, ["16", "1024", "100000"], ["15", "100001", "many", ""]),
            (
                .metricsToken, [String(repeating: "t", count: 16), String(repeating: "t", count: 256)],
                [
                    "short", String(repeating: "t", count: 257), "sixteen characters",
                ]
            ),
            (.origin, ["https://example.org"], ["example.org", ""]),
        ] as [(IdentitySetting, [String], [String])]
    )
    func `a setting takes its values and no others`(setting: IdentitySetting, good: [String], bad: [String]) {
        for value in good { #expect(throws: Never.self, "\(value)") { try setting.check([value]) } }
        for value in bad { #expect(throws: (any Error).self, "\(value)") { try setting.check([value]) } }
        // Defaults are not checked when the settings are read.
        if let values = setting.defaultValues { #expect(throws: Never.self) { try setting.check(values) } }
    }

    @Test func `an unfit value is reported with its place`() {
        let flag = failure([.port: ["x"]])
        #expect(flag?.code == "bad-setting")
        #expect(flag?.status == .usage)
        #expect(flag?.message.hasPrefix("--port: ") == true)
        let variable = failure(environment: ["SIGN_KEY_PATH": "/a", "TOKEN_LIFE": "never"])
        #expect(variable?.status == .configuration)
        #expect(variable?.message.hasPrefix("TOKEN_LIFE: ") == true)
        #expect(failure(file: [.attestation: ["all"]])?.message.hasPrefix("identity.json: attestation: ") == true)
    }

    @Test func `the standard origin of this machine has the scheme of the port`() throws {
        let rpId: [IdentitySetting: [String]] = [.rpId: ["localhost"], .port: ["9700"]]
        #expect(try configuration(rpId).issuer == "http://localhost:9700")
        let withTLS = rpId.merging([.tlsCertPath: ["a"], .tlsKeyPath: ["b"]]) { $1 }
        #expect(try configuration(withTLS).issuer == "https://localhost:9700")
        #expect(try configuration(withTLS).origins == [WebOrigin("https://localhost:9700")])
    }

    @Test(arguments: [
        (Array("".utf8), "empty"), (Array(" \n".utf8), "empty"), ([0xFF], "UTF-8"),
        ([UInt8](repeating: 0x61, count: 65_537), "64 KiB"),
    ])
    func `an agreement that clients cannot read is refused with the reason`(text: [UInt8], reason: String) throws {
        let folder = try TemporaryDirectory()
        let path = try folder.write(text, to: "agreement.txt")
        let failure = #expect(throws: CommandFailure.self) { try Agreement(path: path) }
        #expect(failure?.code == "bad-agreement" && failure?.message.contains(reason) == true)
        #expect(throws: CommandFailure.self) { try Agreement(path: folder.file("missing.txt")) }
        let longest = try folder.write([UInt8](repeating: 0x61, count: 65_536), to: "longest.txt")
        #expect(try Agreement(path: longest).text.utf8.count == 65_536)
    }

    @Test func `an issuer that is no URL is a bad setting with an example`() {
        for value in ["example.org", "https://user@example.org"] {
            let failure = failure([.issuer: [value]])
            #expect(failure?.code == "bad-setting")
            #expect(failure?.message.hasPrefix("--issuer: ") == true)
            #expect(failure?.message.hasSuffix("such as https://identity.example.org") == true)
        }
    }

    @Test func `an unfit metrics token is not repeated`() {
        #expect(failure([.metricsToken: ["secret"]])?.message.contains("secret") == false)
    }

    @Test func `at most 32 origins are taken`() throws {
        let origins = (0..<33).map { "https://host-\($0).example.org" }
        #expect(throws: Never.self) { try IdentitySetting.origin.check(Array(origins.prefix(32))) }
        #expect(throws: CommandFailure.self) { try IdentitySetting.origin.check(origins) }
    }

    // MARK: Combinations

    @Test func `a certificate without its key, or a key without a certificate, is refused`() throws {
        #expect(failure([.tlsCertPath: ["/chain.pem"]])?.code == "bad-setting")
        #expect(failure([.tlsKeyPath: ["/key.pem"]])?.code == "bad-setting")
        let both = try configuration([.tlsCertPath: ["/chain.pem"], .tlsKeyPath: ["/key.pem"]])
        #expect(both.tls != nil)
        #expect(both.host == .v4(0))
    }

    @Test func `an origin must be at the domain of the passkeys`() {
        for (rpId, origin, isGood) in [
            ("example.org", "https://example.org", true), ("example.org", "https://id.example.org", true),
            ("id.example.org", "https://example.org", false), ("example.org", "https://badexample.org", false),
            ("example.org", "https://example.com", false), ("localhost", "http://app.localhost:8080", true),
            ("example.org", "android:apk-key-hash:abc", false),
        ] {
            #expect((failure([.rpId: [rpId], .origin: [origin]]) == nil) == isGood, "\(origin)")
        }
        #expect(
            failure([.rpId: ["example.org"], .origin: ["android:apk-key-hash:abc", "https://example.org"]]) == nil
        )
    }

    @Test func `the server's own address is its first page, not an app`() throws {
        let configuration = try configuration([
            .rpId: ["example.org"],
            .origin: ["android:apk-key-hash:abc", "https://id.example.org", "https://example.org"],
        ])
        #expect(configuration.ownOrigin == "https://id.example.org")
        #expect(configuration.issuer == "https://id.example.org")
    }

    @Test func `a session lives at least as long as a token`() {
        #expect(failure([.tokenLife: ["2h"], .sessionLife: ["1h"]])?.code == "bad-setting")
        #expect(failure([.tokenLife: ["2h"], .sessionLife: ["2h"]]) == nil)
    }
}

@Suite("Origins of web pages and apps") struct WebOriginTests {
    @Test(arguments: [
        ("https://example.org", "example.org"), ("https://id.example.org:8443", "id.example.org"),
        ("http://localhost", "localhost"), ("http://localhost:8080", "localhost"),
        ("https://localhost:8443", "localhost"), ("http://app.localhost:3000", "app.localhost"),
        ("https://xn--bcher-kva.example", "xn--bcher-kva.example"), ("https://example.org:80", "example.org"),
    ])
    func `an origin keeps its text`(text: String, host: String) throws {
        let origin = try WebOrigin(text)
        #expect(origin.description == text)
        #expect(origin.host == host)
        #expect(origin.isSecure == text.hasPrefix("https"))
    }

    @Test func `an app on Android is an origin without a host`() throws {
        let origin = try WebOrigin("android:apk-key-hash:7d1043473d55bfa90e8530d35801d4e381bc69f0")
        #expect(origin.host == nil)
        #expect(origin.isSecure)
    }

    @Test(arguments: [
        "", "example.org", "https://", "https://example", "https://Example.org", "HTTPS://example.org",
        "https://example.org/", "https://example.org/path", "https://example.org?x", "https://example.org#x",
        "https://user@example.org", "https://127.0.0.1", "https://[::1]", "http://127.0.0.1:8080",
        "https://example.org:", "https://example.org:0", "https://example.org:443", "https://example.org:65536",
        "https://example.org:08443", "https://example.org:+8443", "http://localhost:80", "http://example.org",
        "http://evil-localhost", "http://localhost.evil.org", "https://example.org ", "https://exam ple.org",
        "https://example.org:8443:1", "https://b\u{FC}cher.example", "https://*.example.org", "null", "file:///",
        "android:apk-key-hash:", "ftp://example.org", "https://.example.org", "https://example.org.",
    ])
    func `a text of another form is refused`(text: String) {
        #expect(throws: CommandFailure.self) { try WebOrigin(text) }
    }

    @Test func `a hostile origin does not reach the terminal`() {
        do {
            _ = try WebOrigin("https://evil\u{1B}[2J\n")
            Issue.record("the origin was taken")
        } catch {
            #expect(error.message.unicodeScalars.allSatisfy { $0.value >= 0x20 })
        }
    }
}
