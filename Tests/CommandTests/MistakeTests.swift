internal import Foundation
internal import TestSupport
internal import Testing

/// One mistake for each command, and the advice that its message must contain.
@Suite("Mistakes", .aside) struct MistakeTests {
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
        Mistake(["network", "revoke", peer, "--yes"], 65, "runar network create"),
        Mistake(["network", "revoke", peer], 77, "--yes"),
        Mistake(["network", "rename", "Nowhere", "New"], 65, "runar network list"),
        Mistake(["network", "leave", "Nowhere"], 65, "runar network list"),
        Mistake(["network", "address"], 65, "runar network create"),
        Mistake(["network", "address", "--stun"], 64, "stunServers"),
        Mistake(["network", "address", "--stun", "--address", "192.0.2.1:1"], 64, "not both"),
        Mistake(["join"], 65, "runar network show"),
        Mistake(["up", "--listen", "nonsense"], 64, "0.0.0.0:4433"),
        Mistake(["up", "--listen", "127.0.0.1:0", "--listen", "127.0.0.1:0"], 64, "at most one IPv4"),
        Mistake(["up", "--listen", "192.0.2.1:0"], 69, "an address of this machine"),
        Mistake(["up", "--accept-files", "/nonexistent"], 66, "make it"),
        Mistake(["listen", "--count", "0"], 64, "1 or more"),
        Mistake(["status", "--log-level", "loud"], 64, "notice"),
        Mistake(["connect", "nonsense"], 65, "runar peers --all"),
        Mistake(["connect", "/nonexistent"], 66, "check the path"),
        Mistake(["connect", "//////////////////////////////////////////8="], 65, "runar network create"),
        Mistake(["connect", "one", "two", "three", "four"], 64, "PEER [NETWORK [IP:PORT]]"),
        Mistake(["connect", "one", "--relay"], 64, "--relay goes with PEER NETWORK"),
        Mistake(["send", peer], 64, "runar send PEER"),
        Mistake(["send", peer, "--file", "/nonexistent"], 66, "check the path"),
        Mistake(["send", peer, "--file", "/"], 66, "pack it"),
        Mistake(["send", peer, "--file", "/proc/self"], 66, "points to"),
        Mistake(["send", peer, "hello"], 69, "runar connect"),
        Mistake(["send", "--all", "hello"], 69, "runar connect"),
        Mistake(["put", "key"], 64, "runar put KEY"),
        Mistake(["put", "key", "value", "--file", "/dev/null"], 64, "runar put KEY"),
        Mistake(["put", "key", "value", "--if-absent", "--if-version", "1"], 64, "not both"),
        Mistake(["put", "key", "--file", "/nonexistent"], 66, "check the path"),
        Mistake(["put", "key", "--file", "/dev/zero"], 65, "65536 bytes"),
        Mistake(["put", "key", "value"], 65, "runar network create"),
        Mistake(["put", "key", "value", "--lifetime", "soon"], 64, "30d"),
        Mistake(["get", "key"], 65, "runar network create"),
        Mistake(["get", "xy", "--key-format", "hex"], 64, "not in hex"),
        Mistake(["get", "key", "--timeout", "0s"], 64, "longer than nothing"),
        Mistake(["get", "key", "--all", "--output", "file"], 64, "--writer nor --output"),
        Mistake(["delete", "key", "--network", "Nowhere"], 65, "runar network list"),
        Mistake(["discover"], 65, "runar network create"),
        Mistake(["publish", "home/door", "open"], 65, "runar network create"),
        Mistake(["publish", "Nowhere:home/door", "open"], 65, "runar network list"),
        Mistake(["publish", "home/*", "open"], 64, "publish the event to one"),
        Mistake(["publish", "//", "open"], 64, "no segment"),
        Mistake(["publish", "Home:a", "open", "--network", "Home"], 64, "name one of them"),
        Mistake(["subscribe", "home/door"], 65, "runar network create"),
        Mistake(["subscribe", "home/>/door"], 64, "last segment"),
        Mistake(["subscribe", "home/door", "--count", "0"], 64, "1 or more"),
        Mistake(["up", "--discovery", "maybe"], 64, "on or off"),
        Mistake(["up", "--discovery-group", "127.0.0.1:1"], 64, "multicast group"),
        Mistake(["inspect", "/nonexistent"], 66, "check the path"),
        Mistake(["keys", "derive", "--seed-file", "/nonexistent", "--path", "m"], 66, "check the path"),
        Mistake(["keys", "export", "house"], 64, "peer, root"),
        Mistake(["keys", "export", "root"], 65, "runar network create"),
        Mistake(["keys", "import", "root"], 65, "64 hexadecimal digits"),
        Mistake(["backup", "create"], 77, "--file"),
        Mistake(["backup", "create", "--file", "/nonexistent/b"], 65, "runar network create"),
        Mistake(["backup", "restore", "--file", "/nonexistent/b"], 66, "check the path"),
        Mistake(["backup", "restore"], 77, "--file"),
        Mistake(["keys", "export", "peer", "--passphrase-file", "/nonexistent"], 66, "check the path"),
        Mistake(["keys", "export", "peer", "--home", ""], 64, "name a directory"),
        Mistake(["completion", "tcsh"], 64, "bash"),
        Mistake(["stun"], 64, "--serve"),
        Mistake(["stun", "192.0.2.1", "--serve"], 64, "--serve"),
        Mistake(["stun", "192.0.2.1", "--listen", "0.0.0.0:1"], 64, "--serve"),
        Mistake(["stun", "host:"], 64, "from 1 to 65535"),
        Mistake(["stun", "fe80::1:2:3:4:5:6:7:8"], 64, "brackets"),
        Mistake(["stun", "nobody.invalid"], 69, "nobody.invalid"),
        Mistake(["stun", "--serve", "--listen", "192.0.2.199"], 64, "0.0.0.0:4433"),
        Mistake(["stun", "--serve", "--listen", "192.0.2.199:1"], 69, "an address of this machine"),
        Mistake(["stun", "--serve", "--listen", "127.0.0.1:1", "--listen", "127.0.0.2:1"], 64, "different ports"),
        Mistake(["nonsense"], 64, "runar --help"),
        Mistake(["pears", "--home", "X"], 64, "runar peers"),
    ])
    func `a mistake is answered with advice and the documented exit code`(mistake: Mistake) throws {
        let home = try TemporaryDataDirectory()
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
    func `every command without a home names the first step`(command: String) throws {
        let home = try TemporaryDataDirectory()
        let outcome = try home.runar(command.split(separator: " ").map(String.init) + ["--json"])
        #expect(outcome.status == 78, "\(outcome.output)\(outcome.errors)")
        #expect(try (outcome.failure["message"] as? String)?.contains("runar init") == true)
    }

    @Test func `a member that acts as an owner, and a device without a network, are refused`() throws {
        let (owner, phone) = (try TemporaryDataDirectory(), try TemporaryDataDirectory())
        try owner.makeNode()
        try phone.makeNode()
        _ = try phone.answer(["join", owner.answer(["network", "create", "Home"]).text("text")])
        for command in [["network", "issue", Self.peer], ["network", "revoke", Self.peer, "--yes"]] {
            let outcome = try phone.runar(command + ["--json"])
            #expect(outcome.status == 77)
            #expect(try outcome.failure["code"] as? String == "not-the-owner")
        }
        for command in [["network", "address"], ["connect", Self.peer, "Home", "127.0.0.1:1"]] {
            let outcome = try phone.runar(command)
            #expect(outcome.status == 77)
            #expect(outcome.errors.contains("runar join"))
        }
        let address = try owner.runar(["network", "address", "--json"])
        #expect(address.status == 69)
        #expect(try (address.failure["message"] as? String)?.contains("runar up") == true)
    }

    @Test(arguments: [
        ("vault", "garbage", Int32(65), "runar reset"), ("vault", nil, 78, "runar init"),
        ("vault.key", nil, 66, "--key-file"), ("vault.key", "garbage", 65, "vault.key"),
        ("state.sqlite", "garbage", 65, "join your networks again"), ("state.sqlite", "", 65, "state.sqlite-made"),
        ("state.sqlite", nil, 65, "restore a copy"), ("config.json", "{", 78, "JSON"),
    ])
    func `a broken home is reported with its file and advice`(
        file: String,
        content: String?,
        status: Int32,
        advice: String
    ) throws {
        let home = try TemporaryDataDirectory()
        try home.makeNode()
        let path = URL(filePath: home.path + "/" + file)
        if let content {
            try Data(content.utf8).write(to: path)
            try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: path.path())
        } else {
            try FileManager.default.removeItem(at: path)
        }
        let outcome = try home.runar(["network", "list"])
        #expect(outcome.status == status, "\(outcome.errors)")
        #expect(outcome.errors.contains(advice), "\(outcome.errors)")
    }

    @Test func `an interrupted init is repeated, or removed by a reset`() throws {
        let home = try TemporaryDataDirectory()
        try home.makeNode()
        func interrupt() throws {
            for name in try FileManager.default.contentsOfDirectory(atPath: home.path) where name != "vault.key" {
                try FileManager.default.removeItem(atPath: home.path + "/" + name)
            }
        }
        try interrupt()
        #expect(try home.runar(["init", "--no-passphrase"]).status == 0)
        #expect(try home.runar(["network", "list"]).status == 0)

        try interrupt()
        #expect(try home.runar(["reset", "--yes"]).status == 0)
        #expect(!FileManager.default.fileExists(atPath: home.path + "/vault.key"))
        #expect(try home.runar(["reset", "--yes"]).status == 78)
    }

    @Test func `an unknown key in the configuration file is reported with the nearest known key`() throws {
        let home = try TemporaryDataDirectory()
        try home.makeNode()
        let path = home.path + "/config.json"
        try Data(#"{"requestTimeOut":"5s"}"#.utf8).write(to: URL(filePath: path))
        try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: path)
        let outcome = try home.runar(["network", "list"])
        #expect(outcome.status == 78)
        #expect(outcome.errors.contains("requestTimeOut") && outcome.errors.contains("\"requestTimeout\""))
    }

    @Test func `the settings in effect and their sources are shown`() throws {
        let home = try TemporaryDataDirectory()
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
