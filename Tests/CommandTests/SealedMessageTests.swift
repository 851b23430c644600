internal import Foundation
internal import TestSupport
internal import Testing

@Suite("Sealed messages", .aside, .timeLimit(.minutes(15))) struct SealedMessageTests {
    @Test func `keys are exchanged and compared, and a sealed message arrives once`() throws {
        let pair = try ConnectedPair()
        let early = try pair.owner.runar(["send", "phone", "hello", "--sealed", "--json"])
        #expect(early.status == 66)
        #expect(try early.failure["code"] as? String == "no-one-time-keys")

        let exchanged = try pair.owner.answer(["keys", "exchange", "phone"])
        let number = try exchanged.text("safetyNumber")
        #expect(try exchanged.text("state") == "completed")
        let wrong = try pair.member.runar(["keys", "verify", pair.ownerId, String(repeating: "1", count: 60), "--json"])
        #expect(wrong.status == 65)
        #expect(try wrong.failure["code"] as? String == "wrong-safety-number")
        let short = try pair.member.runar(["keys", "verify", pair.ownerId, "12345", "--json"])
        #expect(try short.failure["code"] as? String == "bad-safety-number")
        let verified = try pair.member.answer(
            ["keys", "verify", pair.ownerId] + number.split(separator: " ").map(String.init)
        )
        #expect(try verified.json["verified"] as? Bool == true)
        let image = FileManager.default.temporaryDirectory.appending(path: "\(UUID().uuidString).png")
        _ = try pair.owner.answer(["qr", "show", number, "--output", image.path])
        let read = try pair.owner.answer(["keys", "verify", "phone", "--picture", image.path])
        #expect(try read.json["verified"] as? Bool == true)
        try FileManager.default.removeItem(at: image)

        let unheard = try pair.owner.runar(["send", "phone", "hello", "--sealed", "--json"])
        #expect(unheard.status == 69)
        #expect(try (unheard.failure["message"] as? String)?.contains("start a listener there") == true)
        let listener = try RunningCommand(["listen", "--json"], home: pair.member)
        _ = try listener.next("listening")
        _ = try pair.owner.answer(["send", "phone", "see you at eight", "--sealed"])
        let message = try listener.next("message")
        #expect(message["text"] as? String == "see you at eight")
        #expect(message["sealed"] as? Bool == true)
        #expect(message["peerId"] as? String == pair.ownerId)

        let supply = try pair.owner.answer(["keys", "supply"]).json["relationships"] as? [[String: Any]]
        let keys = try #require(supply?.first)
        let capacity = try #require(keys["suite"] as? String) == "X-Wing" ? 1_024 : 8_192
        #expect(keys["sendingKeys"] as? Int == capacity - 2)
        #expect(keys["receivingKeys"] as? Int == capacity)
        #expect(try pair.owner.runar(["keys", "supply"]).output.contains("safety number  \(number.prefix(35))"))
        #expect(listener.end(by: SIGINT) == 0)
        try pair.end()
    }

    @Test func `a node that is killed uses no key twice, and goes on with its keys`() throws {
        let pair = try ConnectedPair()
        _ = try pair.owner.answer(["keys", "exchange", "phone"])
        let listener = try RunningCommand(["listen", "--json"], home: pair.member)
        _ = try listener.next("listening")
        _ = try pair.owner.answer(["send", "phone", "first", "--sealed"])
        #expect(try listener.next("message")["text"] as? String == "first")
        #expect(pair.nodes[0].end(by: SIGKILL) == -SIGKILL)
        _ = try pair.member.answer(["stop"])
        let again = try ["owner": pair.owner, "member": pair.member].mapValues { home in
            let node = try RunningCommand(["up", "--json"], home: home)
            return (node, try #require((node.next("ready")["addresses"] as? [String])?.first))
        }
        let (node, address) = try #require(again["owner"])
        let place = try pair.owner.answer(["network", "address", "--address", address]).text("text")
        _ = try pair.member.answer(["connect", place])
        _ = try node.next("peerJoined")
        let laterListener = try RunningCommand(["listen", "--json"], home: pair.member)
        _ = try laterListener.next("listening")
        _ = try pair.owner.answer(["send", "phone", "second", "--sealed"])
        #expect(try laterListener.next("message")["text"] as? String == "second")
        let supply = try pair.owner.answer(["keys", "supply"]).json["relationships"] as? [[String: Any]]
        let keys = try #require(supply?.first)
        let capacity = try #require(keys["suite"] as? String) == "X-Wing" ? 1_024 : 8_192
        #expect(keys["sendingKeys"] as? Int == capacity - 17)
        let forgotten = try pair.owner.answer(["keys", "forget", "phone"])
        #expect(try forgotten.json["done"] as? Bool == true)
        let directory = try pair.owner.path + "/one-time-keys/" + pair.owner.text(of: pair.ownerId)
        #expect(try FileManager.default.contentsOfDirectory(atPath: directory).isEmpty)
        try pair.end()
    }
}
