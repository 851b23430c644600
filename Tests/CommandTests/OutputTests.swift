internal import Foundation
internal import TestSupport
internal import Testing

/// Standard output that cannot be written, and readers that close it.
@Suite("Failed output", .aside, .timeLimit(.minutes(15))) struct OutputTests {
    private let program = ChildProcess.products.appending(path: "runar").path(percentEncoded: false)

    private func start(
        _ words: [String],
        _ home: TemporaryDataDirectory,
        output: FileHandle,
        errors: FileHandle = .nullDevice
    ) throws -> SpawnedProcess {
        try SpawnedProcess(
            program,
            words,
            environment: environment(["RUNAR_HOME": home.path]),
            output: output,
            errors: errors
        )
    }

    /// Runs a command with that standard output and returns its exit status and its standard error.
    private func run(
        _ words: [String],
        _ home: TemporaryDataDirectory,
        output: FileHandle
    ) throws -> (status: Int32, errors: String) {
        let errors = Pipe()
        let command = try start(words, home, output: output, errors: errors.fileHandleForWriting)
        try errors.fileHandleForWriting.close()
        let said = try errors.fileHandleForReading.readToEnd() ?? Data()
        return (command.waitUntilExit(), String(decoding: said, as: UTF8.self))
    }

    private func homeWithNetwork() throws -> (home: TemporaryDataDirectory, peer: String) {
        let home = try TemporaryDataDirectory()
        let peer = try home.makeNode()
        _ = try home.answer(["network", "create", "Home"])
        return (home, peer)
    }

    @Test func `a result that cannot be written ends with 74 or, without a reader, quietly with 141`() throws {
        let (home, peer) = try homeWithNetwork()
        let full = try #require(FileHandle(forWritingAtPath: "/dev/full"))
        let unread = Pipe()
        try unread.fileHandleForReading.close()
        let commands = [
            "status", "status --json", "network list", "network show Home --json", "network show --text",
            "network issue \(peer) --json", "peers --json", "completion bash", "completion zsh --json", "qr show hi",
            "qr show hi --format png", "--help", "help network", "--version", "network show Nope --json",
        ]
        for command in commands {
            let words = command.split(separator: " ").map(String.init)
            let lost = try run(words, home, output: full)
            #expect(lost.status == 74, "\(command): \(lost.errors)")
            let lines = lost.errors.split(separator: "\n")
            #expect(lines.first?.contains("cannot write \"standard output\"") == true, "\(command): \(lost.errors)")
            #expect(lines.count == 1, "\(command): \(lost.errors)")
            let quiet = try run(words, home, output: unread.fileHandleForWriting)
            #expect(quiet.status == 141, "\(command): \(quiet.errors)")
            #expect(quiet.errors.isEmpty, "\(command): \(quiet.errors)")
        }
    }

    @Test func `standard output that is closed ends a command with 74, and no file gets its number`() throws {
        let (home, _) = try homeWithNetwork()
        for command in ["status --json", "network rename Home Cabin", "--version"] {
            let process = try ChildProcess(
                path: "/bin/sh",
                arguments: ["-c", "exec 3>&1 >&-; '\(program)' \(command) 2>&3; echo $? >&3"],
                environment: environment(["RUNAR_HOME": home.path])
            )
            #expect(process.nextLine()?.contains("cannot write \"standard output\"") == true, "\(command)")
            #expect(process.nextLine() == "74", "\(command)")
        }
        // Nothing was written into the state, which the command had opened meanwhile.
        #expect(try home.runar(["network", "list"]).output.contains("Cabin"))
    }

    @Test func `a streaming command ends when its reader goes, and a listener is gone with it`() throws {
        let pair = try ConnectedPair()
        #expect(try pair.member.runar(["send", pair.ownerId, "early", "--json"]).status == 69)
        for (words, event) in [
            (["listen", "--json"], "listening"), (["subscribe", "home/>", "--json"], "subscribed"),
            (["serve", "lamp", "on=true", "--json"], "serving"),
            (["network", "invite", "--preallow", "--json"], "invited"),
        ] {
            let output = Pipe()
            let command = try start(words, pair.owner, output: output.fileHandleForWriting)
            try output.fileHandleForWriting.close()
            #expect(LineReader(output.fileHandleForReading).next()?.contains(event) == true, "\(words)")
            // No event follows: the end of the reader alone ends it.
            try output.fileHandleForReading.close()
            #expect(command.waitUntilExit() == 141, "\(words)")
        }
        let unheard = try pair.member.runar(["send", pair.ownerId, "late", "--json"])
        #expect(unheard.status == 69)
        #expect(try unheard.failure["code"] as? String == "no-listener")
        try pair.end()
    }

    @Test func `a streaming command without room for its first line ends with 74`() throws {
        let (home, _) = try homeWithNetwork()
        let node = try RunningCommand(["up", "--json"], home: home)
        _ = try node.next("ready")
        let full = try #require(FileHandle(forWritingAtPath: "/dev/full"))
        for words in ["listen --json", "subscribe home/> --json", "serve lamp on=true --json"] {
            let words = words.split(separator: " ").map(String.init)
            let lost = try run(words, home, output: full)
            #expect(lost.status == 74, "\(words): \(lost.errors)")
        }
        #expect(node.end(by: SIGTERM) == 0)
    }

    @Test func `a node ends in order when the reader of its output goes`() throws {
        let (home, _) = try homeWithNetwork()
        let output = Pipe()
        let node = try start(["up", "--json"], home, output: output.fileHandleForWriting)
        try output.fileHandleForWriting.close()
        #expect(LineReader(output.fileHandleForReading).next()?.contains("ready") == true)
        try output.fileHandleForReading.close()
        #expect(node.waitUntilExit() == 141)
        #expect(!FileManager.default.fileExists(atPath: home.path + "/control.sock"))
    }
}
