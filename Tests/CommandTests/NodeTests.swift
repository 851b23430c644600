internal import Foundation
internal import TestSupport
internal import Testing

@Suite("A running node", .aside) struct NodeTests {
    @Test func `a node serves commands, refuses a second node and stops on request`() throws {
        let home = try TemporaryDataDirectory()
        let peer = try home.makeNode()
        let node = try RunningCommand(["up", "--json"], home: home)
        let ready = try node.next("ready")
        #expect(ready["peerId"] as? String == peer)
        #expect(ready["processId"] as? Int32 == node.id)

        let status = try home.answer(["status"])
        #expect(try status.json["running"] as? Bool == true)
        #expect(try status.json["processId"] as? Int32 == node.id)
        #expect(try home.answer(["network", "create", "Here"]).text("role") == "owner")

        let second = try home.runar(["up", "--json"])
        #expect(second.status == 75)
        #expect(try (second.failure["message"] as? String)?.contains("process \(node.id)") == true)
        let reset = try home.runar(["reset", "--yes"])
        #expect(reset.status == 75)

        #expect(try home.answer(["stop"]).json["stopped"] as? Bool == true)
        #expect(node.end() == 0)
        #expect(try home.answer(["status"]).json["running"] as? Bool == false)
        #expect(try home.answer(["stop"]).json["stopped"] as? Bool == false)
    }

    @Test(arguments: [SIGINT, SIGTERM, SIGHUP]) func `a signal ends a node in order`(signal: Int32) throws {
        let home = try TemporaryDataDirectory()
        try home.makeNode()
        let node = try RunningCommand(["up", "--json"], home: home)
        _ = try node.next("ready")
        #expect(node.end(by: signal) == 0)
        #expect(!FileManager.default.fileExists(atPath: home.path + "/control.sock"))
    }

    @Test func `a killed node does not block the next one`() throws {
        let home = try TemporaryDataDirectory()
        try home.makeNode()
        let first = try RunningCommand(["up", "--json"], home: home)
        _ = try first.next("ready")
        #expect(first.end(by: SIGKILL) == -SIGKILL)
        let second = try RunningCommand(["up", "--json"], home: home)
        _ = try second.next("ready")
        #expect(second.end(by: SIGTERM) == 0)
    }

    @Test func `a background node is ready when the command returns`() throws {
        let home = try TemporaryDataDirectory()
        try home.makeNode()
        let started = try home.answer(["up", "--detach"])
        #expect(try started.json["running"] as? Bool == true)
        #expect(try home.runar(["up", "--detach", "--json"]).status == 75)
        #expect(try home.answer(["stop"]).json["stopped"] as? Bool == true)
    }

    @Test func `several clients are served concurrently, and one that leaves is released`() throws {
        let home = try TemporaryDataDirectory()
        try home.makeNode()
        let node = try RunningCommand(["up", "--json"], home: home)
        _ = try node.next("ready")
        let listeners = try (0..<3).map { _ in try RunningCommand(["listen", "--json"], home: home) }
        for listener in listeners { _ = try listener.next("listening") }
        #expect(try home.answer(["status"]).json["running"] as? Bool == true)
        for listener in listeners { #expect(listener.end(by: SIGINT) == 0) }
        #expect(try home.answer(["stop"]).json["stopped"] as? Bool == true)
        #expect(node.end() == 0)
    }

    @Test func `a listener without a node serves other commands until it ends`() throws {
        let home = try TemporaryDataDirectory()
        try home.makeNode()
        let listener = try RunningCommand(["listen", "--json"], home: home)
        _ = try listener.next("listening")
        #expect(try home.answer(["status"]).json["processId"] as? Int32 == listener.id)
        #expect(try home.answer(["network", "create", "Here"]).text("role") == "owner")
        let stop = try home.runar(["stop", "--json"])
        #expect(stop.status == 75)
        #expect(try stop.failure["code"] as? String == "passing-node")
        #expect(try home.runar(["up"]).status == 75)
        #expect(listener.end(by: SIGINT) == 0)
        #expect(try home.answer(["status"]).json["running"] as? Bool == false)
    }

    @Test func `settings that a running node does not apply are named`() throws {
        let home = try TemporaryDataDirectory()
        try home.makeNode()
        let node = try RunningCommand(["up", "--json"], home: home)
        _ = try node.next("ready")
        let outcome = try home.runar(["send", "--all", "hello", "--request-timeout", "1s", "--log-level", "info"])
        #expect(outcome.errors.contains("keeps its own settings, not --log-level, --request-timeout"))
    }

    @Test func `the settings of a background node keep their sources`() throws {
        let home = try TemporaryDataDirectory()
        try home.makeNode()
        let options = ["up", "--detach", "--request-timeout", "3s", "--json"]
        let started = try home.runar(options, environment: ["RUNAR_LOG_LEVEL": "info"])
        defer { _ = try? home.runar(["stop"]) }  // best effort
        let settings = try #require(try started.json["configuration"] as? [[String: Any]])
        let sources = Dictionary(uniqueKeysWithValues: settings.map { ("\($0["key"] ?? "")", "\($0["source"] ?? "")") })
        #expect(sources["requestTimeout"] == "flag")
        #expect(sources["logLevel"] == "environment")
        #expect(sources["keyFile"] == nil)
    }

    @Test func `the socket and the home are closed to others`() throws {
        let home = try TemporaryDataDirectory()
        try home.makeNode()
        let node = try RunningCommand(["up", "--json"], home: home)
        _ = try node.next("ready")
        for (file, mode) in [("", 0o700), ("/control.sock", 0o600), ("/vault", 0o600), ("/state.sqlite", 0o600)] {
            let attributes = try FileManager.default.attributesOfItem(atPath: home.path + file)
            #expect((attributes[.posixPermissions] as? NSNumber)?.intValue == mode, "\(file)")
        }
        #expect(node.end(by: SIGTERM) == 0)
    }

    @Test func `a message to all peers reports the peers that received it and those that did not`() throws {
        let owner = try TemporaryDataDirectory()
        try owner.makeNode()
        let text = try owner.answer(["network", "create", "Three"]).text("text")
        let node = try RunningCommand(["up", "--json"], home: owner)
        _ = try node.next("ready")
        let address = try owner.answer(["network", "address"]).text("text")
        var members: [(home: TemporaryDataDirectory, peerId: String, node: RunningCommand)] = []
        for _ in 0..<2 {
            let home = try TemporaryDataDirectory()
            let peerId = try home.makeNode()
            _ = try home.answer(["join", text, owner.answer(["network", "issue", peerId]).text("text")])
            let memberNode = try RunningCommand(["up", "--json"], home: home)
            _ = try memberNode.next("ready")
            _ = try home.answer(["connect", address])
            _ = try node.next("peerJoined")
            members.append((home, peerId, memberNode))
        }
        let listener = try RunningCommand(["listen", "--json"], home: members[0].home)
        _ = try listener.next("listening")

        let partly = try owner.runar(["send", "--all", "news", "--json"])
        #expect(partly.status == 69)
        #expect(try partly.json["peerIds"] as? [String] == [members[0].peerId])
        let failures = try #require(try partly.json["failures"] as? [[String: Any]])
        #expect(failures.map { $0["peerId"] as? String } == [members[1].peerId])
        #expect(failures.map { $0["code"] as? String } == ["no-listener"])
        #expect(try partly.failure["code"] as? String == "partly-delivered")
        #expect(try listener.next("message")["text"] as? String == "news")

        let shown = try owner.runar(["send", "--all", "again"])
        #expect(shown.output == "delivered to \(try owner.text(of: members[0].peerId))\n")
        #expect(shown.errors.contains("1 of 2 peers did not confirm the message"))
        #expect(shown.errors.contains("\(try owner.text(of: members[1].peerId)): no program listens"))

        #expect(listener.end(by: SIGINT) == 0)
        // The node notices that the connection of the listener was closed.
        var none = try owner.runar(["send", "--all", "alone", "--json"])
        while try none.failure["code"] as? String == "partly-delivered" {
            none = try owner.runar(["send", "--all", "alone", "--json"])
        }
        #expect(none.status == 69)
        #expect(try none.failure["code"] as? String == "not-delivered")

        let listeners = try members.map { try RunningCommand(["listen", "--json"], home: $0.home) }
        for listener in listeners { _ = try listener.next("listening") }
        let all = try owner.answer(["send", "--all", "everybody"])
        #expect(try (all.json["peerIds"] as? [Any])?.count == 2 && (all.json["failures"] as? [Any])?.isEmpty == true)
    }

    @Test func `a message is printed by the receiver's listener`() throws {
        let (owner, phone) = (try TemporaryDataDirectory(), try TemporaryDataDirectory())
        let (ownerId, phoneId) = (try owner.makeNode(), try phone.makeNode())
        let text = try owner.answer(["network", "create", "Pair"]).text("text")
        let token = try owner.answer(["network", "issue", phoneId]).text("text")
        _ = try phone.answer(["join", text, token])
        let node = try RunningCommand(["up", "--json"], home: owner)
        _ = try node.next("ready")
        let listener = try RunningCommand(["listen", "--json"], home: owner)
        _ = try listener.next("listening")
        let phoneNode = try RunningCommand(["up", "--json"], home: phone)
        _ = try phoneNode.next("ready")
        let address = try owner.answer(["network", "address"]).text("text")
        #expect(try phone.answer(["connect", address]).text("peerId") == ownerId)
        _ = try phone.answer(["send", ownerId, "hello"])
        let message = try listener.next("message")
        #expect(message["text"] as? String == "hello")
        #expect(message["peerId"] as? String == phoneId)
        #expect(try phone.runar(["send", ownerId, "-", "--json"], input: "from a pipe\n").status == 0)
        #expect(try listener.next("message")["text"] as? String == "from a pipe\n")
    }
}
