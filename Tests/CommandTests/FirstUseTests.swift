internal import Foundation
internal import TestSupport
internal import Testing

@testable internal import CommandKit
@testable import CommandModel
@testable internal import NodeModel
@testable internal import NodeService
@testable internal import runar

/// Answers, lines and times as a new user types and reads them.
@Suite("First use") struct FirstUseTests {
    @Test(
        arguments: [
            ("y", true), ("Y", true), ("yes", true), (" YES ", true), ("n", false), ("No", false), ("", nil),
            ("ja", nil),
            ("yes!", nil), ("yn", nil),
        ] as [(String, Bool?)]
    )
    func `a question takes yes and no in any case, and repeats after anything else`(answer: String, reading: Bool?) {
        #expect(Consent.yesOrNo(answer) == reading)
    }

    @Test(arguments: [("revoke", true), (" Revoke ", true), ("yes", false), ("", nil)] as [(String, Bool?)])
    func `a step that cannot be undone takes its word alone`(answer: String, reading: Bool?) {
        #expect(Consent.word("revoke", in: answer) == reading)
    }

    @Test(arguments: [
        ("hello", ChatCommand.text), ("/send  a b.png ", .send("a b.png")), ("/send", .send("")), ("/help", .help),
        ("/sned x", .unknown("/sned")), ("//send is a word", .literal("/send is a word")),
        ("/etc/hosts has it", .text), ("/", .text), ("/send a\nb", .text),
    ])
    func `a line with a slash is a command or is explained, and a path is a text`(line: String, command: ChatCommand) {
        #expect(ChatCommand(line) == command)
    }

    @Test func `progress has the speed since the first byte, and the time that is left`() {
        let line = ProgressLine.text("a.bin", 25 << 20, of: 100 << 20, after: .seconds(5))
        #expect(line == "a.bin: 25%, 5.0 MiB/s, 15s left")
        #expect(ProgressLine.text("a", 10, of: 10, after: .zero).hasPrefix("a: 100%"))
        #expect(ProgressLine.text("a", 0, of: 0, after: .zero).hasPrefix("a: 100%"))
    }

    @Test func `the end of the last line that a pipe adds is not shown`() {
        #expect(ContentText.shown("piped\n", nil, bytes: 6) == "piped")
        #expect(ContentText.shown("a\r\n", nil, bytes: 3) == "a" && ContentText.shown("a\n\n", nil, bytes: 3) == "a\n")
        #expect(ContentText.shown(nil, "AP8=", bytes: 2) == "(2 bytes that are no text) AP8=")
    }

    @Test func `a wait for an answer shows the time that is left`() {
        func text(_ seconds: Int) -> String {
            ProgressLine.text("waiting", waitingFor: .seconds(seconds), of: .seconds(120))
        }
        #expect(text(2) == "waiting, 1m58s left" && text(119) == "waiting, 1s left" && text(121) == "waiting")
    }

    @Test func `a time is shown in the zone of the reader`() throws {
        let zone = try #require(TimeZone(secondsFromGMT: 3_600))
        let time = LocalTime(seconds: 1_900_000_000, in: zone)
        #expect(time.description == "2030-03-17 18:46:40" && time.clock == "18:46" && time.day == "2030-03-17")
        #expect(LocalTime(seconds: .max, in: zone).day == "10000-01-01")
    }
}

/// Mistakes of a new user, with the whole command.
@Suite("First mistakes", .aside) struct FirstMistakeTests {
    @Test func `the owner cannot revoke the device that it uses`() throws {
        let owner = try TemporaryDataDirectory()
        let id = try owner.makeNode()
        _ = try owner.answer(["network", "create", "Home"])
        let refused = try owner.runar(["network", "revoke", id, "--yes", "--json"])
        #expect(refused.status == 77)
        #expect(try refused.failure["code"] as? String == "own-device")
        #expect(try owner.answer(["network", "list"]).output.contains("\"isRevoked\":false"))
    }

    @Test func `a label is found in any case, a slip is corrected, and a revoked device is named`() throws {
        let owner = try TemporaryDataDirectory()
        try owner.makeNode()
        _ = try owner.answer(["network", "create", "Home"])
        let peer = "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA="
        _ = try owner.answer(["network", "issue", peer, "--label", "phone"])
        #expect(try owner.answer(["network", "issue", "Phone"]).text("peerId") == peer)
        #expect(try owner.runar(["send", "fone", "hello"]).errors.contains("did you mean phone?"))
        _ = try owner.answer(["network", "revoke", "PHONE", "--yes"])
        let revoked = try owner.runar(["send", "phone", "hello", "--json"])
        #expect(revoked.status == 77)
        #expect(try (revoked.failure["message"] as? String)?.hasPrefix("you revoked phone at ") == true)
    }

    @Test func `peers without a network names the way into one, and join explains a card and an empty paste`() throws {
        let home = try TemporaryDataDirectory()
        try home.makeNode()
        #expect(try home.runar(["peers"]).output.contains("`runar join` takes an invitation"))
        _ = try home.answer(["circle", "profile", "Ada"])
        let nameless = try home.runar(["circle", "stream", "make", " ", "--json"])
        #expect(nameless.status == 65)
        #expect(try nameless.failure["message"] as? String == "the name is empty: give one")
        let card = try home.answer(["circle", "card"]).text("text")
        #expect(try home.runar(["join"], input: card).errors.contains("`runar circle add` takes it"))
        #expect(try home.runar(["join", card]).errors.contains("`runar circle add` takes it"))
        let empty = try home.runar(["join", "--json"], input: " \n")
        #expect(empty.status == 64)
        #expect(try empty.failure["code"] as? String == "no-text")
        let inspected = try home.answer(["inspect", card])
        #expect(try inspected.text("kind") == "person" && inspected.text("name") == "Ada")
    }
}
