#if os(Linux)
internal import Foundation
internal import Glibc
internal import TestSupport
internal import Testing

@testable internal import runar

/// The dialogue with a person at a terminal: the text on the screen and the text typed.
@Suite("Dialogues", .aside, .serialized) struct DialogueTests {
    private let home: TemporaryDataDirectory

    init() throws { home = try TemporaryDataDirectory() }

    /// A home with a root key, and that key's public half.
    private func makeOwner() throws -> String {
        try home.makeNode()
        _ = try home.answer(["network", "create", "Mine"])
        return try home.answer(["keys", "export", "root"]).text("publicKey")
    }

    /// The 24 words on a screen, in their order.
    private func words(in screen: String) -> [String] {
        let found = screen.matches(of: /(\d+)  ([a-z]{3,8})\b/).map { (Int($0.1) ?? 0, String($0.2)) }
        return found.sorted { $0.0 < $1.0 }.map(\.1)
    }

    /// The 24 words that `backup create` shows.
    private func words(of home: TemporaryDataDirectory) throws -> [String] {
        let command = try TerminalCommand(["backup", "create"], home: home)
        command.answer("Type show to go on: ", "show")
        let screen = command.answer("Press Return ", "")
        let rest = command.terminal.screen(until: "Keep the texts")
        #expect(command.exitStatus() == 0)
        // The alternate screen begins before the first word, and is cleared and left after Return.
        let begin = try #require(screen.range(of: "\u{1B}[?1049h"))
        #expect(words(in: String(screen[..<begin.lowerBound])).isEmpty)
        #expect(rest.contains("\u{1B}[2J\u{1B}[?1049l") && words(in: rest).isEmpty)
        return words(in: screen)
    }

    @Test func `a new home asks for its passphrase twice, and later commands ask once`() throws {
        let command = try TerminalCommand(["init"], home: home)
        command.answer("choose a passphrase for this device's keys: ", "a passphrase")
        command.answer("repeat it: ", "another one")
        command.answer("The two answers differ. choose", "seven c")
        command.answer("repeat it: ", "seven c")
        command.answer("It needs at least 8 characters. choose", "three kettles")
        let screen = command.answer("repeat it: ", "three kettles") + command.terminal.screen(until: "next ")
        #expect(!screen.contains("three"))
        #expect(command.exitStatus() == 0)

        let wrong = try TerminalCommand(["network", "list"], home: home)
        wrong.answer("passphrase for ", "a passphrase")
        wrong.answer("2 more tries.\r\npassphrase for ", "a passphrase")
        wrong.answer("1 more try.\r\npassphrase for ", "a passphrase")
        #expect(wrong.terminal.screen(until: "try again").contains("error: wrong passphrase"))
        #expect(wrong.exitStatus() == 77)
        let right = try TerminalCommand(["network", "list"], home: home)
        right.answer("passphrase for ", "a passphrase")
        right.answer("2 more tries.\r\npassphrase for ", "three kettles")
        #expect(right.terminal.screen(until: "no networks yet").contains("no networks yet"))
        #expect(right.exitStatus() == 0)
    }

    @Test func `an interrupted question leaves a terminal that echoes and makes nothing`() throws {
        let command = try TerminalCommand(["init"], home: home)
        _ = command.terminal.screen(until: "keys: ")
        #expect(!command.terminal.isEchoing)
        command.terminal.type("\u{3}")
        #expect(command.exitStatus() == -SIGINT)
        #expect(command.terminal.isEchoing)
        #expect(!FileManager.default.fileExists(atPath: home.path + "/vault"))
    }

    @Test(.enabled(if: Tmux.isInstalled, "tmux is missing"))
    func `a low window shows all 24 words, and neither it nor its scrollback keeps them`() throws {
        _ = try makeOwner()
        let terminal = try Tmux.Session(["backup", "create"], home: home.path, columns: 70, lines: 10)
        try terminal.shows("Type show to go on")
        try terminal.type("show", "Enter")
        let shown = try terminal.shows("Press Return").joined(separator: "\n")
        #expect(words(in: shown).count == 24)
        try terminal.type("Enter")
        try terminal.shows("Keep the texts")
        #expect(words(in: try terminal.everything()).isEmpty)
    }

    @Test func `a running node asks for the passphrase before the words, and again after a wrong one`() throws {
        let unlocking = ["--passphrase-file", try home.file("passphrase", "three kettles")]
        #expect(try home.runar(["init"] + unlocking).status == 0)
        _ = try home.runar(["network", "create", "Mine"] + unlocking)
        let node = try RunningCommand(["up", "--console", "off", "--json"] + unlocking, home: home)
        _ = try node.next("ready")
        let command = try TerminalCommand(["backup", "create"], home: home)
        command.answer("Type show to go on: ", "show")
        command.answer("passphrase for ", "a passphrase")
        command.answer("2 more tries.\r\npassphrase for ", "three kettles")
        let screen = command.terminal.screen(until: "Press Return ")
        #expect(words(in: screen).count == 24)
        // Control-C takes the words away, too.
        command.terminal.type("\u{3}")
        #expect(command.terminal.screen(until: "\u{1B}[?1049l").hasSuffix("\u{1B}[2J\u{1B}[?1049l"))
        #expect(command.exitStatus() == -SIGINT)
        #expect(node.end(by: SIGTERM) == 0)
    }

    @Test func `a device without the root key fails before a question`() throws {
        try home.makeNode()
        for arguments in [["backup", "create"], ["backup", "create", "--file", home.path + "-backup"]] {
            let command = try TerminalCommand(arguments, home: home)
            let screen = command.terminal.screen(until: "makes it")
            #expect(screen.contains("no root key") && !screen.contains("Type show") && !screen.contains("passphrase"))
            #expect(command.exitStatus() == 65)
        }
    }

    @Test func `the words are in as many columns as fit, and are read downwards`() {
        let words = (1...24).map { "word\($0)" }
        let lines = Backup.Create.lines(of: words, columns: 80)
        #expect(lines.count == 6)
        #expect(lines[0].split(separator: " ").joined(separator: " ") == "1 word1 7 word7 13 word13 19 word19")
        #expect(Backup.Create.lines(of: words, columns: 45).count == 8)
        #expect(Backup.Create.lines(of: words, columns: 10).count == 24)
    }

    @Test func `the words are shown only after a yes, and bring the root key to another home`() throws {
        let root = try makeOwner()
        let refused = try TerminalCommand(["backup", "create"], home: home)
        refused.answer("Type show to go on: ", "no")
        let screen = refused.terminal.screen(until: "nothing was shown")
        #expect(words(in: screen).isEmpty)
        #expect(refused.exitStatus() == 77)

        let words = try words(of: home)
        try #require(words.count == 24)
        let new = try TemporaryDataDirectory()
        try new.makeNode()
        let restore = try TerminalCommand(["backup", "restore"], home: new)
        restore.answer("the 24 words: ", words.joined(separator: " "))
        let told = restore.terminal.screen(until: "runar join")
        #expect(told.contains("restored the root key") && !told.contains(words[3] + " " + words[4]))
        #expect(restore.exitStatus() == 0)
        #expect(try new.answer(["keys", "export", "root"]).text("publicKey") == root)
    }

    @Test func `a wrong word is named with its neighbour, and no key is stored`() throws {
        _ = try makeOwner()
        var words = try words(of: home)
        let new = try TemporaryDataDirectory()
        try new.makeNode()
        words[6] = "zoooo"
        let restore = try TerminalCommand(["backup", "restore"], home: new)
        restore.answer("the 24 words: ", words.joined(separator: " "))
        let told = restore.terminal.screen(until: "\"zoo\"")
        #expect(told.contains("error: ") && told.contains("7"))
        #expect(restore.exitStatus() == 65)
        let short = try TerminalCommand(["backup", "restore"], home: new)
        short.answer("the 24 words: ", words.dropLast().joined(separator: " "))
        #expect(short.terminal.screen(until: "23").contains("23"))
        #expect(short.exitStatus() == 65)
        #expect(try new.runar(["keys", "export", "root"]).status == 65)
    }

    @Test func `a backup file asks for a passphrase of its own`() throws {
        let root = try makeOwner()
        let file = home.path + "-backup"
        defer { try? FileManager.default.removeItem(atPath: file) }  // the system empties the folder
        let create = try TerminalCommand(["backup", "create", "--file", file], home: home)
        create.answer("choose a passphrase for the file: ", "for the backup")
        create.answer("repeat it: ", "for the backup")
        #expect(create.terminal.screen(until: "1 network").contains("wrote"))
        #expect(create.exitStatus() == 0)
        // No temporary file remains next to the file.
        let folder = URL(filePath: file).deletingLastPathComponent()
        let names = try FileManager.default.contentsOfDirectory(atPath: folder.path())
        #expect(names.filter { $0.hasPrefix(URL(filePath: file).lastPathComponent) }.count == 1)

        let again = try TerminalCommand(["backup", "create", "--file", file], home: home)
        #expect(again.terminal.screen(until: "move it away").contains("exists already"))
        #expect(again.exitStatus() == 73)

        let new = try TemporaryDataDirectory()
        try new.makeNode()
        let wrong = try TerminalCommand(["backup", "restore", "--file", file], home: new)
        for _ in 0..<3 { wrong.answer("passphrase of the file: ", "another") }
        #expect(wrong.terminal.screen(until: "try again").contains("wrong passphrase"))
        #expect(wrong.exitStatus() == 77)
        let restore = try TerminalCommand(["backup", "restore", "--file", file], home: new)
        restore.answer("passphrase of the file: ", "for the backup")
        // The restore ends with the offer to revoke the device that made the backup.
        #expect(restore.answer("(y/n) ", "y").contains("restored the root key"))
        #expect(restore.terminal.screen(until: "revoked here").contains("revoked here"))
        #expect(restore.exitStatus() == 0)
        #expect(try new.answer(["keys", "export", "root"]).text("publicKey") == root)
        #expect(try new.answer(["network", "show"]).text("role") == "owner")
    }

    @Test func `a revocation wants the word and an owner who leaves types the network's name`() throws {
        _ = try makeOwner()
        let kept = try TerminalCommand(["network", "revoke", "phone"], home: home)
        kept.answer("Type revoke to go on: ", "yes")
        #expect(kept.terminal.screen(until: "no peer was revoked").contains("no peer was revoked"))
        #expect(kept.exitStatus() == 77)
        let refused = try TerminalCommand(["network", "leave", "Mine"], home: home)
        refused.answer("Type Mine to go on: ", "yes")
        #expect(refused.terminal.screen(until: "nothing was left").contains("nothing was left"))
        #expect(refused.exitStatus() == 77)
        let unattended = try home.runar(["network", "leave", "Mine", "--json"])
        #expect(unattended.status == 77)
        #expect(try unattended.failure["code"] as? String == "no-terminal")
        let meant = try TerminalCommand(["network", "leave", "Mine"], home: home)
        meant.answer("Type Mine to go on: ", "Mine")
        #expect(meant.terminal.screen(until: "left Mine").contains("left Mine"))
        #expect(meant.exitStatus() == 0)
    }

    @Test func `a reset says what is lost and wants the word`() throws {
        try home.makeNode()
        let refused = try TerminalCommand(["reset"], home: home)
        let losses = refused.answer("Type reset to go on: ", "yes")
        #expect(losses.contains("Lost for good") && losses.contains("the root key"))
        #expect(refused.terminal.screen(until: "nothing was removed").contains("nothing was removed"))
        #expect(refused.exitStatus() == 77)
        #expect(try home.runar(["status"]).status == 0)
        let meant = try TerminalCommand(["reset"], home: home)
        meant.answer("Type reset to go on: ", "reset")
        #expect(meant.terminal.screen(until: "removed the node").contains("removed the node"))
        #expect(meant.exitStatus() == 0)
        #expect(try home.runar(["status"]).status == 78)
    }

    @Test func `a reset asks for the root key of networks once more`() throws {
        _ = try makeOwner()
        let refused = try TerminalCommand(["reset"], home: home)
        refused.answer("Type reset to go on: ", "reset")
        let question = refused.answer("Type root key to go on: ", "yes")
        #expect(question.contains("recovery phrase or a backup"))
        #expect(refused.terminal.screen(until: "nothing was removed").contains("nothing was removed"))
        #expect(refused.exitStatus() == 77)
        #expect(try home.runar(["status"]).status == 0)
        let meant = try TerminalCommand(["reset"], home: home)
        meant.answer("Type reset to go on: ", "reset")
        meant.answer("Type root key to go on: ", "root key")
        #expect(meant.terminal.screen(until: "removed the node").contains("removed the node"))
        #expect(meant.exitStatus() == 0)
    }
}
#endif
