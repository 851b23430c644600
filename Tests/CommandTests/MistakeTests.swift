internal import Foundation
internal import Testing

/// One mistake for each command, and what its message must say to do.
@Suite("Mistakes") struct MistakeTests {
    struct Mistake: Sendable, CustomTestStringConvertible {
        let arguments: [String]
        let status: Int32
        let advice: String

        var testDescription: String { "runar " + arguments.joined(separator: " ") }

        init(_ arguments: [String], _ status: Int32, _ advice: String) {
            self.arguments = arguments
            self.status = status
            self.advice = advice
        }
    }

    private static let peer = "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA="

    @Test(arguments: [
        Mistake(["init", "--no-passphrase"], 73, "runar reset"),
        Mistake(["network", "create", "a\u{7}b"], 65, "name"),
        Mistake(["network", "list", "--color"], 64, "--color"),
        Mistake(["network", "show"], 65, "runar network create"),
        Mistake(["network", "show", "Nowhere"], 65, "runar network list"),
        Mistake(["network", "issue", peer], 65, "runar network create"),
        Mistake(["network", "issue", peer, "--expires", "soon"], 64, "30d"),
        Mistake(["network", "issue", "nobody"], 65, "runar network create"),
        Mistake(["network", "revoke", peer], 65, "runar network create"),
        Mistake(["network", "rename", "Nowhere", "New"], 65, "runar network list"),
        Mistake(["network", "leave", "Nowhere"], 65, "runar network list"),
        Mistake(["network", "address"], 65, "runar network create"),
        Mistake(["join"], 65, "runar network show"),
        Mistake(["up", "--listen", "nonsense"], 64, "0.0.0.0:4433"),
        Mistake(["up", "--accept-files", "/nonexistent"], 66, "make it"),
        Mistake(["status", "--log-level", "loud"], 64, "notice"),
        Mistake(["connect", "nonsense"], 66, "check the path"),
        Mistake(["connect", "one", "two"], 64, "PEER NETWORK IP:PORT"),
        Mistake(["send", peer], 64, "runar send PEER"),
        Mistake(["send", peer, "--file", "/nonexistent"], 66, "check the path"),
        Mistake(["inspect", "/nonexistent"], 66, "check the path"),
        Mistake(["keys", "derive", "--seed-file", "/nonexistent", "--path", "m"], 66, "check the path"),
        Mistake(["keys", "export", "house"], 64, "peer, root"),
        Mistake(["keys", "export", "root"], 65, "runar network create"),
        Mistake(["keys", "import", "root"], 65, "64 hexadecimal digits"),
        Mistake(["backup", "create"], 77, "--file"),
        Mistake(["backup", "create", "--file", "/nonexistent/b"], 65, "runar network create"),
        Mistake(["completion", "tcsh"], 64, "bash"),
        Mistake(["nonsense"], 64, "nonsense"),
    ])
    func `says what to do and ends with the documented code`(mistake: Mistake) throws {
        let home = try TemporaryHome()
        try home.makeNode()
        let plain = try home.runar(mistake.arguments, input: "garbage")
        #expect(plain.status == mistake.status, "\(plain.output)\(plain.errors)")
        #expect(plain.errors.contains(mistake.advice), "\(plain.errors)")
        let json = try home.runar(mistake.arguments + ["--json"], input: "garbage")
        #expect(json.status == mistake.status, "\(json.output)\(json.errors)")
        #expect(try json.failure["exitCode"] as? Int == Int(mistake.status))
        #expect(try (json.failure["message"] as? String)?.contains(mistake.advice) == true, "\(json.output)")
    }

    @Test(arguments: [
        "network list", "status", "stop", "peers", "up", "reset --yes", "keys export peer", "up --detach",
    ])
    func `without a home every command names the first step`(command: String) throws {
        let home = try TemporaryHome()
        let outcome = try home.runar(command.split(separator: " ").map(String.init) + ["--json"])
        #expect(outcome.status == 78, "\(outcome.output)\(outcome.errors)")
        #expect(try (outcome.failure["message"] as? String)?.contains("runar init") == true)
    }

    @Test func `an unknown key in the configuration file is named with its neighbour`() throws {
        let home = try TemporaryHome()
        try home.makeNode()
        let path = home.path + "/config.json"
        try Data(#"{"requestTimeOut":"5s"}"#.utf8).write(to: URL(filePath: path))
        try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: path)
        let outcome = try home.runar(["network", "list"])
        #expect(outcome.status == 78)
        #expect(outcome.errors.contains("requestTimeOut") && outcome.errors.contains("\"requestTimeout\""))
    }

    @Test func `the settings in effect and their sources are shown`() throws {
        let home = try TemporaryHome()
        try home.makeNode()
        let outcome = try home.runar(
            ["status", "--json", "--request-timeout", "3s"],
            environment: ["RUNAR_LOG_LEVEL": "error"]
        )
        let settings = try #require(try outcome.json["configuration"] as? [[String: Any]])
        let sources = Dictionary(uniqueKeysWithValues: settings.map { ("\($0["key"] ?? "")", "\($0["source"] ?? "")") })
        #expect(sources["requestTimeout"] == "flag")
        #expect(sources["logLevel"] == "environment")
        #expect(sources["messageLimit"] == "default")
    }
}
