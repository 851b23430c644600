internal import Foundation
internal import TestSupport
internal import Testing

@testable internal import NodeModel
@testable internal import NodeService

@Suite("Circle commands", .aside, .timeLimit(.minutes(15))) struct CircleCommandTests {
    /// Two people who trust each other.
    static func makeFriends(_ pair: ConnectedPair) throws {
        _ = try pair.owner.answer(["circle", "profile", "Ada"])
        _ = try pair.member.answer(["circle", "profile", "Bob", "--blurb", "on the road"])
        _ = try pair.owner.answer(["circle", "add", "phone"])
        let accepted = try pair.member.answer(["circle", "accept", "Ada"])
        #expect(try accepted.text("trust") == "trusted")
    }

    private static func person(_ home: TemporaryDataDirectory) throws -> [String: Any] {
        let people = try home.answer(["circle", "list"]).json["people"] as? [[String: Any]]
        return try #require(people?.first)
    }

    @Test func `two people add each other, compare their numbers, and talk`() throws {
        let pair = try ConnectedPair()
        let early = try pair.owner.runar(["circle", "add", "phone", "--json"])
        #expect(early.status == 66)
        #expect(try (early.failure["message"] as? String)?.contains("runar circle profile NAME") == true)
        try Self.makeFriends(pair)
        let number = try #require(try Self.person(pair.owner)["safetyNumber"] as? String)
        let wrong = try pair.member.runar(["circle", "verify", "Ada", String(repeating: "1", count: 60), "--json"])
        #expect(try wrong.failure["code"] as? String == "wrong-safety-number")
        let verified = try pair.member.answer(
            ["circle", "verify", "Ada"] + number.split(separator: " ").map(String.init)
        )
        #expect(try verified.json["verified"] as? Bool == true)

        let conversation = try RunningCommand(["circle", "follow", "Ada", "--json"], home: pair.member)
        _ = try conversation.next("circle")
        let said = try pair.owner.answer(["circle", "say", "Bob", "see you at eight"])
        #expect(try said.text("text") == "see you at eight")
        let thought = try conversation.next("thought")
        #expect(thought["text"] as? String == "see you at eight")
        #expect(thought["own"] as? Bool == false)
        let history = try pair.member.answer(["circle", "history", "Ada", "--search", "EIGHT"]).json
        #expect((history["thoughts"] as? [[String: Any]])?.count == 1)
        let none = try pair.member.answer(["circle", "history", "Ada", "--search", "nine"]).json
        #expect((none["thoughts"] as? [[String: Any]])?.isEmpty == true)
        #expect(try pair.member.runar(["circle", "history", "Ada"]).output.contains("Ada: see you at eight"))
        #expect(conversation.end(by: SIGINT) == 0)
        try pair.end()
    }

    @Test func `the profile has a DID and a handle, which stay until they are removed`() throws {
        let pair = try ConnectedPair()
        let did = "did:key:zDnaerx9CtbPJ1q36T5Ln5wYt3MQYeGRG5ehnPAmxcf5mDZpv"
        let profile = ["circle", "profile", "Ada"]
        let set = try pair.owner.answer(profile + ["--did", did, "--handle", "Ada.arkavo.social"])
        #expect(try set.text("did") == did)
        #expect(try set.text("handle") == "ada.arkavo.social")
        #expect(try pair.owner.answer(profile).text("did") == did)
        let foreign = "did:key:z6MkhaXgBZDvotDkL5257faiztiGiC2QtKLGpbnnEGta2doK"
        let refused = try pair.owner.runar(profile + ["--did", foreign, "--json"])
        #expect(try refused.failure["code"] as? String == "bad-did")
        let nameless = try pair.owner.runar(profile + ["--handle", "ada", "--json"])
        #expect(try nameless.failure["code"] as? String == "bad-domain")
        let removed = try pair.owner.answer(profile + ["--did", "", "--handle", ""]).json
        #expect(removed["did"] == nil && removed["handle"] == nil)
        try pair.end()
    }

    @Test func `an image is sent, listed with its number, and saved as a new file only`() throws {
        let pair = try ConnectedPair()
        try Self.makeFriends(pair)
        let folder = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString)
        let inbox = folder.appending(path: "inbox")
        try FileManager.default.createDirectory(at: inbox, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }  // the system empties the folder for temporary files
        let content = Data((0..<196_608).map { UInt8(truncatingIfNeeded: $0) })
        let image = folder.appending(path: "holiday.png")
        try content.write(to: image)
        let follower = try RunningCommand(["circle", "follow", "Ada", "--json"], home: pair.member)
        _ = try follower.next("circle")
        let sent = try pair.owner.answer(["circle", "send", "Bob", image.path])
        #expect(try sent.text("mediaType") == "image")
        #expect(try sent.text("contentType") == "image/png")
        #expect(try sent.json["byteCount"] as? Int == content.count)
        let thought = try follower.next("thought")
        let number = try #require(thought["number"] as? Int)
        let history = try pair.member.runar(["circle", "history", "Ada"]).output
        #expect(history.contains("Ada: [image holiday.png, 192.0 KiB], thought \(number)"), "\(history)")

        let copy = folder.appending(path: "copy.png")
        _ = try pair.member.answer(["circle", "save", "Ada", "\(number)", copy.path])
        #expect(try Data(contentsOf: copy) == content)
        try Data("mine".utf8).write(to: copy)
        let taken = try pair.member.runar(["circle", "save", "Ada", "\(number)", copy.path, "--json"])
        #expect(taken.status == 73)
        #expect(try taken.failure["code"] as? String == "exists")
        #expect(try Data(contentsOf: copy) == Data("mine".utf8))
        let id = try #require(thought["thoughtId"] as? String)
        let saved = try pair.member.answer(["circle", "save", "Ada", id, inbox.path])
        #expect(try saved.text("path").hasSuffix("/inbox/holiday.png"))
        #expect(try FileManager.default.contentsOfDirectory(atPath: inbox.path) == ["holiday.png"])
        let missing = try pair.member.runar(["circle", "save", "Ada", "999999", inbox.path, "--json"])
        #expect(try missing.failure["code"] as? String == "no-such-thought")
        #expect(follower.end(by: SIGINT) == 0)
        try pair.end()
    }

    @Test func `a file that no thought carries is refused before it is sent`() throws {
        let home = try TemporaryDataDirectory()
        try home.makeNode()
        let large = try home.file("large.png", String(repeating: "x", count: 196_609))
        let empty = try home.file("empty.wav", "")
        let files = try ["notes.pdf", "drawing.svg", "plain"].map { try home.file($0, "text") }
        defer {
            let all = files + [large, empty]
            for file in all { try? FileManager.default.removeItem(atPath: file) }  // temporary anyway
        }
        let codes = try (files + [large, empty, home.path + "-none.png"]).map { file in
            try home.runar(["circle", "send", "Bob", file, "--json"]).failure["code"] as? String
        }
        #expect(
            codes == [
                "unsupported-type", "unsupported-type", "unsupported-type", "too-large", "no-content", "no-file",
            ]
        )
        let refused = try home.runar(["circle", "send", "Bob", files[0]])
        for words in ["application/pdf", "image (png, jpg", "audio (mp3", "video (mp4", "runar send PEER --file PATH"] {
            #expect(refused.errors.contains(words), "\(refused.errors)")
        }
    }

    private static let names: [(received: String?, stored: String)] = [
        ("holiday.png", "holiday.png"), ("../../.ssh/keys", "keys"), ("C:\\.profile", "profile"), (nil, "image"),
    ]

    @Test(arguments: names) func `a name that was received is reduced`(_ name: String?, _ stored: String) throws {
        let fileName = try name.map { "\"fileName\":\(String(decoding: try JSONEncoder().encode($0), as: UTF8.self))," }
        let json = "{\"thoughtId\":\"t\",\"mediaType\":\"image\",\(fileName ?? "")\"byteCount\":1,\"base64\":\"AA==\"}"
        let report = try JSONDecoder().decode(ThoughtContentReport.self, from: Data(json.utf8))
        #expect(report.storedName == stored)
        #expect(try report.content == [0])
    }

    @Test func `a thought waits for a person whose node is stopped`() throws {
        let pair = try ConnectedPair()
        try Self.makeFriends(pair)
        _ = try pair.member.answer(["stop"])
        let said = try pair.owner.answer(["circle", "say", "Bob", "for later"])
        #expect(try ["waiting", "stored"].contains(said.text("state")))
        let follower = try RunningCommand(["circle", "follow", "Bob", "--json"], home: pair.owner)
        _ = try follower.next("circle")
        let node = try RunningCommand(["up", "--json"], home: pair.member)
        let address = try #require((node.next("ready")["addresses"] as? [String])?.first)
        let place = try pair.member.answer(["network", "address", "--address", address]).text("text")
        _ = try pair.owner.answer(["connect", place])
        while try follower.next("thought")["state"] as? String != "delivered" {}
        #expect(try pair.member.runar(["circle", "history", "Ada"]).output.contains("Ada: for later"))
        #expect(follower.end(by: SIGINT) == 0)
        try pair.end()
    }

    @Test func `a request of an ignored device is refused`() throws {
        let pair = try ConnectedPair()
        for (home, name) in [(pair.owner, "Ada"), (pair.member, "Bob")] {
            _ = try home.answer(["circle", "profile", name])
        }
        let device = try pair.owner.answer(["status"]).text("peerId")
        _ = try pair.member.answer(["circle", "add", device])
        #expect(try Self.person(pair.owner)["trust"] as? String == "requested")
        _ = try pair.owner.answer(["circle", "decline", "Bob", "--ignore-devices"])
        _ = try pair.member.answer(["circle", "add", device])
        #expect(try (pair.owner.answer(["circle", "list"]).json["people"] as? [Any])?.isEmpty == true)
        try pair.end()
    }

    @Test func `revoked trust ends where it was revoked, and returns when that person accepts again`() throws {
        let pair = try ConnectedPair()
        try Self.makeFriends(pair)
        let revoked = try pair.owner.answer(["circle", "revoke", "Bob", "--yes"])
        #expect(try revoked.text("trust") == "revoked")
        let refused = try pair.owner.runar(["circle", "say", "Bob", "hello", "--json"])
        #expect(refused.status == 77)
        #expect(try refused.failure["code"] as? String == "not-trusted")
        let supply = try pair.owner.answer(["keys", "supply"]).json["relationships"] as? [[String: Any]]
        #expect(supply?.isEmpty == true)
        let peers = try pair.owner.answer(["peers"]).json["peers"] as? [[String: Any]]
        #expect(peers?.isEmpty == true)
        let banned = try pair.owner.runar(["send", "phone", "hello", "--json"])
        #expect(banned.status == 77)
        #expect(try banned.failure["code"] as? String == "banned")
        // Bob still trusts, so his device consents without a question.
        let again = try pair.owner.answer(["circle", "accept", "Bob"])
        #expect(try ["invited", "trusted"].contains(again.text("trust")))
        let follower = try RunningCommand(["circle", "follow", "Ada", "--json"], home: pair.member)
        _ = try follower.next("circle")
        while try Self.person(pair.owner)["trust"] as? String != "trusted" {}
        _ = try pair.owner.answer(["circle", "say", "Bob", "again"])
        #expect(try follower.next("thought")["text"] as? String == "again")
        #expect(follower.end(by: SIGINT) == 0)
        try pair.end()
    }

    @Test func `a card adds a person whose device comes later, and a damaged one is refused`() throws {
        let pair = try ConnectedPair()
        _ = try pair.owner.answer(["circle", "profile", "Ada"])
        _ = try pair.member.answer(["circle", "profile", "Bob"])
        let card = try pair.member.answer(["circle", "card"]).text("text")
        let own = try pair.member.runar(["circle", "add", card, "--json"])
        #expect(try own.failure["code"] as? String == "own-card")
        let damaged = try pair.owner.runar(["circle", "add", String(card.dropLast(4)), "--json"])
        #expect(try damaged.failure["code"] as? String == "bad-card")
        let image = FileManager.default.temporaryDirectory.appending(path: "\(UUID().uuidString).png")
        _ = try pair.owner.answer(["qr", "show", card, "--output", image.path])
        let invited = try pair.owner.answer(["circle", "add", "--picture", image.path])
        #expect(try invited.text("name") == "Bob")
        #expect(try invited.text("trust") == "invited")
        try FileManager.default.removeItem(at: image)
        #expect(try pair.member.answer(["circle", "accept", "Ada"]).text("trust") == "trusted")
        let unknown = try pair.owner.runar(["circle", "say", "Carol", "hello", "--json"])
        #expect(try unknown.failure["code"] as? String == "no-such-conversation")
        try pair.end()
    }

    @Test func `homes are chosen by label, listed, and removed`() throws {
        let pair = try ConnectedPair()
        func homes(_ arguments: String...) throws -> [[String: Any]] {
            let homes = try pair.owner.answer(["circle", "homes"] + arguments).json["homes"] as? [[String: Any]]
            return try #require(homes)
        }
        func refusal(_ peers: String...) throws -> String? {
            try pair.owner.runar(["circle", "homes"] + peers + ["--json"]).failure["code"] as? String
        }
        #expect(try refusal("phone") == "no-profile")
        #expect(try homes().isEmpty)
        _ = try pair.owner.answer(["circle", "profile", "Ada"])
        #expect(try refusal("tablet") == "no-such-peer")
        #expect(try refusal("phone", "phone") == "repeated-home")
        #expect(try refusal("phone", "a", "b", "c", "d") == "too-large")
        #expect(try pair.owner.runar(["circle", "homes", "phone", "--none"]).status == 64)
        let chosen = try #require(try homes("phone").first)
        #expect(chosen["label"] as? String == "phone" && chosen["local"] as? Bool == false)
        let listed = try homes()
        #expect(listed.count == 1 && listed.first?["peerId"] as? String == chosen["peerId"] as? String)
        #expect(try pair.owner.runar(["circle", "list"]).output.contains("(phone), connected"))
        #expect(try homes("--none").isEmpty)
        #expect(try pair.owner.runar(["circle", "homes"]).output.contains("the nearest members hold your mail"))
        try pair.end()
    }

    private static func streams(_ home: TemporaryDataDirectory, named name: String) throws -> [[String: Any]] {
        let streams = try home.answer(["circle", "list"]).json["streams"] as? [[String: Any]]
        return try #require(streams).filter { $0["name"] as? String == name }
    }

    @Test func `a group is made, joined, used and left by two nodes`() throws {
        let pair = try ConnectedPair()
        try Self.makeFriends(pair)
        let made = try pair.owner.answer(["circle", "stream", "make", "Trip", "--blurb", "to the harbour"])
        #expect(try made.text("posting") == "members")
        let id = try made.text("streamId")
        let follower = try RunningCommand(["circle", "follow", "Trip", "--json"], home: pair.owner)
        _ = try follower.next("circle")
        let some = try pair.owner.runar(["circle", "stream", "invite", "Trip", "Bob", "Nemo", "--json"])
        #expect(some.status != 0)
        #expect(try (some.failure["message"] as? String)?.hasSuffix("invited before: Bob") == true)
        let invited = try pair.owner.answer(["circle", "stream", "invite", "Trip", "Bob", "Bob"]).json
        let members = invited["members"] as? [[String: Any]]
        #expect(members?.first?["joined"] as? Bool == false)
        while try Self.streams(pair.member, named: "Trip").isEmpty {}
        let early = try pair.member.runar(["circle", "say", "Trip", "too early", "--json"])
        #expect(try early.failure["code"] as? String == "not-joined")
        #expect(try pair.member.runar(["circle", "list"]).output.contains("runar circle stream join"))
        #expect(try pair.member.answer(["circle", "stream", "join", "Trip"]).text("participation") == "joined")
        func hasJoined() throws -> Bool {
            let members = try Self.streams(pair.owner, named: "Trip").first?["members"] as? [[String: Any]]
            return members?.first?["joined"] as? Bool == true
        }
        while try !hasJoined() {}
        _ = try pair.member.answer(["circle", "say", String(id.prefix(6)), "by boat"])
        let thought = try follower.next("thought")
        #expect(thought["creator"] as? String == "Bob")
        #expect(thought["conversationId"] as? String == id)
        let history = try pair.owner.runar(["circle", "history", "Trip", "--search", "BOAT"]).output
        #expect(history.contains("Bob: by boat"), "\(history)")
        #expect(follower.end(by: SIGINT) == 0)
        #expect(try pair.member.answer(["circle", "stream", "leave", "Trip"]).text("participation") == "left")
        _ = try pair.owner.answer(["circle", "stream", "delete", "Trip", "--yes"])
        #expect(try Self.streams(pair.owner, named: "Trip").isEmpty)
        let gone = try pair.owner.runar(["circle", "stream", "join", "Trip", "--json"])
        #expect(try gone.failure["code"] as? String == "no-such-stream")
        try pair.end()
    }

    @Test func `a name of a person and a stream is refused with both ids, and a blocked person is listed`() throws {
        let pair = try ConnectedPair()
        try Self.makeFriends(pair)
        let stream = try pair.owner.answer(["circle", "stream", "make", "Bob", "--only-me"]).text("streamId")
        let person = try #require(try Self.person(pair.owner)["personId"] as? String)
        let ambiguous = try pair.owner.runar(["circle", "say", "Bob", "hello", "--json"]).failure
        #expect(ambiguous["code"] as? String == "ambiguous-conversation")
        let message = try #require(ambiguous["message"] as? String)
        #expect(message.contains(stream) && message.contains(person), "\(message)")
        #expect(try pair.owner.runar(["circle", "block", "Bob", "--reason", "insults"]).status == 64)
        let circle = try pair.owner.answer(["circle", "block", "Bob", "--reason", "insults=4"]).json
        let blocked = circle["blocked"] as? [[String: Any]]
        let reasons = blocked?.first?["reasons"] as? [String: Any]
        #expect(reasons?["insults"] as? Int == 4)
        #expect(try Self.person(pair.owner)["trust"] as? String == "revoked")
        let device = try pair.owner.runar(["circle", "device", "expect", pair.memberId, "--yes", "--json"])
        #expect(try device.failure["code"] as? String == "has-circle")
        let lifted = try pair.owner.answer(["circle", "unblock", "Bob"]).json
        #expect((lifted["blocked"] as? [Any])?.isEmpty == true && (lifted["people"] as? [Any])?.isEmpty == true)
        try pair.end()
    }
}
