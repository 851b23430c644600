internal import Foundation
internal import Identity
internal import TestSupport
internal import Testing

/// Peers by the beginnings of their ids and by their labels.
@Suite("Names of peers", .aside) struct PeerNameTests {
    private let owner: TemporaryDataDirectory
    /// Two ids that share their first eight characters, and one of its own.
    private let twins: [PeerId]
    private let other: PeerId

    init() throws {
        owner = try TemporaryDataDirectory()
        try owner.makeNode()
        twins = try [1, 2].map { try PeerId(rawRepresentation: [UInt8](repeating: 0x5A, count: 31) + [$0]) }
        other = try PeerId(rawRepresentation: [UInt8](repeating: 0xC3, count: 32))
        _ = try owner.answer(["network", "create", "Home"])
    }

    private func issue(_ peer: PeerId, _ options: [String] = []) throws {
        _ = try owner.answer(["network", "issue", peer.base64Encoded] + options)
    }

    @Test func `a prefix of an id names a peer with a token`() throws {
        try issue(other)
        try issue(twins[0])
        let revoked = try owner.answer(["network", "revoke", String(other.text.prefix(4)).uppercased(), "--yes"])
        #expect(try revoked.text("peerId") == other.base64Encoded)
        let renewed = try owner.answer(["network", "issue", String(twins[0].text.prefix(8))])
        #expect(try renewed.text("peerId") == twins[0].base64Encoded)
    }

    @Test func `a shared prefix is refused with the candidates, and no peer is revoked`() throws {
        try issue(twins[0], ["--label", "old phone"])
        try issue(twins[1])
        let refused = try owner.runar(["network", "revoke", String(twins[0].text.prefix(8)), "--json", "--yes"])
        #expect(refused.status == 65)
        #expect(try refused.failure["code"] as? String == "ambiguous-peer")
        let message = try #require(try refused.failure["message"] as? String)
        for twin in twins { #expect(message.contains(twin.text.prefix(50))) }
        #expect(message.contains("(old phone)"))
        // The ids in the message are long enough to distinguish them.
        let words = message.split { " :,".contains($0) }
        let shown = try #require(words.first { twins[1].text.hasPrefix($0) && $0.count > 8 })
        #expect(
            try owner.answer(["network", "revoke", String(shown), "--yes"]).text("peerId") == twins[1].base64Encoded
        )
        _ = try owner.answer(["network", "issue", twins[0].base64Encoded])
    }

    @Test func `a label names its device, and after a revocation the successor`() throws {
        try issue(other, ["--label", "phone"])
        #expect(try owner.answer(["network", "revoke", "phone", "--yes"]).text("peerId") == other.base64Encoded)
        try issue(twins[0], ["--label", "phone"])
        #expect(try owner.answer(["network", "issue", "phone"]).text("peerId") == twins[0].base64Encoded)
        try issue(twins[1], ["--label", "phone"])
        let refused = try owner.runar(["send", "phone", "hello", "--json"])
        #expect(try refused.failure["code"] as? String == "ambiguous-peer")
    }

    @Test func `a revocation matches only peers of its network`() throws {
        _ = try owner.answer(["network", "create", "Office"])
        try issue(twins[0], ["--network", "Home"])
        try issue(twins[1], ["--network", "Office"])
        let begin = String(twins[0].text.prefix(6))
        let revoked = try owner.answer(["network", "revoke", begin, "--network", "Office", "--yes"])
        #expect(try revoked.text("peerId") == twins[1].base64Encoded)
        let unmatched = try owner.runar(["network", "revoke", begin, "--network", "Office", "--json", "--yes"])
        #expect(unmatched.status == 77)
        #expect(try (unmatched.failure["message"] as? String)?.contains("you revoked") == true)
    }

    @Test(arguments: [("zzzz", "runar peers --all"), ("ab", "names and ids"), ("", "runar peers --all")])
    func `an unknown name is refused with the place of the known names`(name: String, advice: String) throws {
        let refused = try owner.runar(["send", name, "hello", "--json"])
        #expect(refused.status == 65)
        #expect(try refused.failure["code"] as? String == "no-such-peer")
        #expect(try (refused.failure["message"] as? String)?.contains(advice) == true)
    }

    @Test func `a whole id with a wrong character is refused as such`() throws {
        let wrong = String(other.text.dropLast()) + (other.text.hasSuffix("a") ? "b" : "a")
        let refused = try owner.runar(["network", "issue", wrong, "--json"])
        #expect(refused.status == 65)
        #expect(try (refused.failure["message"] as? String)?.contains("compare it again") == true)
    }

    @Test func `all known peers are listed with their labels, and none is connected`() throws {
        try issue(other, ["--label", "phone"])
        try issue(twins[0])
        let list = try owner.answer(["peers", "--all"])
        let peers = try #require(try list.json["peers"] as? [[String: Any]])
        #expect(peers.map { $0["peerId"] as? String } == [twins[0], other].map(\.base64Encoded))
        #expect(peers.map { $0["label"] as? String } == [nil, "phone"])
        #expect(peers.allSatisfy { $0["connected"] as? Bool == false && $0["networkNames"] as? [String] == ["Home"] })
        let lines = try owner.runar(["peers", "--all"]).output.split(separator: "\n")
        #expect(lines.last == "phone  Home      never seen  -           -         \(other.text)")
        #expect(try (owner.answer(["peers"]).json["peers"] as? [Any])?.isEmpty == true)
    }

    @Test func `an invisible label is refused`() throws {
        let refused = try owner.runar(["network", "issue", other.text, "--label", "a\u{202E}b", "--json"])
        #expect(refused.status == 65)
        #expect(try (owner.answer(["peers", "--all"]).json["peers"] as? [Any])?.isEmpty == true)
    }
}
