internal import Foundation
internal import TestSupport
internal import Testing

/// The delivery of messages to a `runar listen` that is stopped or cannot write.
@Suite("Confirmed messages of listen", .aside, .timeLimit(.minutes(15))) struct ListenTests {
    @Test func `a stopped listener confirms nothing, and confirms again when it continues`() throws {
        // The console of the receiver keeps a copy of each message, which must not count.
        // The sender waits for the receiver's decision, however busy the machine is.
        let pair = try ConnectedPair(
            ownerEnvironment: ["RUNAR_CONSOLE": "0"],
            memberEnvironment: ["RUNAR_REQUEST_TIMEOUT": "60s"]
        )
        #expect(try pair.member.runar(["send", pair.ownerId, "kept", "--json"]).status == 0)
        let listener = try RunningCommand(["listen", "--json"], home: pair.owner)
        _ = try listener.next("listening")
        #expect(try pair.member.runar(["send", pair.ownerId, "first", "--json"]).status == 0)
        #expect(try listener.next("message")["text"] as? String == "first")

        kill(listener.id, SIGSTOP)
        let refused = try ["passed", "expired"].map { text in
            try RunningCommand(["send", pair.ownerId, text, "--json"], home: pair.member)
        }
        for command in refused {
            let outcome = try command.outcome()
            #expect(outcome.status == 75)
            #expect(try outcome.failure["code"] as? String == "receiver-busy")
        }
        let sending = try RunningCommand(["send", pair.ownerId, "last", "--json"], home: pair.member)
        kill(listener.id, SIGCONT)
        #expect(sending.end() == 0)
        // One of the two was with the listener when it was stopped, and the other one expired in the node.
        var texts: [String] = []
        while texts.last != "last" { texts.append(try #require(try listener.next("message")["text"] as? String)) }
        #expect(texts.count == 2, "\(texts)")
        #expect(listener.end(by: SIGINT) == 0)
        try pair.end()
    }

    @Test(arguments: [false, true])
    func `a listener whose reader has gone delivers only what it wrote`(isSealed: Bool) throws {
        let pair = try ConnectedPair()
        let options = isSealed ? ["--sealed", "--json"] : ["--json"]
        if isSealed { _ = try pair.member.answer(["keys", "exchange", pair.ownerId]) }
        let output = Pipe()
        let listener = try SpawnedProcess(
            ChildProcess.products.appending(path: "runar").path(percentEncoded: false),
            ["listen", "--json"],
            environment: environment(["RUNAR_HOME": pair.owner.path]),
            output: output.fileHandleForWriting,
            errors: .nullDevice
        )
        try output.fileHandleForWriting.close()
        let lines = LineReader(output.fileHandleForReading)
        #expect(lines.next()?.contains("listening") == true)
        #expect(try pair.member.runar(["send", pair.ownerId, "written"] + options).status == 0)
        #expect(lines.next()?.contains("written") == true)

        // The listener finds that nothing reads while it has the first message, or while the node has it.
        try output.fileHandleForReading.close()
        let unheard = try ["lost", "later", "later", "later"].map { text in
            try pair.member.runar(["send", pair.ownerId, text] + options)
        }
        let codes = try unheard.map { try "\($0.status) \($0.failure["code"] as? String ?? "none")" }
        #expect(codes == Array(repeating: "69 no-listener", count: 4))
        #expect(listener.waitUntilExit() == 141)
        try pair.end()
    }
}
