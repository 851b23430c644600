internal import Foundation
internal import TestSupport
internal import Testing

/// Two processes with one data directory and its copy, and a third device.
@Suite("A key that is used twice", .aside) struct KeyUsedTwiceTests {
    private func problems(_ home: TemporaryDataDirectory, _ peer: String...) throws -> [String] {
        let outcome = try home.runar(["doctor"] + peer + ["--json"])
        #expect(outcome.status == 69)
        let findings = try #require(try outcome.json["findings"] as? [[String: Any]])
        return findings.filter { $0["level"] as? String == "problem" }.compactMap { $0["code"] as? String }
    }

    @Test func `status and doctor of all three devices name a copied key`() throws {
        let (third, original, copy) =
            (try TemporaryDataDirectory(), try TemporaryDataDirectory(), try TemporaryDataDirectory())
        try third.makeNode()
        let peer = try original.makeNode()
        let text = try third.answer(["network", "create", "Home"]).text("text")
        let token = try third.answer(["network", "issue", peer, "--label", "phone"]).text("text")
        _ = try original.answer(["join", text, token])
        try FileManager.default.copyItem(atPath: original.path, toPath: copy.path)
        let nodes = try [third, original, copy].map { try RunningCommand(["up", "--json"], home: $0) }
        let ready = try nodes.map { try $0.next("ready") }
        let address = try #require((ready[0]["addresses"] as? [String])?.first)
        let place = try third.answer(["network", "address", "--address", address]).text("text")
        _ = try original.answer(["connect", place])
        // Each is displaced by the other before all of them notice it.
        _ = try copy.runar(["connect", place])
        for node in nodes { #expect(try node.next("deviceKeyUsedTwice")["peerId"] as? String == peer) }
        for home in [third, original, copy] {
            let status = try home.answer(["status"])
            let keys = try #require(try status.json["keysUsedTwice"] as? [[String: Any]])
            #expect(keys.map { $0["peerId"] as? String } == [peer])
            #expect(keys.map { $0["isOwn"] as? Bool } == [home !== third])
        }
        #expect(try problems(third).contains("peer-key-used-twice"))
        #expect(try problems(third, "phone").contains("peer-key-used-twice"))
        let output = try third.runar(["status"]).output
        #expect(output.contains("warning   the key of phone is used in two places (127.0.0.1:"))
        for home in [original, copy] {
            #expect(try problems(home).contains("key-used-twice"))
            #expect(try home.runar(["status"]).output.contains("warning   this device's key is used in two places"))
            #expect(try home.runar(["doctor"]).output.contains("runar keys renew-device"))
        }
        for home in [third, original, copy] { _ = try home.answer(["stop"]) }
    }
}
