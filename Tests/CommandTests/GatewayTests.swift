internal import Foundation
internal import TestSupport
internal import Testing

@Suite("runar gateway", .aside, .timeLimit(.minutes(15))) struct GatewayTests {
    private let home: TemporaryDataDirectory

    init() throws {
        home = try TemporaryDataDirectory()
        try FileManager.default.createDirectory(atPath: home.path, withIntermediateDirectories: true)
    }

    private func gateway(_ words: [String]) throws -> Outcome { try home.runar(["gateway"] + words) }

    private var roster: [String] {
        [
            "roster", "--operator-key", home.path + "/operator.key", "--exit-name", "exit.example.org", "--issuer",
            "https://issuer.example.org", "--to", home.path + "/roster.json", "--json",
        ]
    }

    /// The base point of Ed25519, which is a valid public key.
    private static let key = "WGZmZmZmZmZmZmZmZmZmZmZmZmZmZmZmZmZmZmZmZmY="

    private func object(_ outcome: Outcome) throws -> [String: Any] {
        try #require(JSONSerialization.jsonObject(with: Data(outcome.output.utf8)) as? [String: Any])
    }

    @Test func `a roster is signed with an operator's key that stays`() throws {
        let first = try object(gateway(roster + ["--key", Self.key]))
        let second = try object(gateway(roster + ["--key", Self.key, "--days", "7"]))
        #expect(first["operatorKey"] as? String == second["operatorKey"] as? String)
        #expect(first["gateways"] as? [String] == [Self.key])
        let attributes = try FileManager.default.attributesOfItem(atPath: home.path + "/operator.key")
        #expect(attributes[.posixPermissions] as? Int == 0o600)
        let written = try Data(contentsOf: URL(filePath: home.path + "/roster.json"))
        let document = try #require(JSONSerialization.jsonObject(with: written) as? [String: Any])
        #expect(document.keys.sorted() == ["payload", "signature"])
    }

    @Test func `a roster without a gateway, or of too many days, is a mistake of usage`() throws {
        #expect(try gateway(roster).status == 64)
        #expect(try gateway(roster + ["--key", Self.key, "--days", "900"]).status == 64)
        #expect(!FileManager.default.fileExists(atPath: home.path + "/operator.key"))
    }

    @Test func `a gateway with a setting missing names its flag`() throws {
        let outcome = try gateway(["serve", "--data", home.path + "/gateway", "--json"])
        #expect(outcome.status == 78)
        #expect(outcome.output.contains("--public-url is missing"))
    }

    @Test(arguments: ["peers", "drain"]) func `a gateway that does not run is reported`(_ command: String) throws {
        let outcome = try gateway([command, "--data", home.path + "/gateway", "--json"])
        #expect(outcome.status == 69 && outcome.output.contains("gateway-not-running"))
    }

    @Test func `a directory without its roster says how to make one`() throws {
        let words = ["directory", "--roster", home.path + "/none.json", "--gateway", "https://gw.example.org"]
        let outcome = try gateway(words)
        #expect(outcome.status == 66 && outcome.errors.contains("runar gateway roster"))
    }
}
