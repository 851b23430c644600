internal import Foundation
internal import Logging
internal import RunarNode
internal import TestSupport
internal import Testing

@testable internal import runar

@Suite("Metrics of the command", .serialized, .timeLimit(.minutes(2))) struct MetricsTests {
    @Test(.enabled(if: ConsoleVisitor.missing.isEmpty, Comment(rawValue: ConsoleVisitor.missing)))
    func `up shows what is measured to whoever has the token of the home, over a restart the same`() async throws {
        let home = try TemporaryHome()
        try home.makeNode()
        var tokens: Set<String> = []
        for _ in 0..<2 {
            let node = try await aside { try RunningCommand(["up", "--console", "0", "--json"], home: home) }
            let text = try await aside { try #require(try node.next("ready")["console"] as? String) }
            let port = try #require(URL(string: text)?.port.flatMap { UInt16(exactly: $0) })
            #expect(text == "http://localhost:\(port)/")
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
            let refused = try await ConsoleVisitor.ask(port, [("GET", "/metrics", [["Host", "localhost:\(port)"]])])
            #expect(refused.map(\.status) == [401])
            #expect(try await aside { node.end(by: SIGINT) } == 0)
        }
        #expect(tokens.count == 1)
    }

    @Test func `switched off nothing listens and there is no token`() async throws {
        let home = try TemporaryHome()
        try home.makeNode()
        let node = try await aside { try RunningCommand(["up", "--json"], home: home) }
        #expect(try await aside { try node.next("ready")["console"] == nil })
        #expect(!FileManager.default.fileExists(atPath: home.path + "/" + NodeConsole.tokenName))
        #expect(try await aside { node.end(by: SIGTERM) } == 0)
    }

    @Test func `a port that is taken ends the start with its reason`() async throws {
        let (home, other) = (try TemporaryHome(), try TemporaryHome())
        try home.makeNode()
        try other.makeNode()
        let node = try await aside { try RunningCommand(["up", "--console", "0", "--json"], home: home) }
        let text = try await aside { try #require(try node.next("ready")["console"] as? String) }
        let port = try #require(URL(string: text)?.port)
        let outcome = try await aside { try other.runar(["up", "--console", "\(port)", "--json"]) }
        #expect(outcome.status == ExitStatus.cannotCreate.rawValue)
        #expect(try outcome.failure["code"] as? String == "no-console")
        #expect(try (outcome.failure["message"] as? String)?.contains("127.0.0.1:\(port)") == true)
        #expect(!outcome.output.contains("\"ready\""))
    }

    @Test func `levels of subsystems stand behind the common one`() throws {
        let (common, own) = try Settings.levels("notice,discovery=debug,storage=critical")
        #expect(common == .notice && own == [.discovery: .debug, .storage: .critical])
        #expect(try Settings.levels("discovery=trace").0 == .notice)
        for text in ["loud", "notice,info", "kitchen=debug", "discovery=loud", "notice,", "", "discovery="] {
            #expect(throws: CommandFailure.self) { try Settings.levels(text) }
        }
    }

    @Test func `a port of the console is a port, or off`() throws {
        #expect(try Settings.port("off") == nil && Settings.port("0") == 0)
        #expect(try Settings.port("9464") == 9464)
        for text in ["-1", "65536", "on", "9464/tcp", ""] {
            #expect(throws: CommandFailure.self) { try Settings.port(text) }
        }
    }
}
