internal import Foundation
internal import TestSupport
internal import Testing

/// `runar keys renew-device` with real homes.
@Suite("A renewed key", .aside, .timeLimit(.minutes(15))) struct KeyRenewalTests {
    private let (laptop, phone): (TemporaryDataDirectory, TemporaryDataDirectory)
    private let home: String
    private let old: String

    /// A phone that owns a network itself, and is a member of the laptop's.
    init() throws {
        (laptop, phone) = (try TemporaryDataDirectory(), try TemporaryDataDirectory())
        try laptop.makeNode()
        old = try phone.makeNode()
        home = try laptop.answer(["network", "create", "Home"]).text("networkId")
        _ = try phone.answer(["network", "create", "Mine"])
        try admit(old)
    }

    private func admit(_ peer: String) throws {
        let token = try laptop.answer(["network", "issue", peer, "--expires", "never"]).text("text")
        let text = try laptop.answer(["network", "show"]).text("text")
        _ = try phone.answer(["join"], input: text + "\n" + token)
    }

    /// The phone's part in its networks, by their names.
    private func roles() throws -> [String: String] {
        let found = try #require(try phone.answer(["network", "list"]).json["networks"] as? [[String: Any]])
        return Dictionary(
            uniqueKeysWithValues: try found.map {
                (try #require($0["name"] as? String), try #require($0["role"] as? String))
            }
        )
    }

    @Test func `a revoked device comes back with a new key, and its own networks stay`() throws {
        #expect(try roles() == ["Home": "member", "Mine": "owner"])
        _ = try laptop.answer(["network", "revoke", old, "--yes"])
        let refused = try laptop.runar(["network", "issue", old, "--json"])
        #expect(try (refused.failure["message"] as? String)?.contains("runar keys renew-device") == true)
        let root = try phone.answer(["keys", "export", "root"]).text("publicKey")
        let renewal = try phone.answer(["keys", "renew-device", "--yes"])
        let new = try renewal.text("peerId")
        #expect(try renewal.text("formerPeerId") == old && new != old)
        #expect(try renewal.json["ended"] as? [String] == [home])
        #expect(try phone.answer(["status"]).text("peerId") == new)
        #expect(try phone.answer(["keys", "export", "peer"]).text("peerId") == new)
        #expect(try phone.answer(["keys", "export", "root"]).text("publicKey") == root)
        #expect(try roles() == ["Home": "none", "Mine": "owner"])
        try admit(new)
        #expect(try roles() == ["Home": "member", "Mine": "owner"])
    }

    @Test func `a running node goes on with the new key`() throws {
        let node = try RunningCommand(["up", "--json"], home: phone)
        _ = try node.next("ready")
        let renewal = try phone.answer(["keys", "renew-device", "--yes"])
        let new = try renewal.text("peerId")
        let pools = try FileManager.default.contentsOfDirectory(atPath: phone.path + "/one-time-keys")
        #expect(try pools == [renewal.text("peerIdText")])
        let status = try phone.answer(["status"])
        #expect(try status.text("peerId") == new && status.json["running"] as? Bool == true)
        #expect(node.end(by: SIGTERM) == 0)
        #expect(try phone.answer(["status"]).text("peerId") == new)
    }

    @Test func `without a terminal the question wants its flag`() throws {
        let refused = try phone.runar(["keys", "renew-device", "--json"])
        #expect(refused.status != 0)
        #expect(try (refused.failure["message"] as? String)?.contains("--yes") == true)
        #expect(try phone.answer(["status"]).text("peerId") == old)
    }
}
