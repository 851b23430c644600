internal import Foundation
internal import NodeModel
internal import NodeService
internal import TestSupport
internal import Testing

@Suite("Commands without a network", .aside) struct OfflineTests {
    @Test func `a person makes a network, admits a second device, and that device joins and leaves`() throws {
        let (owner, phone) = (try TemporaryDataDirectory(), try TemporaryDataDirectory())
        try owner.makeNode()
        let peer = try phone.makeNode()
        let network = try owner.answer(["network", "create", "Family"])
        #expect(try network.text("role") == "owner")
        let token = try owner.answer(["network", "issue", peer, "--expires", "12h"])
        #expect(try token.text("peerId") == peer)

        let joined = try phone.answer(["join"], input: try token.text("text") + "\n" + network.text("text"))
        #expect(try joined.text("name") == "Family")
        #expect(try joined.json["isMember"] as? Bool == true)
        let shown = try phone.answer(["network", "show"])
        #expect(try shown.text("role") == "member")
        #expect(try shown.json["expiration"] as? Int == token.json["expiration"] as? Int)

        _ = try phone.answer(["network", "leave", "Family"])
        #expect(try (phone.answer(["network", "list"]).json["networks"] as? [Any])?.isEmpty == true)
    }

    @Test func `the texts may come as arguments, as files and one after the other`() throws {
        let (owner, phone) = (try TemporaryDataDirectory(), try TemporaryDataDirectory())
        try owner.makeNode()
        let peer = try phone.makeNode()
        let text = try owner.answer(["network", "create", "Home"]).text("text")
        let token = try owner.answer(["network", "issue", peer]).text("text")
        let first = try phone.answer(["join", text])
        #expect(try first.json["isMember"] as? Bool == false)
        let file = try phone.file("token", token)
        defer { try? FileManager.default.removeItem(atPath: file) }  // the system empties the folder
        #expect(try phone.answer(["join", file]).json["isMember"] as? Bool == true)
    }

    @Test func `a network that was left can be joined again, by its owner too`() throws {
        let (owner, phone) = (try TemporaryDataDirectory(), try TemporaryDataDirectory())
        try owner.makeNode()
        let peer = try phone.makeNode()
        let text = try owner.answer(["network", "create", "Home"]).text("text")
        let token = try owner.answer(["network", "issue", peer]).text("text")
        _ = try phone.answer(["join", text, token])
        _ = try owner.answer(["network", "rename", "Home", "Cabin"])
        for (home, name, role) in [(owner, "Cabin", "owner"), (phone, "Home", "none")] {
            _ = try home.answer(["network", "leave", name, "--yes"])
            #expect(try (home.answer(["network", "list"]).json["networks"] as? [Any])?.isEmpty == true)
            let again = try home.answer(["join", text])
            #expect(try again.text("name") == name)
            #expect(try again.text("role") == role)
        }
        #expect(try phone.answer(["join", token]).text("role") == "member")
    }

    @Test func `a file that a person names may be a link`() throws {
        let home = try TemporaryDataDirectory()
        try home.makeNode()
        let text = try home.file("text", try home.answer(["network", "create", "Home"]).text("text"))
        defer { for file in [text, text + "-link"] { try? FileManager.default.removeItem(atPath: file) } }  // as below
        try FileManager.default.createSymbolicLink(atPath: text + "-link", withDestinationPath: text)
        #expect(try home.answer(["inspect", text + "-link"]).text("kind") == "network")
        #expect(try home.answer(["join", text + "-link"]).text("role") == "owner")
    }

    @Test func `a renamed network has the next version and the same id`() throws {
        let owner = try TemporaryDataDirectory()
        try owner.makeNode()
        let before = try owner.answer(["network", "create", "Old"])
        let after = try owner.answer(["network", "rename", "Old", "New"])
        #expect(try after.text("networkId") == before.text("networkId"))
        #expect(try after.json["version"] as? Int == 2)
    }

    @Test func `a passphrase opens the vault and another does not`() throws {
        let home = try TemporaryDataDirectory()
        let right = try home.file("right", "correct horse\n")
        let wrong = try home.file("wrong", "battery staple\n")
        defer {
            for file in [right, wrong] { try? FileManager.default.removeItem(atPath: file) }  // the system empties it
        }
        let weak = try home.runar(["init", "--passphrase-file", "-", "--json"], input: "seven c\n")
        #expect(weak.status == 65)
        #expect(try weak.failure["code"] as? String == "weak-passphrase")
        #expect(try home.runar(["init", "--passphrase-file", right]).status == 0)
        #expect(try home.runar(["keys", "export", "peer", "--passphrase-file", right]).status == 0)
        let refused = try home.runar(["keys", "export", "peer", "--json", "--passphrase-file", wrong])
        #expect(refused.status == 77)
        #expect(try refused.failure["code"] as? String == "wrong-passphrase")
    }

    @Test func `a backup file brings the root key and its networks to a new device`() throws {
        let (old, new) = (try TemporaryDataDirectory(), try TemporaryDataDirectory())
        try old.makeNode()
        try new.makeNode()
        let network = try old.answer(["network", "create", "Mine"]).text("networkId")
        let passphrase = try old.file("passphrase", "for the backup")
        let backup = old.path + "-backup"
        defer {
            for file in [passphrase, backup] { try? FileManager.default.removeItem(atPath: file) }  // as above
        }
        let options = ["--file", backup, "--backup-passphrase-file", passphrase]
        _ = try old.answer(["backup", "create"] + options)
        _ = try new.answer(["backup", "restore"] + options)
        let restored = try new.answer(["network", "show"])
        #expect(try restored.text("networkId") == network)
        #expect(try restored.text("role") == "owner")
    }

    @Test func `a restored root key makes no network in the place of an unknown one`() throws {
        let (old, new) = (try TemporaryDataDirectory(), try TemporaryDataDirectory())
        try old.makeNode()
        try new.makeNode()
        let texts = try ["One", "Two"].map { try old.answer(["network", "create", $0]) }
        let root = try old.answer(["keys", "export", "root", "--reveal"]).text("privateKey")
        _ = try new.answer(["keys", "import", "root"], input: root)
        let refused = try new.runar(["network", "create", "Three", "--json"])
        #expect(refused.status == 64)
        #expect(try refused.failure["code"] as? String == "index-needed")
        #expect(try (refused.failure["message"] as? String)?.contains("--index 0") == true)
        for text in texts { #expect(try new.answer(["join", text.text("text")]).text("role") == "owner") }
        let again = try new.runar(["network", "create", "Three"])
        #expect(again.status == 64 && again.errors.contains("runar join") && again.errors.contains("--index 2"))
        let taken = try new.runar(["network", "create", "Three", "--index", "1", "--json"])
        #expect(try taken.failure["code"] as? String == "bad-index")
        let made = try new.answer(["network", "create", "Three", "--index", "2"])
        #expect(try made.json["index"] as? Int == 2)
        #expect(try !texts.map { try $0.text("networkId") }.contains(made.text("networkId")))
        #expect(try new.answer(["network", "create", "Four"]).json["index"] as? Int == 3)
    }

    @Test func `a restored owner knows its members, revocations and settings, and revokes the device that is lost`()
        throws
    {
        let (old, new) = (try TemporaryDataDirectory(), try TemporaryDataDirectory())
        let former = try old.makeNode()
        let (phone, thief) = (try TemporaryDataDirectory().makeNode(), try TemporaryDataDirectory().makeNode())
        _ = try old.answer(["network", "create", "Home"])
        _ = try old.answer(["network", "issue", phone, "--label", "phone", "--expires", "12h"])
        _ = try old.answer(["network", "issue", thief, "--label", "thief"])
        _ = try old.answer(["network", "revoke", "thief", "--yes"])
        let config = old.path + "/config.json"
        try Data(#"{"requestTimeout":"7s","listen":["127.0.0.1:0"]}"#.utf8).write(to: URL(filePath: config))
        try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: config)
        let backup = old.path + "-backup"
        defer { try? FileManager.default.removeItem(atPath: backup) }  // temporary anyway
        let opening = ["--file", backup, "--backup-passphrase-file", try old.file("passphrase", "for the backup")]
        _ = try old.answer(["backup", "create"] + opening)
        try new.makeNode()
        let restored = try new.answer(["backup", "restore"] + opening)
        #expect(try restored.json["members"] as? Int == 1 && restored.json["revocations"] as? Int == 1)
        #expect(try restored.text("formerPeerId") == former)
        #expect(try (restored.json["formerNetworks"] as? [String])?.count == 1)
        let shown = try new.runar(["peers", "--all"]).output
        #expect(shown.contains("phone") && shown.contains("former device") && !shown.contains("thief"))
        let refused = try new.runar(["network", "issue", thief, "--json"])
        #expect(refused.status != 0)
        #expect(try new.answer(["network", "revoke", "former device", "--yes"]).text("peerId") == former)
        let settings = try String(contentsOfFile: new.path + "/config.json", encoding: .utf8)
        #expect(settings.contains("7s") && !settings.contains("listen"))
        let again = try new.answer(["backup", "restore"] + opening)
        #expect(try (again.json["formerNetworks"] as? [String])?.isEmpty == true)
    }

    @Test func `an exported key goes into another vault only where it replaces nothing`() throws {
        let (one, other) = (try TemporaryDataDirectory(), try TemporaryDataDirectory())
        let peer = try one.makeNode()
        try other.makeNode()
        let exported = try one.answer(["keys", "export", "peer", "--reveal"])
        let hex = try exported.text("privateKey")
        #expect(try one.answer(["keys", "export", "peer"]).json["privateKey"] == nil)
        let refused = try other.runar(["keys", "import", "peer", "--json"], input: hex)
        #expect(refused.status == 73)
        #expect(try other.answer(["keys", "import", "peer", "--replace"], input: hex).text("peerId") == peer)
    }

    @Test func `a reset removes the node and nothing else`() throws {
        let home = try TemporaryDataDirectory()
        try home.makeNode()
        let mine = home.path + "/notes"
        try Data("mine".utf8).write(to: URL(filePath: mine))
        try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: mine)
        let removed = try home.answer(["reset", "--yes"])
        #expect(try (removed.json["removed"] as? [String])?.contains("vault") == true)
        #expect(try FileManager.default.contentsOfDirectory(atPath: home.path) == ["notes"])
    }

    @Test func `a reset takes the console's files, and the root key of networks if that is said`() throws {
        let home = try TemporaryDataDirectory()
        try home.makeNode()
        _ = try home.answer(["network", "create", "Home"])
        for name in ["console.token", "console.tls.pem"] {
            let path = home.path + "/" + name
            try Data("x".utf8).write(to: URL(filePath: path))
            try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: path)
        }
        let refused = try home.runar(["reset", "--yes", "--json"])
        #expect(refused.status == 77)
        #expect(try refused.failure["code"] as? String == "owns-networks")
        let message = try refused.failure["message"] as? String
        #expect(message?.contains("Home") == true && message?.contains("--root-key") == true)
        #expect(try home.answer(["network", "show"]).text("role") == "owner")
        let removed = try home.answer(["reset", "--yes", "--root-key"])
        let names = try #require(try removed.json["removed"] as? [String])
        #expect(names.contains("console.token") && names.contains("console.tls.pem"))
        #expect(try FileManager.default.contentsOfDirectory(atPath: home.path).isEmpty)
    }

    @Test func `a reset leaves nothing of a node that was used for everything`() async throws {
        let home = try TemporaryDataDirectory()
        try home.makeNode()
        try await aside {
            _ = try home.answer(["network", "create", "Home"])
            let node = try RunningCommand(["up", "--console", "0", "--console-lan", "0", "--json"], home: home)
            _ = try node.next("ready")
            // The link to the console stays until a browser follows it.
            let link = try RunningCommand(["console", "--json"], home: home, environment: ["PATH": "/nonexistent"])
            _ = try link.outcome()
            // Killed, so that the files of a running node stay.
            #expect(node.end(by: SIGKILL) == -SIGKILL)
        }
        let received = home.path + "/files"
        try FileManager.default.createDirectory(
            atPath: received,
            withIntermediateDirectories: false,
            attributes: [.posixPermissions: 0o700]
        )
        for (name, text) in [
            ("files/photo.jpg", "x"), ("files/.photo.jpg-1.part", "x"), ("config.json", "{}"), ("node.log", "x"),
            ("console-1.html", "x"), (".console.upload-1", "x"), ("..vault-1.writing-1", "x"),
            ("state.sqlite-journal", ""), ("registration.json", "{}"), ("notes", "mine"),
        ] {
            let path = home.path + "/" + name
            try Data(text.utf8).write(to: URL(filePath: path))
            try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: path)
        }
        let before = Set(try FileManager.default.contentsOfDirectory(atPath: home.path))
        #expect(before.subtracting(before.filter(HomeFile.isOwn)) == ["notes"])
        #expect(Set(HomeFile.allCases.map(\.rawValue)).subtracting(before).isEmpty)
        let pools = try FileManager.default.contentsOfDirectory(atPath: home.path + "/one-time-keys")
        #expect(pools.count == 1)
        let removed = try await aside { try home.answer(["reset", "--yes", "--root-key"]) }
        #expect(try (removed.json["removed"] as? [String])?.contains("one-time-keys") == true)
        #expect(try FileManager.default.contentsOfDirectory(atPath: home.path) == ["notes"])
    }

    @Test func `completion scripts are printed for each shell`() throws {
        for (shell, sign) in [("bash", "complete "), ("zsh", "#compdef"), ("fish", "complete -c")] {
            let outcome = try runar(["completion", shell])
            #expect(outcome.status == 0)
            #expect(outcome.output.contains(sign), "\(shell)")
        }
    }
}
