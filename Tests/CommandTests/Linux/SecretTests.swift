#if os(Linux)
internal import Bytes
internal import Foundation
internal import Identity
internal import TestSupport
internal import Testing

/// The secret of an invitation is shown on the inviter's screen and is nowhere else.
@Suite("The secret of an invitation", .aside, .serialized) struct SecretTests {
    /// Every form in which the secret could be stored or sent.
    private func forms(of link: String) throws -> [[UInt8]] {
        let invitation = try Invitation(text: link)
        let secret = invitation.secret.withBytes { $0 }
        // The link contains the secret in base32, so parts of that must be nowhere either.
        let body = link.dropFirst("runar://join/".count + 108).prefix(20)
        return [
            secret, Array(Hex.encode(secret).utf8), Array(Base64.encode(secret).prefix(20).utf8), Array(body.utf8),
            Array(body.uppercased().utf8),
        ]
    }

    /// The processes of this machine with their arguments and environments.
    private func processes() throws -> [(id: String, bytes: [UInt8])] {
        try FileManager.default.contentsOfDirectory(atPath: "/proc").filter { Int($0) != nil }.map { id in
            let files = ["cmdline", "environ"].map { FileManager.default.contents(atPath: "/proc/\(id)/\($0)") }
            return (id, files.flatMap { Array($0 ?? Data()) })
        }
    }

    private func files(in home: TemporaryDataDirectory) throws -> [(path: String, bytes: [UInt8])] {
        try FileManager.default.subpathsOfDirectory(atPath: home.path).map { name in
            (name, Array(FileManager.default.contents(atPath: home.path + "/" + name) ?? Data()))
        }
    }

    @Test func `the secret is in no process list during a join and in no log or file afterwards`() throws {
        let pair = try InvitedPair()
        for home in [pair.owner, pair.phone] {
            let started = try home.runar(["up", "--detach", "--log-level", "trace", "--json"])
            try #require(started.status == 0, "\(started.output)\(started.errors)")
        }
        defer {
            for home in [pair.owner, pair.phone] { _ = try? home.runar(["stop"]) }  // best effort
        }
        let inviter = try TerminalCommand(["network", "invite"], home: pair.owner)
        let screen = inviter.terminal.screen(until: "left, Control-C")
        let match = try #require(screen.firstMatch(of: /runar:\/\/join\/[a-z2-7]+/))
        let link = String(match.0)
        let joiner = try RunningCommand(["join", "--json"], home: pair.phone, input: link)
        let digits = try #require(try joiner.next("joinPending")["digits"] as? String)
        let question = inviter.terminal.screen(until: "(y/n) ")
        #expect(question.contains(digits))
        let forms = try forms(of: link)
        #expect(try processes().contains { $0.id == String(joiner.id) && !$0.bytes.isEmpty })
        for process in try processes() {
            for form in forms { #expect(!process.bytes.contains(form), "process \(process.id)") }
        }
        inviter.terminal.type("yes\n")
        #expect(inviter.terminal.screen(until: "is a member of Home now").contains("is a member of Home now"))
        #expect(inviter.exitStatus() == 0)
        #expect(try joiner.outcome().status == 0)
        for home in [pair.owner, pair.phone] {
            let files = try files(in: home)
            #expect(files.contains { $0.path == "node.log" && !$0.bytes.isEmpty })
            for file in files {
                for form in forms { #expect(!file.bytes.contains(form), "\(file.path)") }
            }
        }
    }

    @Test(.enabled(if: IndependentReaders.missing.isEmpty, "zbar or zxing-cpp is missing"))
    func `the code on the inviter's screen holds the link in capitals`() throws {
        let pair = try InvitedPair()
        let inviter = try TerminalCommand(["network", "invite"], home: pair.owner)
        let screen = inviter.terminal.screen(until: "left, Control-C").replacing("\r\n", with: "\n")
        let link = try #require(screen.firstMatch(of: /runar:\/\/join\/[a-z2-7]+/))
        // In colours, or in blocks alone if the environment disables colours.
        let marks = ["[38;5;16", "█", "▀", "▄"]
        let lines = screen[..<link.range.lowerBound].split(separator: "\n").filter { line in
            marks.contains { line.contains($0) }
        }
        let code = lines.joined(separator: "\n") + "\n"
        let isDark = !code.contains(marks[0])
        let reading = try #require(try IndependentReaders.read([.terminal(code, isDark: isDark)]).first)
        #expect(reading.agrees(on: Array(String(link.0).uppercased().utf8)), "\(reading)\n\(code)")
        inviter.terminal.type("\u{3}")
        #expect(inviter.exitStatus() == 130)
    }

    @Test(arguments: ["no", "N"]) func `a no declines, and both sides report it`(answer: String) throws {
        let pair = try InvitedPair()
        let inviter = try TerminalCommand(["network", "invite"], home: pair.owner)
        let screen = inviter.terminal.screen(until: "left, Control-C")
        let link = String(try #require(screen.firstMatch(of: /runar:\/\/join\/[a-z2-7]+/)).0)
        let joiner = try RunningCommand(["join", "--json"], home: pair.phone, input: link)
        // Return alone, as when a window is brought to the front, and other words are no answer.
        for noAnswer in ["", "ja", "yes!"] { inviter.answer("(y/n) ", noAnswer) }
        inviter.answer("(y/n) ", answer)
        let refused = try joiner.outcome()
        #expect(refused.status == 77)
        #expect(try refused.lastFailureCode == "join-declined")
        #expect(inviter.terminal.screen(until: "for another device").contains("declined: no device was admitted"))
        #expect(inviter.exitStatus() == 77)
    }

    @Test func `Control-C with the question open withdraws the invitation`() throws {
        let pair = try InvitedPair()
        let node = try pair.startOwner()
        let inviter = try TerminalCommand(["network", "invite"], home: pair.owner)
        let screen = inviter.terminal.screen(until: "left, Control-C")
        let link = String(try #require(screen.firstMatch(of: /runar:\/\/join\/[a-z2-7]+/)).0)
        let joiner = try RunningCommand(["join", "--json"], home: pair.phone, input: link)
        _ = inviter.terminal.screen(until: "(y/n) ")
        inviter.terminal.type("\u{3}")
        #expect(inviter.exitStatus() == 130)
        let refused = try joiner.outcome()
        #expect(try refused.lastFailureCode == "invitation-withdrawn")
        #expect(node.end(by: SIGTERM) == 0)
    }

    @Test func `a joiner that leaves ends the question`() throws {
        let pair = try InvitedPair()
        let inviter = try TerminalCommand(["network", "invite"], home: pair.owner)
        let screen = inviter.terminal.screen(until: "left, Control-C")
        let link = String(try #require(screen.firstMatch(of: /runar:\/\/join\/[a-z2-7]+/)).0)
        let joiner = try RunningCommand(["join", "--json"], home: pair.phone, input: link)
        _ = inviter.terminal.screen(until: "(y/n) ")
        #expect(joiner.end(by: SIGINT) == 130)
        // The reason is on a line of its own, not behind the question.
        #expect(inviter.terminal.screen(until: "make a new one").contains("\r\nerror: the joiner disconnected"))
        #expect(inviter.exitStatus() == 69)
    }

    @Test func `an invitation without a terminal is refused`() throws {
        let pair = try InvitedPair()
        let arguments = ["network", "invite", "--json"]
        let unasked = try RunningCommand(arguments, home: pair.owner, wrapper: ["/usr/bin/setsid", "-w"]).outcome()
        #expect(unasked.status == 77)
        #expect(try unasked.failure["code"] as? String == "no-terminal")
    }

    @Test func `a link is pasted at a terminal with a single Return`() throws {
        let pair = try InvitedPair()
        let (invitation, link) = try pair.invite()
        let joiner = try TerminalCommand(["join"], home: pair.phone)
        joiner.answer("press Control-D on an empty line", link)
        #expect(joiner.terminal.screen(until: "joined Home").contains("connected: check that"))
        #expect(joiner.exitStatus() == 0)
        #expect(invitation.end() == 0)
    }
}

extension [UInt8] {
    /// Whether these bytes contain others.
    fileprivate func contains(_ other: [UInt8]) -> Bool { Data(self).range(of: Data(other)) != nil }
}
#endif
