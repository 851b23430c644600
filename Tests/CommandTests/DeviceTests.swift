internal import Bytes
internal import Foundation
internal import Identity
internal import TestSupport
internal import Testing

/// A device with a root key and a new one, each with a place for a home.
@Suite("Devices of one person", .aside) struct DeviceTests {
    private let laptop: TemporaryDataDirectory
    private let phone: TemporaryDataDirectory

    init() throws {
        (laptop, phone) = (try TemporaryDataDirectory(), try TemporaryDataDirectory())
        try laptop.makeNode()
        _ = try laptop.answer(["network", "create", "Home"])
        _ = try laptop.answer(["network", "create", "Cabin"])
    }

    /// The request of a device, which also creates its home.
    private func request(of home: TemporaryDataDirectory) throws -> Outcome {
        try home.answer(["device", "setup", "--show", "--no-passphrase"])
    }

    private func networks(_ outcome: Outcome) throws -> [String: Bool] {
        let found = try #require(try outcome.json["networks"] as? [[String: Any]])
        return Dictionary(
            uniqueKeysWithValues: try found.map {
                (try #require($0["name"] as? String), try #require($0["isAdmin"] as? Bool))
            }
        )
    }

    @Test func `two texts make a device a member of every network, with equal codes on both sides`() throws {
        let asked = try request(of: phone)
        #expect(try asked.text("event") == "deviceRequest")
        #expect(try asked.text("link").hasPrefix("runar://device/"))
        #expect(try request(of: phone).text("link") == asked.text("link"))
        #expect(try laptop.runar(["inspect", "--json"], input: asked.text("link")).text("code") == asked.text("code"))
        let added = try laptop.answer(["device", "add", "--yes", "--label", "phone"], input: asked.text("link"))
        #expect(try added.text("peerId") == asked.text("peerId"))
        #expect(try networks(added) == ["Home": false, "Cabin": false])
        let text = try added.text("text")
        #expect(try laptop.runar(["inspect", "--json"], input: text).text("code") == added.text("code"))
        let set = try phone.answer(["device", "setup", "--yes", text])
        #expect(try networks(set) == ["Home": false, "Cabin": false])
        #expect(try set.text("certificateStatus") == "valid")
        #expect(try set.text("sender") == laptop.answer(["status"]).text("peerId"))
        #expect(try phone.answer(["network", "show", "Home"]).text("role") == "member")
        #expect(try laptop.answer(["peers", "--all"]).output.contains("\"phone\""))
    }

    @Test func `an administrator's device issues and revokes in the named networks only`() throws {
        let link = try request(of: phone).text("link")
        let added = try laptop.answer(
            ["device", "add", "--yes", "--admin", "--network", "Home", "--expires", "never"],
            input: "see:\n\(link.uppercased())\n"
        )
        #expect(try networks(added) == ["Home": true])
        _ = try phone.answer(["device", "setup", "--yes", "-"], input: added.text("text"))
        #expect(try phone.answer(["network", "show", "Home"]).text("role") == "admin")
        let guest = try TemporaryDataDirectory()
        let peer = try guest.makeNode()
        let token = try phone.answer(["network", "issue", peer, "--network", "Home"]).text("text")
        #expect(try guest.answer(["join"], input: token).json["isMember"] as? Bool == true)
        _ = try phone.answer(["network", "revoke", peer, "--network", "Home", "--yes"])
        let refused = try phone.runar(["device", "add", "--yes", "--json"], input: link)
        #expect(try refused.failure["code"] as? String == "no-root-key")
        #expect(refused.status == 77)
        let backup = try phone.runar(["keys", "export", "root", "--json"])
        #expect(try backup.failure["code"] as? String == "no-key")
    }

    @Test func `an answer is printed in short lines and accepted with its line breaks`() throws {
        let link = try request(of: phone).text("link")
        let added = try laptop.runar(["device", "add", "--yes"], input: link)
        #expect(added.status == 0, "\(added.errors)")
        let lines = added.output.split(separator: "\n")
        #expect(lines.count > 10 && lines.allSatisfy { $0.count <= 76 })
        #expect(added.errors.contains("becomes a member of "))
        let file = try phone.file("answer", added.output)
        let set = try phone.runar(["device", "setup", "--yes", file])
        #expect(set.status == 0, "\(set.errors)")
        #expect(set.output.contains("is a member of ") && set.output.contains("Home (until "))
    }

    @Test func `images of the two screens are accepted in place of the texts`() throws {
        func image(of text: String, on home: TemporaryDataDirectory) throws -> String {
            let path = home.path + "-screen.png"
            let drawn = try runar(["qr", "show", "-", "--output", path], input: text)
            #expect(drawn.status == 0, "\(drawn.errors)")
            return path
        }
        defer {
            for home in [laptop, phone] {
                try? FileManager.default.removeItem(atPath: home.path + "-screen.png")  // the system empties the folder
            }
        }
        let screen = try image(of: request(of: phone).text("link").uppercased(), on: phone)
        let added = try laptop.answer(["device", "add", "--yes", "--network", "Home", "--picture", screen])
        let answer = try image(of: added.text("text"), on: laptop)
        let set = try phone.answer(["device", "setup", "--yes", "--picture", answer])
        #expect(try networks(set) == ["Home": false])
        let blank = try laptop.runar(["device", "add", "--yes", "--picture", answer, "--json"])
        #expect(try blank.failure["code"] as? String == "bad-request")
    }

    @Test func `a new device waits for its answer and applies it on arrival`() throws {
        let setup = try RunningCommand(
            ["device", "setup", "--no-passphrase", "--yes", "--json"],
            home: phone,
            keepsInput: true
        )
        let link = try #require(try setup.next("deviceRequest")["link"] as? String)
        let added = try laptop.answer(["device", "add", "--yes"], input: link)
        try setup.type(added.text("text") + "\n")
        #expect(setup.end() == 0)
        #expect(try phone.answer(["network", "list"]).output.contains("Cabin"))
    }

    @Test func `both commands work while a node runs, and the two nodes connect automatically`() throws {
        _ = try request(of: phone)
        let nodes = try [laptop, phone].map { try RunningCommand(["up", "--json", "--discovery", "off"], home: $0) }
        for node in nodes { _ = try node.next("ready") }
        let link = try request(of: phone).text("link")
        let added = try laptop.answer(["device", "add", "--yes", "--network", "Home"], input: link)
        _ = try phone.answer(["device", "setup", "--yes", added.text("text")])
        let joined = try nodes[0].next("peerJoined")
        #expect(joined["peerId"] as? String == (try added.text("peerId")))
    }

    @Test func `wrong, altered and foreign texts are refused with a reason`() throws {
        let link = try request(of: phone).text("link")
        let text = try laptop.answer(["device", "add", "--yes"], input: link).text("text")
        let other = try TemporaryDataDirectory()
        _ = try request(of: other)
        let fresh = try TemporaryDataDirectory()
        try fresh.makeNode()
        var changed = Array(text)
        changed[200] = changed[200] == "A" ? "B" : "A"
        let mistakes: [(TemporaryDataDirectory, [String], String, String, Int32)] = [
            (laptop, ["device", "add", "--yes"], text, "bad-request", 65),
            (laptop, ["device", "add", "--yes"], "hello", "bad-request", 65),
            (laptop, ["device", "add", "--yes"], String(link.dropLast(9)), "bad-data", 65),
            (laptop, ["device", "add", "--yes", "--network", "Barn"], link, "no-such-network", 65),
            (laptop, ["device", "add", "--yes", "--expires", "soon"], link, "bad-duration", 64),
            (laptop, ["device", "add"], link, "no-terminal", 77),
            (phone, ["device", "setup", "--yes", "-"], link, "bad-answer", 65),
            (phone, ["device", "setup", "--yes", "-"], String(changed), "bad-data", 65),
            (phone, ["device", "setup", "-"], text, "no-terminal", 77),
            (other, ["device", "setup", "--yes", "-"], text, "bad-data", 65),
            (fresh, ["device", "setup", "--yes", "-"], text, "not-asked", 65),
            (laptop, ["device", "setup", "--yes", "-"], text, "not-asked", 65),
        ]
        for (home, arguments, input, code, status) in mistakes {
            let outcome = try home.runar(arguments + ["--json"], input: input)
            #expect(try outcome.lastFailureCode == code, "\(arguments): \(outcome.output)")
            #expect(outcome.status == status, "\(arguments): \(outcome.output)")
        }
        #expect(try phone.answer(["network", "list"]).json["networks"] as? [String] == [])
        _ = try phone.answer(["device", "setup", "--yes", "-"], input: text)
    }

    @Test func `a device that has an owner refuses the setup of another person`() throws {
        let link = try request(of: phone).text("link")
        let text = try laptop.answer(["device", "add", "--yes", "--no-network"], input: link).text("text")
        let taken = try phone.runar(["device", "setup", "--yes", "-"], input: text)
        #expect(taken.output.contains("your certificate, and no network"), "\(taken.output)\(taken.errors)")
        let nonMember = try TemporaryDataDirectory()
        try nonMember.makeNode()
        _ = try nonMember.answer(["network", "create", "Trap"])
        let trap = try nonMember.answer(["device", "add", "--yes"], input: request(of: phone).text("link")).text("text")
        let refused = try phone.runar(["device", "setup", "--yes", "--json", "-"], input: trap)
        #expect(try refused.failure["code"] as? String == "foreign-authority")
        #expect(try phone.answer(["network", "list"]).json["networks"] as? [String] == [])
    }
}
