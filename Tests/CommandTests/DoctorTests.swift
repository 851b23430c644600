internal import Foundation
internal import TestSupport
internal import Testing

@Suite("runar doctor", .aside) struct DoctorTests {
    private func codes(_ outcome: Outcome) throws -> [String] {
        let findings = try #require(try outcome.json["findings"] as? [[String: Any]])
        return findings.compactMap { $0["code"] as? String }
    }

    /// Runs the doctor, whose exit status is 0 if no problem was found.
    private func ask(_ home: TemporaryDataDirectory, _ peer: String...) throws -> Outcome {
        let outcome = try home.runar(["doctor"] + peer + ["--json"])
        let isHealthy = try outcome.json["healthy"] as? Bool == true
        #expect(outcome.status == (isHealthy ? 0 : 69))
        return outcome
    }

    @Test func `each step from an empty device to a running node is named`() throws {
        let home = try TemporaryDataDirectory()
        let empty = try ask(home)
        #expect(try codes(empty).contains("no-home") && empty.status == 69)
        try home.makeNode()
        let fresh = try codes(ask(home))
        #expect(fresh.contains("no-network") && fresh.contains("not-running"))
        _ = try home.answer(["network", "create", "Home"])
        let idle = try codes(ask(home, "phone"))
        #expect(idle.contains("member") && idle.contains("not-running") && idle.last == "peer-unknown")
        let node = try RunningCommand(["up", "--json"], home: home)
        _ = try node.next("ready")
        // The tests' nodes listen on the loopback interface.
        #expect(try codes(ask(home)).contains("loopback-only"))
        #expect(try home.runar(["doctor"]).output.contains("PROBLEM  the node listens on 127.0.0.1"))
    }

    @Test func `the history lists a silent address and one that answers`() throws {
        let (home, other) = (try TemporaryDataDirectory(), try TemporaryDataDirectory())
        try home.makeNode()
        let peer = try home.text(of: other.makeNode())
        let text = try home.answer(["network", "create", "Home"]).text("text")
        let token = try home.answer(["network", "issue", peer, "--label", "other"]).text("text")
        _ = try other.runar(["join"], input: text + "\n" + token)
        let node = try RunningCommand(["up", "--json"], home: home)
        _ = try node.next("ready")
        #expect(try codes(ask(home, "other")).last == "no-address")
        // No socket listens on this port of the loopback network.
        #expect(try home.runar(["connect", peer, "Home", "127.99.0.1:9"]).status != 0)
        let silent = try #require(try ask(home, "other").json["peer"] as? [String: Any])
        let steps = try #require(silent["history"] as? [[String: Any]])
        for event in ["dialled", "notReached"] {
            #expect(steps.contains { $0["event"] as? String == event && $0["address"] as? String == "127.99.0.1:9" })
        }
        let peerNode = try RunningCommand(["up", "--json"], home: other)
        let place = try #require((try peerNode.next("ready")["addresses"] as? [String])?.first)
        _ = try home.answer(["connect", peer, "Home", place])
        let outcome = try ask(home, "other")
        #expect(try codes(outcome).last == "peer-direct")
        let found = try #require(try outcome.json["peer"] as? [String: Any])
        let history = try #require(found["history"] as? [[String: Any]])
        #expect(history.contains { $0["event"] as? String == "reached" && $0["address"] as? String == place })
        // The attempts before it explain nothing that is wrong.
        #expect(try !home.runar(["doctor", "other"]).output.contains("last attempt to reach other:"))
    }

    @Test func `an unknown peer is an error`() throws {
        let home = try TemporaryDataDirectory()
        try home.makeNode()
        _ = try home.answer(["network", "create", "Home"])
        let node = try RunningCommand(["up", "--json"], home: home)
        _ = try node.next("ready")
        #expect(try home.runar(["doctor", "unknown"]).status == 65)
    }
}
