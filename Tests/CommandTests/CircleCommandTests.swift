internal import Foundation
internal import TestSupport
internal import Testing

@Suite("Circle commands", .timeLimit(.minutes(15))) struct CircleCommandTests {
    /// Two people who trust each other.
    static func makeFriends(_ pair: ConnectedPair) throws {
        _ = try pair.owner.answer(["circle", "profile", "Ada"])
        _ = try pair.member.answer(["circle", "profile", "Bob", "--blurb", "on the road"])
        _ = try pair.owner.answer(["circle", "add", "phone"])
        let accepted = try pair.member.answer(["circle", "accept", "Ada"])
        #expect(try accepted.text("trust") == "trusted")
    }

    private static func person(_ home: TemporaryHome) throws -> [String: Any] {
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

    @Test func `revoked trust is gone on both sides, and comes back only by consent`() throws {
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
        // Bob never took his consent back.
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
        let picture = FileManager.default.temporaryDirectory.appending(path: "\(UUID().uuidString).png")
        _ = try pair.owner.answer(["qr", "show", card, "--output", picture.path])
        let invited = try pair.owner.answer(["circle", "add", "--picture", picture.path])
        #expect(try invited.text("name") == "Bob")
        #expect(try invited.text("trust") == "invited")
        try FileManager.default.removeItem(at: picture)
        #expect(try pair.member.answer(["circle", "accept", "Ada"]).text("trust") == "trusted")
        let stranger = try pair.owner.runar(["circle", "say", "Carol", "hello", "--json"])
        #expect(try stranger.failure["code"] as? String == "no-such-person")
        try pair.end()
    }
}
