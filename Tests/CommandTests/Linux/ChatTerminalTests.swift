#if os(Linux)
internal import Foundation
internal import TestSupport
internal import Testing

/// The chat on a real terminal emulator, between two running nodes.
@Suite(
    "runar chat on a terminal",
    .aside,
    .timeLimit(.minutes(15)),
    .enabled(if: Tmux.isInstalled, "tmux is missing")
) struct ChatTerminalTests {
    @Test func `two people chat: states, paste, resize, search and the end`() throws {
        let pair = try ConnectedPair()
        try CircleCommandTests.makeFriends(pair)
        _ = try pair.owner.answer(["circle", "say", "Bob", "an earlier word"])
        let ada = try Tmux.Session(["chat", "Bob"], home: pair.owner.path, columns: 60, lines: 14)
        try ada.shows("Bob  not verified")
        try ada.shows("an earlier word")
        let bob = try Tmux.Session(["chat", "Ada"], home: pair.member.path, columns: 60, lines: 14)
        try bob.shows("an earlier word")
        // The chat shows it.
        try ada.shows("you  (opened)")

        try bob.type("-l", "hello Ada")
        try bob.shows("> hello Ada")
        try bob.type("Enter")
        try ada.shows("      hello Ada")
        try bob.shows("you  (opened)")

        try ada.paste("first line\nsecond \u{1B}[31mred")
        try ada.shows("> first line\u{23CE}second [31mred")
        try ada.type("Enter")
        try bob.shows("      second [31mred")

        try ada.resize(columns: 32, lines: 8)
        try ada.shows("a window of 32 columns") { $0.count >= 8 && $0[0].count <= 32 && $0[7].hasPrefix(">") }
        try ada.resize(columns: 60, lines: 14)
        try ada.type("C-f")
        try ada.type("-l", "HELLO")
        try ada.type("Enter")
        try ada.shows("1 found")
        try ada.type("Escape")
        try ada.shows("      an earlier word")

        for chat in [ada, bob] { try chat.type("C-c") }
        for chat in [ada, bob] { try chat.shows("(end)") }
        try pair.end()
    }

    @Test func `a chat without a terminal or a person says what to do`() throws {
        let pair = try ConnectedPair()
        let outcome = try pair.owner.runar(["chat", "Bob", "--json"])
        #expect(outcome.status == 64)
        #expect(try (outcome.failure["message"] as? String)?.contains("runar circle say") == true)
        let chat = try Tmux.Session(["chat", "Bob"], home: pair.owner.path, columns: 160, lines: 10)
        try chat.shows("runar circle list")
        try pair.end()
    }
}
#endif
