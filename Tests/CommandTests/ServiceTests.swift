internal import Foundation
internal import TestSupport
internal import Testing

/// Services that one member offers as commands and another one asks, with nodes that find each other on loopback.
@Suite("Services", .aside, .timeLimit(.minutes(15))) struct ServiceTests {
    private let pair: DiscoveringPair

    init() throws {
        pair = try DiscoveringPair()
    }

    @Test func `a service ends with a failure when the node stops`() throws {
        try pair.start(.owner)
        let server = try RunningCommand(["serve", "--json", "lamp", "on=true"], home: pair.owner)
        _ = try server.next("serving")
        _ = try pair.owner.answer(["stop"])
        let outcome = try server.outcome()
        #expect(outcome.status == 69)
        #expect(try outcome.lastFailureCode == "node-gone")
    }

    /// Offers a service on one device, and waits until the other one has heard of it, if it runs.
    ///
    /// - Returns: the running command, and the other device's list with the service; empty if that one does not run.
    private func server(
        _ words: [String],
        home: TemporaryDataDirectory
    ) throws -> (command: RunningCommand, listed: String) {
        let server = try RunningCommand(["serve", "--json"] + words, home: home)
        _ = try server.next("serving")
        guard pair.ownerNode != nil, pair.phoneNode != nil else { return (server, "") }
        let other = home === pair.owner ? pair.phone : pair.owner
        var listed = ""
        while !listed.contains("\(words[0])  ") { listed = try other.runar(["services"]).output }
        return (server, listed)
    }

    @Test func `a node that gets SIGTERM finishes the pending requests`() async throws {
        try pair.startBoth()
        let (owner, begun) = (pair.owner, try NamedPipe(path: pair.phone.path + "-begun"))
        let action = "wait=echo begun > '\(begun.path)'; sleep 2; echo done"
        let (server, listed) = try self.server(["slow", action], home: pair.phone)
        #expect(listed.contains("slow/wait"))
        async let answer = aside { try owner.runar(["call", "slow/wait"]) }
        #expect(try await begun.nextLine() == "begun")
        #expect(pair.phoneNode?.end(by: SIGTERM) == 0)
        let outcome = try await answer
        #expect(outcome.status == 0 && outcome.output.contains("done"), "\(outcome.output)\(outcome.errors)")
        _ = server.end(by: SIGINT)
    }

    @Test func `a client calls the commands of a service and reads their output`() throws {
        try pair.startBoth()
        let actions = ["read=echo 21.5", "echo=cat", "who=printf %s \"$RUNAR_PEER $RUNAR_PATH\"", "burn=exit 3"]
        let (server, listed) = try self.server(["thermometer"] + actions, home: pair.owner)

        #expect(listed.components(separatedBy: "thermometer  ").count == 2, "offered once: \(listed)")
        let own = try pair.owner.runar(["services"]).output
        #expect(own.hasPrefix("thermometer  this device  running  1.0.0\n"))
        #expect(own.components(separatedBy: "thermometer  ").count == 2, "offered once: \(own)")
        #expect(listed.contains("    thermometer/burn\n"))
        #expect(!listed.contains("$registry"))
        #expect(!listed.contains("this device"))

        #expect(try pair.phone.runar(["call", "thermometer/read"]).output == "21.5\n")
        let answered = try server.next("answered")
        #expect(answered["path"] as? String == "thermometer/read")
        #expect(answered["peerId"] as? String == pair.phoneId)
        #expect(answered["failure"] as? String == nil)

        let text = "{\"a\": [1, \"zwei\"]}"
        let echo = try pair.phone.answer(["call", "Pair:thermometer/echo", text]).json
        #expect((echo["result"] as? [String: Any])?["a"] as? [AnyHashable] == [1, "zwei"])
        #expect(echo["text"] as? String == text)
        let large = "\"" + String(repeating: "x", count: 200_000) + "\""
        #expect(try pair.phone.runar(["call", "thermometer/echo", "-"], input: large).output == large + "\n")
        let who = try pair.phone.answer(["call", "thermometer/who"]).json["result"] as? String
        #expect(who?.hasSuffix(" thermometer/who") == true)

        let burnt = try pair.phone.runar(["call", "thermometer/burn", "--json"])
        #expect(burnt.status == 70)
        #expect(try burnt.failure["code"] as? String == "handler-failed")
        #expect(try (burnt.failure["message"] as? String)?.contains("ended with 3") == true)
        // The device that offers it asks itself.
        #expect(try pair.owner.runar(["call", "thermometer/read"]).output == "21.5\n")
        #expect(server.end(by: SIGINT) == 0)
        // The node notices that the connection of the command was closed.
        var gone = try pair.owner.runar(["call", "thermometer/read", "--json"])
        while try gone.failure["code"] as? String == "service-not-running" {
            gone = try pair.owner.runar(["call", "thermometer/read", "--json"])
        }
        #expect(gone.status == 69)
        #expect(try gone.failure["code"] as? String == "no-service")
    }

    @Test func `failed calls have distinct codes, and a timeout ends the command`() throws {
        try pair.startBoth()
        let (begun, ended) = (pair.owner.path + "-begun", pair.owner.path + "-ended")
        let slow = "trap 'echo > \(ended); exit 1' TERM; echo > \(begun); while :; do sleep 0.1; done"
        let (server, _) = try self.server(["lamp", "slow=\(slow)", "on=true"], home: pair.owner)
        for (words, code, status) in [
            (["lamp/off"], "no-action", 66), (["radio/on"], "no-service", 69), (["lamp"], "bad-path", 64),
            (["lamp/*"], "bad-path", 64), (["lamp/on", "on"], "bad-payload", 64),
            (["lamp/on", "--timeout", "soon"], "bad-duration", 64),
        ] {
            let failed = try pair.phone.runar(["call", "--json"] + words)
            #expect(failed.status == Int32(status), "\(words)")
            #expect(try failed.failure["code"] as? String == code, "\(words)")
        }
        let files = FileManager.default
        var seconds = 5
        // A shorter time limit may pass before the command begins.
        repeat {
            let late = try pair.phone.runar(["call", "--json", "lamp/slow", "--timeout", "\(seconds)s"])
            #expect(late.status == 75)
            #expect(try late.failure["code"] as? String == "deadline")
            seconds *= 2
        } while !files.fileExists(atPath: begun)
        // A request that arrived too late began no command: its line, if there is one, comes without an end.
        repeat {
            let answered = try server.next("answered")
            #expect(answered["path"] as? String == "lamp/slow")
            #expect(answered["failure"] as? String == "the caller no longer waits")
        } while !files.fileExists(atPath: ended)
        let empty = try pair.phone.answer(["call", "lamp/on"]).json
        #expect(empty["result"] as? String == "")
        #expect(server.end(by: SIGTERM) == 0)
    }

    /// An action that reports its beginning and its end by `pipe`.
    private func slowAction(_ pipe: NamedPipe) -> String {
        // The second shell is not the one that is started, but belongs to its group.
        let command = "trap 'echo ended > \(pipe.path); exit' TERM; echo begun > \(pipe.path)"
        return "wait=sh -c \"\(command); while :; do sleep 0.05; done\"; true"
    }

    @Test func `a service that is interrupted fails open requests at once and ends their commands`() async throws {
        try pair.startBoth()
        for signal in [SIGTERM, SIGHUP] {
            let (owner, pipe) = (pair.owner, try NamedPipe(path: pair.phone.path + "-states"))
            // Calls of the first service fail before its path is free.
            let path = "slow\(signal)/wait"
            let (server, listed) = try self.server(["slow\(signal)", slowAction(pipe)], home: pair.phone)
            #expect(listed.contains(path))
            async let answer = aside { try owner.runar(["call", path, "--timeout", "10m", "--json"]) }
            #expect(try await pipe.nextLine() == "begun")
            #expect(try await aside { server.end(by: signal) } == 0)
            let failed = try await answer
            #expect(failed.status == 75, "\(failed.output)\(failed.errors)")
            #expect(try failed.failure["code"] as? String == "service-not-running")
            #expect(try await pipe.nextLine() == "ended")
        }
    }

    @Test(arguments: [SIGINT, SIGKILL])
    func `a call that ends before its answer ends the command of the provider`(signal: Int32) async throws {
        try pair.startBoth()
        let pipe = try NamedPipe(path: pair.phone.path + "-states")
        let (server, listed) = try self.server(["slow", slowAction(pipe)], home: pair.phone)
        #expect(listed.contains("slow/wait"))
        let call = try RunningCommand(["call", "slow/wait", "--timeout", "10m"], home: pair.owner)
        #expect(try await pipe.nextLine() == "begun")
        #expect(call.end(by: signal) == -signal)
        #expect(try await pipe.nextLine() == "ended")
        #expect(try server.next("answered")["failure"] as? String == "the caller no longer waits")
    }

    @Test func `a command of a service answers with text up to 1 MiB, and with nothing else`() throws {
        try pair.start(.owner)
        let actions = [
            "bytes=printf '\\377\\376'", "endless=cat /dev/zero", "much=head -c 1048576 /dev/zero | tr '\\0' x",
            "more=head -c 1048577 /dev/zero | tr '\\0' x", "background=sleep 600 & echo $!",
        ]
        let (server, _) = try self.server(["tool"] + actions, home: pair.owner)
        for (action, reason) in [("bytes", "UTF-8"), ("endless", "1048576"), ("more", "1048576")] {
            let failed = try pair.owner.runar(["call", "tool/\(action)", "--json"])
            #expect(failed.status == 70)
            #expect(try (failed.failure["message"] as? String)?.contains(reason) == true, "\(failed.output)")
        }
        #expect(try pair.owner.runar(["call", "tool/much"]).output.utf8.count == (1 << 20) + "\"\"\n".utf8.count)
        let process = try pair.owner.answer(["call", "tool/background"]).json["result"] as? Int32
        #expect(kill(try #require(process), SIGKILL) == 0, "it goes on")
        #expect(server.end(by: SIGINT) == 0)
    }

    @Test func `an invalid service is refused before it is offered`() throws {
        try pair.start(.owner)
        for words in [["lamp"], ["lamp", "on"], ["lamp", "=true"], ["a/b", "on=true"], ["$registry", "on=true"]] {
            let refused = try pair.owner.runar(["serve", "--json"] + words)
            #expect(refused.status == 64, "\(words)")
        }
        let (first, _) = try server(["lamp", "on=true"], home: pair.owner)
        let second = try pair.owner.runar(["serve", "lamp", "on=true", "--json"])
        #expect(second.status == 64)
        #expect(try (second.failure["message"] as? String)?.contains("offers a service with this path already") == true)
        #expect(first.end(by: SIGINT) == 0)
    }
}
