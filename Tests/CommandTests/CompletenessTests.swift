internal import APIDescription
internal import Foundation
internal import HTTPAPI
internal import TestSupport
internal import Testing

@testable internal import CommandModel
@testable internal import NodeModel
@testable internal import NodeService
@testable internal import runar

/// The promises for every command, checked against the commands that exist.
@Suite("Every command", .aside) struct CompletenessTests {
    /// A command as the parser describes it.
    private struct Description: Decodable {
        struct Argument: Decodable {
            struct Name: Decodable { let name: String }
            /// The members of a kind of completion, of which only the name of the kind counts here.
            struct Completion: Decodable {}
            let kind: String
            let names: [Name]?
            let valueName: String?
            let abstract: String?
            let completionKind: [String: Completion]?
        }

        let commandName: String
        let shouldDisplay: Bool
        let subcommands: [Description]?
        let arguments: [Argument]?

        /// The commands that do something, by their words.
        func leaves(_ path: [String] = []) -> [(words: String, command: Description)] {
            let children = (subcommands ?? []).filter { $0.commandName != "help" }
            guard !children.isEmpty else { return [(path.joined(separator: " "), self)] }
            return children.flatMap { $0.leaves(path + [$0.commandName]) }
        }
    }

    private struct Dump: Decodable { let command: Description }

    private func leaves() throws -> [(words: String, command: Description)] {
        let outcome = try runar(["--experimental-dump-help"])
        return try JSONDecoder().decode(Dump.self, from: Data(outcome.output.utf8)).command.leaves()
    }

    private func document() throws -> String { try packageText(named: "docs/runar-command.md") }

    /// The words in code style of each row of the table of fields, by command.
    private func documentedFields() throws -> [String: Set<String>] {
        var fields: [String: Set<String>] = [:]
        for line in try document().split(separator: "\n") where line.hasPrefix("| `") {
            let cells = line.split(separator: "|")
            guard cells.count >= 2 else { continue }
            for command in Self.code(in: cells[0]) { fields[command] = Set(Self.code(in: cells[1])) }
        }
        return fields
    }

    private static func code(in text: some StringProtocol) -> [String] {
        text.split(separator: "`", omittingEmptySubsequences: false).enumerated()
            .filter { $0.offset % 2 == 1 }.map { String($0.element) }
    }

    @Test func `every command takes --json and stands in the manual`() throws {
        let leaves = try leaves()
        #expect(leaves.count > 25)
        let text = try document()
        for (words, command) in leaves where command.shouldDisplay {
            let names = (command.arguments ?? []).flatMap { $0.names ?? [] }.map(\.name)
            #expect(names.contains("json"), "\(words)")
            #expect(text.contains("`\(words)`") || text.contains("`\(words) --"), "\(words)")
        }
    }

    @Test func `every argument for a file or a directory completes its name`() throws {
        // Their help names files for another reason.
        let others: Set = ["send words", "listen count", "seal url", "qr show pixels", "qr show format"]
        var count = 0
        for (words, command) in try leaves() {
            for argument in command.arguments ?? [] where argument.kind != "flag" {
                let help = "\(argument.abstract ?? "") \(argument.valueName ?? "")".lowercased()
                guard help.contains(/\b(files?|pictures?|director(y|ies)|key\.pem)\b/) else { continue }
                let place = "\(words) \(argument.valueName ?? "")"
                guard !others.contains(place) else { continue }
                let kinds = Set((argument.completionKind ?? [:]).keys)
                #expect(!kinds.isDisjoint(with: ["file", "directory"]), "\(place): \(argument.abstract ?? "")")
                count += 1
            }
        }
        #expect(count > 100)
    }

    @Test func `bash completes the names of files after an option and as an argument`() throws {
        let folder = try TemporaryDirectory()
        try Data().write(to: URL(filePath: folder.file("picture.png")))
        let script = try runar(["completion", "bash"]).output
        for line in ["runar qr read ", "runar seal ", "runar open --key ", "runar send phone --file "] {
            let typed = line + folder.file("pict")
            let ask = """
                COMP_LINE='\(typed)'; COMP_POINT=${#COMP_LINE}; COMP_WORDS=($COMP_LINE); COMP_CWORD=$((${#COMP_WORDS[@]}-1))
                _runar runar "${COMP_WORDS[COMP_CWORD]}" "${COMP_WORDS[COMP_CWORD-1]}"; echo "${COMPREPLY[@]}"
                """
            let bash = try ChildProcess(path: "/bin/bash", arguments: ["-c", "\(script)\n\(ask)"])
            #expect(bash.nextLine() == folder.file("picture.png"), "\(line)")
            _ = bash.waitUntilExit()
        }
    }

    @Test func `a field that the API refuses has a name on the command line`() throws {
        // Fields that only pages and other programs fill.
        let others: Set = [
            "base64", "confirmation", "level", "mediaType", "number", "port", "result", "width", "passphrase",
        ]
        var found: Set<String> = []
        let folder = "Sources/Apps/NodeService/API"
        let files = try FileManager.default.subpathsOfDirectory(atPath: packageRoot.appending(path: folder).path)
        for file in files where file.hasSuffix(".swift") {
            let text = try packageText(named: "\(folder)/\(file)")
            for match in text.matches(of: /badField\(\s*"([A-Za-z0-9]+)"/) {
                let name = String(match.1)
                #expect(FailureView.fieldNames[name] != nil || others.contains(name), "\(name) in \(file)")
                found.insert(name)
            }
        }
        #expect(found.count > 15)
        let refused = FailureView(RouteRequest.badField("lifeSeconds", "must be from 1 to 9 seconds"))
        #expect(refused.commandFailure.message == "the lifetime must be from 1 to 9 seconds")
        #expect(refused.message.hasPrefix("\"lifeSeconds\""))
    }

    @Test func `every setting stands in the manual with its flag and its variable, and every flag in the help`() throws
    {
        let text = try document()
        let help = try runar(["up", "--help"]).output
        for setting in Setting.allCases {
            let row = text.split(separator: "\n").first { $0.hasPrefix("| `\(setting.rawValue)` | `\(setting.flag)`") }
            #expect(row?.contains("`\(setting.variable)`") == true, "\(setting)")
            for value in setting.defaultValues ?? [] { #expect(row?.contains("`\(value)`") == true, "\(setting)") }
            #expect(help.contains("\(setting.flag) <"), "\(setting)")
        }
    }

    @Test func `every exit code stands in the manual and in the help`() throws {
        let text = try document()
        let help = Set(try runar(["--help"]).output.split(whereSeparator: \.isWhitespace))
        for status in ExitStatus.allCases {
            #expect(text.contains("| \(status.rawValue) | "), "\(status)")
            #expect(help.contains("\(status.rawValue)"), "\(status)")
        }
    }

    @Test func `what commands print with --json is what the manual says`() throws {
        let fields = try documentedFields()
        let (home, other) = (try TemporaryDataDirectory(), try TemporaryDataDirectory())
        try other.makeNode()
        let peer = try other.answer(["status"]).text("peerId")
        let backup = home.path + "-backup"
        let passphrase = try home.file("passphrase", "for the backup")
        defer {
            for file in [backup, passphrase] { try? FileManager.default.removeItem(atPath: file) }  // temporary anyway
        }
        func check(_ command: String, _ arguments: [String] = [], input: String = "", status: Int32 = 0) throws {
            let words = command.split(separator: " ").map(String.init)
            let outcome = try home.runar(words + arguments + ["--json"], input: input)
            try #require(outcome.status == status, "\(command): \(outcome.output)\(outcome.errors)")
            let documented = try #require(fields[command], "\(command) is not in the manual")
            for key in try outcome.json.keys {
                #expect(documented.contains(key), "\(command) prints \(key): \(outcome.output)")
            }
        }
        try check("init", ["--no-passphrase"])
        try check("network create", ["Home"])
        try check("network list")
        try check("network show")
        try check("network rename", ["Home", "Cabin"])
        try check("put", ["door", "4711"])
        try check("get", ["door"])
        try check("delete", ["door"])
        try check("discover")
        try check("network issue", [peer, "--label", "other"])
        try check("network address", ["--address", "192.0.2.1:1"])
        try check("network revoke", ["other", "--yes"])
        try check("peers", ["--all"])
        try check("join", input: try home.answer(["network", "show"]).text("text"))
        let seed = "000102030405060708090a0b0c0d0e0f"
        try check("keys derive", ["--path", "m/0'", "--seed-file", "-", "--reveal"], input: seed)
        let root = try home.answer(["keys", "export", "root", "--reveal"]).text("privateKey")
        try check("keys export", ["peer", "--reveal"])
        let asked = try home.answer(["device", "setup", "--show"]).text("link")
        try check("device add", ["--yes"], input: asked)
        try check("device setup", ["--yes", home.answer(["device", "add", "--yes"], input: asked).text("text")])
        try check("keys import", ["root"], input: root)
        try check("backup create", ["--file", backup, "--backup-passphrase-file", passphrase])
        try check("backup restore", ["--file", backup, "--backup-passphrase-file", passphrase])
        try check("status")
        try check("up --detach")
        try check("status")
        // A node that listens on the loopback interface alone is a problem.
        try check("doctor", [peer], status: 69)
        try check("publish", ["home/door", "open"])
        try check("stop")
        try check("keys renew-device", ["--yes"])
        try check("network leave", ["Cabin", "--yes"])
        try check("completion", ["bash"])
        try check("qr show", ["text"])
        try check("reset", ["--yes"])
    }

    @Test func `what stun prints with --json is what the manual says`() throws {
        let fields = try documentedFields()
        let server = try RunningCommand(
            ["stun", "--serve", "--listen", "127.0.0.1:0", "--json"],
            home: TemporaryDataDirectory()
        )
        let start = try server.next("listening")
        let address = try #require((start["addresses"] as? [String])?.first)
        for key in start.keys where key != "event" {
            #expect(fields["listening"]?.contains(key) == true, "listening: \(key)")
        }
        for key in try runar(["stun", address, "--classify", "--json"]).json.keys {
            #expect(fields["stun"]?.contains(key) == true, "stun: \(key)")
        }
    }
}
