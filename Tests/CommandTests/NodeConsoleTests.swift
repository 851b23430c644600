internal import Foundation
internal import Identity
internal import Logging
internal import Platform
internal import RunarNode
internal import TestSupport
internal import Testing

@testable internal import CommandKit
@testable import CommandModel
@testable internal import NodeModel
@testable internal import NodeService
@testable internal import runar

@Suite("The console of a node", .aside, .serialized, .timeLimit(.minutes(15))) struct NodeConsoleTests {
    @Test(.enabled(if: ConsoleVisitor.missing.isEmpty, Comment(rawValue: ConsoleVisitor.missing)))
    func `up serves metrics to a client with the home's token, which a restart keeps`() async throws {
        let home = try TemporaryDataDirectory()
        try home.makeNode()
        var tokens: Set<String> = []
        for _ in 0..<2 {
            let node = try await aside { try RunningCommand(["up", "--console", "0", "--json"], home: home) }
            let text = try await aside { try #require(try node.next("ready")["console"] as? String) }
            let port = try #require(URL(string: text)?.port.flatMap { UInt16(exactly: $0) })
            #expect(text == "http://127.0.0.1:\(port)/")
            let file = home.path + "/" + NodeConsole.tokenName
            let mode = try FileManager.default.attributesOfItem(atPath: file)[.posixPermissions] as? Int
            #expect(mode == 0o600)
            let token = try String(contentsOfFile: file, encoding: .utf8).trimmingCharacters(
                in: .whitespacesAndNewlines
            )
            #expect(token.count == 64)
            tokens.insert(token)
            let families = try await ConsoleVisitor.metrics(port, token: token)
            #expect(families["runar_active_networks"]?.values("runar_active_networks") == [0])
            #expect(families["runar_connections"]?.help.isEmpty == false)
            let refused = try await ConsoleVisitor.fetch(port, [("GET", "/metrics", [["Host", "localhost:\(port)"]])])
            #expect(refused.map(\.status) == [401])
            #expect(try await aside { node.end(by: SIGINT) } == 0)
        }
        #expect(tokens.count == 1)
    }

    @Test func `a console that is off opens no port and makes no token`() async throws {
        let home = try TemporaryDataDirectory()
        try home.makeNode()
        let node = try await aside { try RunningCommand(["up", "--json"], home: home) }
        #expect(try await aside { try node.next("ready")["console"] == nil })
        #expect(!FileManager.default.fileExists(atPath: home.path + "/" + NodeConsole.tokenName))
        #expect(try await aside { node.end(by: SIGTERM) } == 0)
    }

    @Test func `a taken port ends the start with its reason`() async throws {
        let (home, other) = (try TemporaryDataDirectory(), try TemporaryDataDirectory())
        try home.makeNode()
        try other.makeNode()
        let node = try await aside { try RunningCommand(["up", "--console", "0", "--json"], home: home) }
        let text = try await aside { try #require(try node.next("ready")["console"] as? String) }
        let port = try #require(URL(string: text)?.port)
        let outcome = try await aside { try other.runar(["up", "--console", "\(port)", "--json"]) }
        #expect(outcome.status == ExitStatus.cannotCreate.rawValue)
        #expect(try outcome.failure["code"] as? String == "no-console")
        let message = try #require(try outcome.failure["message"] as? String)
        #expect(message.contains("127.0.0.1:\(port): Address already in use;"), "\(message)")
        #expect(!outcome.output.contains("\"ready\""))
    }

    @Test func `the console leaves a taken default port, and a taken chosen port is an error`() async throws {
        // The first has the usual port, unless another program on this machine has it. Either way it is taken.
        try await withConsoles([nil, nil]) { first, second in
            #expect(first.address != second.address)
            #expect(!second.address.hasSuffix(":4280/"))
            #expect(second.note == "port 4280 is taken, so the console is at another one until the node starts again")
            let failure = await #expect(throws: CommandFailure.self) { try await withConsoles(["4280"]) { _, _ in } }
            #expect(failure?.code == "no-console" && failure?.status == .cannotCreate)
            #expect(failure?.message.contains("cannot listen on 127.0.0.1:4280") == true)
            #expect(failure?.message.contains("choose another port, or 0 for any free port") == true)
        }
    }

    private struct Place: Sendable {
        let address: String
        let note: String?
    }

    /// Runs `body` with the first and the last of some consoles, at the ports that a person chose for them or, for nil, at
    /// the usual one.
    private func withConsoles(_ ports: [String?], _ body: (Place, Place) async throws -> Void) async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            var places: [Place] = []
            var homes: [TemporaryDataDirectory] = []
            for port in ports {
                let home = try TemporaryDataDirectory()
                homes.append(home)
                let directory = try DataDirectory(at: home.path)
                let flags: [Setting: [String]] = port.map { [.console: [$0]] } ?? [:]
                let settings = try Settings(flags: flags, environment: { _ in nil }, file: [:])
                let console = try #require(try NodeConsole(settings: settings, home: directory))
                let keys = InMemoryKeyStorage()
                let node = try RunarNode(config: RunarNodeConfig(keyStorage: keys, statePath: nil))
                let handler = RequestHandler(node: node, keys: keys, home: directory, settings: settings, watch: nil)
                let (addresses, told) = AsyncStream.makeStream(of: String.self)
                group.addTask {
                    defer { told.finish() }
                    try await console.run(for: handler) { told.yield($0) }
                }
                var iterator = addresses.makeAsyncIterator()
                guard let address = await iterator.next() else { break }
                places.append(Place(address: address, note: console.note(on: address)))
            }
            defer { group.cancelAll() }
            if let first = places.first, let last = places.last, places.count == ports.count {
                try await body(first, last)
            } else {
                try await group.waitForAll()
            }
            withExtendedLifetime(homes) {}
        }
    }

    @Test(.enabled(if: ConsoleVisitor.missing.isEmpty, Comment(rawValue: ConsoleVisitor.missing)))
    func `a printed address signs in one browser, whose token outlives a restart`() async throws {
        let home = try TemporaryDataDirectory()
        try home.makeNode()
        let node = try await aside { try RunningCommand(["up", "--console", "0", "--json"], home: home) }
        let address = try await aside { try #require(try node.next("ready")["console"] as? String) }
        #expect(try await aside { try home.answer(["status"]).text("console") } == address)
        let printed = try await aside { try home.answer(["console", "--print"]).text("address") }
        #expect(printed.hasPrefix("\(address)#secret="))
        let token = try #require(try await Self.signIn(printed))
        #expect(try await Self.signIn(printed) == nil)
        let port = try #require(URL(string: address)?.port.flatMap { UInt16(exactly: $0) })
        #expect(try await ConsoleVisitor.metrics(port, token: token)["runar_active_networks"] != nil)
        #expect(try await aside { node.end(by: SIGINT) } == 0)
        let again = try await aside { try RunningCommand(["up", "--console", "\(port)", "--json"], home: home) }
        try await aside { _ = try again.next("ready") }
        #expect(try await ConsoleVisitor.metrics(port, token: token)["runar_active_networks"] != nil)
    }

    @Test(.enabled(if: ConsoleVisitor.missing.isEmpty, Comment(rawValue: ConsoleVisitor.missing)))
    func `a browser is started with a private file, not the secret, and the file is removed`()
        async throws
    {
        let home = try TemporaryDataDirectory()
        try home.makeNode()
        let node = try await aside { try RunningCommand(["up", "--console", "0", "--json"], home: home) }
        try await aside { _ = try node.next("ready") }
        // A stand-in for the program that starts a browser, which reports its arguments.
        let programs = home.path + "-programs"
        defer { try? FileManager.default.removeItem(atPath: programs) }  // temporary anyway
        try FileManager.default.createDirectory(atPath: programs, withIntermediateDirectories: true)
        let (opener, told) = ("\(programs)/\(BrowserOpener.name)", "\(programs)/told")
        // By another process: a test that starts one at this moment hands it the open file, and the system starts no
        // program that a process has open for writing.
        let script = #"mkfifo "$1"; printf '#!/bin/sh\necho "$@" >%s\n' "$1" >"$0"; chmod 755 "$0""#
        let written = try await aside {
            try ChildProcess(path: "/bin/sh", arguments: ["-c", script, opener, told]).waitUntilExit()
        }
        #expect(written == 0)
        let path = "\(programs):\(ProcessInfo.processInfo.environment["PATH"] ?? "/usr/bin:/bin")"
        let opening = try RunningCommand(["console", "--json"], home: home, environment: ["PATH": path])
        let file = try await aside {
            try #require(try ChildProcess(path: "/usr/bin/env", arguments: ["cat", told]).nextLine())
        }
        #expect(file.hasPrefix(home.path + "/console-") && file.hasSuffix(".html"))
        let mode = try FileManager.default.attributesOfItem(atPath: file)[.posixPermissions] as? Int
        #expect(mode == 0o600)
        let page = try String(contentsOfFile: file, encoding: .utf8)
        let link = try #require(page.firstMatch(of: /url=(http[^"]+)"/)).1
        #expect(try await Self.signIn(String(link)) != nil)
        let outcome = try await aside { try opening.outcome() }
        #expect(outcome.status == 0)
        #expect(try outcome.json["isOpened"] as? Bool == true)
        #expect(!outcome.output.contains("secret") && !FileManager.default.fileExists(atPath: file))
    }

    @Test func `a missing console, browser or node is reported with advice`() async throws {
        let home = try TemporaryDataDirectory()
        try home.makeNode()
        let idle = try await aside { try home.runar(["console", "--json"]) }
        #expect(idle.status == ExitStatus.unavailable.rawValue)
        #expect(try (idle.failure["message"] as? String)?.contains("runar up") == true)
        let node = try await aside { try RunningCommand(["up", "--json"], home: home) }
        try await aside { _ = try node.next("ready") }
        let outcome = try await aside { try home.runar(["console", "--json"]) }
        #expect(try outcome.failure["code"] as? String == "no-console")
        #expect(try await aside { node.end(by: SIGINT) } == 0)
        let other = try await aside { try RunningCommand(["up", "--console", "0", "--json"], home: home) }
        try await aside { _ = try other.next("ready") }
        let blind = try await aside { try home.runar(["console", "--json"], environment: ["PATH": "/nonexistent"]) }
        #expect(try blind.failure["code"] as? String == "no-browser")
        let left = try FileManager.default.contentsOfDirectory(atPath: home.path).filter { $0.hasPrefix("console-") }
        #expect(left.isEmpty)
    }

    /// Turns the secret of an address into a token, as the page does.
    private static func signIn(_ address: String) async throws -> String? {
        let url = try #require(URL(string: address))
        let port = try #require(url.port.flatMap { UInt16(exactly: $0) })
        let secret = try #require(url.fragment?.split(separator: "=").last)
        let answers = try await ConsoleVisitor.fetch(
            port,
            [
                ConsoleVisitor.Request(
                    "POST",
                    "/api/v1/session",
                    [["Host", "localhost:\(port)"], ["Content-Type", "application/json"]],
                    body: #"{"secret":"\#(secret)"}"#
                )
            ]
        )
        guard answers.first?.status == 200 else { return nil }
        struct Session: Decodable { let token: String }
        return try JSONDecoder().decode(Session.self, from: Data(try #require(answers.first).body.utf8)).token
    }

    @Test func `levels of subsystems follow the common level`() throws {
        let (common, own) = try Setting.levels("notice,discovery=debug,storage=critical")
        #expect(common == .notice && own == [.discovery: .debug, .storage: .critical])
        #expect(try Setting.levels("discovery=trace").0 == .notice)
        for text in ["loud", "notice,info", "kitchen=debug", "discovery=loud", "notice,", "", "discovery="] {
            #expect(throws: CommandFailure.self) { try Setting.levels(text) }
        }
    }

    @Test func `a port of the console is a port, or off`() throws {
        #expect(try Setting.port("off") == nil && Setting.port("0") == 0)
        #expect(try Setting.port("9464") == 9464)
        for text in ["-1", "65536", "on", "9464/tcp", ""] {
            #expect(throws: CommandFailure.self) { try Setting.port(text) }
        }
    }
}
