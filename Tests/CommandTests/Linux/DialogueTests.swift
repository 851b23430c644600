#if os(Linux)
internal import Foundation
internal import Glibc
internal import TestSupport
internal import Testing

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

    /// The 24 words that `backup create` shows.
    private func words(of home: TemporaryDataDirectory) throws -> [String] {
        let command = try TerminalCommand(["backup", "create"], home: home)
        command.answer("Type show to go on: ", "show")
        let screen = command.terminal.screen(until: "Keep the texts")
        #expect(command.exitStatus() == 0)
        return screen.split(separator: "\r\n").compactMap { line in
            let parts = line.split(separator: " ")
            return parts.count == 2 && Int(parts[0]) != nil ? String(parts[1]) : nil
        }
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
        #expect(wrong.terminal.screen(until: "try again").contains("error: wrong passphrase"))
        #expect(wrong.exitStatus() == 77)
        let right = try TerminalCommand(["network", "list"], home: home)
        right.answer("passphrase for ", "three kettles")
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

    @Test func `the words are shown only after a yes, and bring the root key to another home`() throws {
        let root = try makeOwner()
        let refused = try TerminalCommand(["backup", "create"], home: home)
        refused.answer("Type show to go on: ", "no")
        let screen = refused.terminal.screen(until: "nothing was shown")
        #expect(!screen.contains("24  "))
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
        // Nothing is left beside the file.
        let folder = URL(filePath: file).deletingLastPathComponent()
        let names = try FileManager.default.contentsOfDirectory(atPath: folder.path())
        #expect(names.filter { $0.hasPrefix(URL(filePath: file).lastPathComponent) }.count == 1)

        let again = try TerminalCommand(["backup", "create", "--file", file], home: home)
        #expect(again.terminal.screen(until: "move it away").contains("exists already"))
        #expect(again.exitStatus() == 73)

        let new = try TemporaryDataDirectory()
        try new.makeNode()
        let wrong = try TerminalCommand(["backup", "restore", "--file", file], home: new)
        wrong.answer("passphrase of the file: ", "another")
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
