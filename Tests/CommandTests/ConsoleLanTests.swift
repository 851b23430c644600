internal import Console
internal import Foundation
internal import Identity
internal import TestSupport
internal import Testing

@testable import CommandModel
@testable internal import NodeModel
@testable internal import NodeService
@testable internal import runar

/// The console on other screens of the local network, by real processes.
@Suite(
    "The console of a node on the local network",
    .aside,
    .serialized,
    .timeLimit(.minutes(15)),
    .enabled(if: NetworkVisitor.missing.isEmpty, Comment(rawValue: NetworkVisitor.missing))
)
struct ConsoleLanTests {
    /// A node with a console, and its client.
    private struct Running: Sendable {
        let node: RunningCommand
        let lan: LanReport?
        let token: String
        let port: UInt16

        init(_ home: TemporaryDataDirectory, _ arguments: [String] = []) async throws {
            node = try RunningCommand(["up", "--console", "0", "--json"] + arguments, home: home)
            let ready = try node.next("ready")
            lan = try ready["consoleLan"].map {
                try JSONDecoder().decode(LanReport.self, from: JSONSerialization.data(withJSONObject: $0))
            }
            port = try #require(URL(string: ready["console"] as? String ?? "")?.port.flatMap { UInt16(exactly: $0) })
            let file = home.path + "/" + NodeConsole.tokenName
            token = try String(contentsOfFile: file, encoding: .utf8).trimmingCharacters(in: .newlines)
        }

        /// Asks on this machine.
        func fetch(_ method: String, _ path: String, body: String? = nil) async throws -> (Int, [String: Any]) {
            let fields = [
                ["Host", "localhost:\(port)"], ["Authorization", "Bearer \(token)"],
                ["Content-Type", "application/json"],
            ]
            let answers = try await ConsoleVisitor.fetch(port, [.init(method, "/api/v1" + path, fields, body: body)])
            let answer = try #require(answers.first)
            // A file is no object.
            return (answer.status, answer.body.hasPrefix("{") ? try Self.object(answer.body) : [:])
        }

        static func object(_ text: String) throws -> [String: Any] {
            try JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: Any] ?? [:]
        }
    }

    private static let passphrase = "correct horse battery"

    /// Returns a visitor at the first of these addresses.
    private static func visitor(_ addresses: [String]?, token: String) throws -> NetworkVisitor {
        let url = try #require(URL(string: addresses?.first ?? ""))
        let (host, port) = (try #require(url.host), try #require(url.port.flatMap { UInt16(exactly: $0) }))
        return try NetworkVisitor(port, at: host.trimmingCharacters(in: ["[", "]"]), token: token)
    }

    private static func fetch(
        _ visitor: NetworkVisitor,
        _ method: String,
        _ path: String,
        token: String,
        body: String? = nil
    ) async throws -> (status: Int, object: [String: Any]) {
        let fields = [
            ["Host", visitor.authority], ["Authorization", "Bearer \(token)"], ["Content-Type", "application/json"],
        ]
        let answer = try await visitor.fetch(.init(method, "/api/v1" + path, fields, body: body))
        return (answer.status, try Running.object(answer.body))
    }

    private static func code(_ object: [String: Any]) -> String? {
        (object["error"] as? [String: Any])?["code"] as? String
    }

    @Test func `over the network the person may do everything but what belongs to the device itself`() async throws {
        let home = try TemporaryDataDirectory()
        try home.makeNode()
        let running = try await Running(home, ["--console-lan", "0"])
        let lan = try #require(running.lan)
        let visitor = try Self.visitor(lan.addresses, token: running.token)
        #expect(try await visitor.certificate().fingerprint == lan.fingerprint)
        let file = home.path + "/" + ConsoleCertificate.name
        #expect(try FileManager.default.attributesOfItem(atPath: file)[.posixPermissions] as? Int == 0o600)
        #expect(try await visitor.status("/api/v1/networks") == 200)
        let view = try await Self.fetch(visitor, "GET", "/lan", token: running.token).object
        #expect(view["on"] as? Bool == true && view["here"] as? Bool == false)
        for (method, path, body) in [
            ("POST", "/recovery-phrase", #"{"confirmation":"show"}"#), ("PUT", "/lan", #"{"on":false}"#),
            ("POST", "/recovery-phrase/restore", #"{"words":"x"}"#), ("POST", "/lan/pairing", "{}"),
        ] {
            let answer = try await Self.fetch(visitor, method, path, token: running.token, body: body)
            #expect(answer.status == 403, "\(path)")
            #expect(Self.code(answer.object) == "only-here", "\(path)")
        }
        #expect(try await visitor.status("/api/v1/networks") == 200)
        // A flag decides, so the page does not.
        let (status, refusal) = try await running.fetch("PUT", "/lan", body: #"{"on":false}"#)
        #expect(status == 409 && Self.code(refusal) == "decided-elsewhere")
        #expect(try await running.fetch("GET", "/lan").1["source"] as? String == "flag")
        let node = running.node
        #expect(try await aside { node.end(by: SIGTERM) } == 0)
        // Compared once, the fingerprint holds after a restart.
        let again = try await Running(home, ["--console-lan", "0"])
        #expect(again.lan?.fingerprint == lan.fingerprint)
    }

    @Test func `secret keys pass at the device itself only, and only for who knows what opens its vault`() async throws
    {
        let home = try TemporaryDataDirectory()
        let unlocking = ["--passphrase-file", try home.file("passphrase", Self.passphrase)]
        #expect(try await aside { try home.runar(["init"] + unlocking) }.status == 0)
        let running = try await Running(home, ["--console-lan", "0"] + unlocking)
        #expect(try await running.fetch("POST", "/networks", body: #"{"name":"Home"}"#).0 == 201)
        let asked = try await aside {
            try TemporaryDataDirectory().answer(["device", "setup", "--show", "--no-passphrase"]).text("link")
        }
        let confirmed = #"{"confirmation":"\#(Self.passphrase)"}"#
        let phrase = try await running.fetch("POST", "/recovery-phrase", body: confirmed).1
        let words = try #require(phrase["words"] as? [String]).joined(separator: " ")
        let requests = [
            ("/keys/export", #"{"key":"peer","passphrase":"eight or more""#),
            ("/backup", #"{"passphrase":"eight or more""#),
            ("/recovery-phrase/restore", #"{"words":"\#(words)""#),
            ("/device/add", #"{"request":"\#(asked)","admin":true"#), ("/device/add", #"{"request":"\#(asked)""#),
        ]
        let visitor = try Self.visitor(running.lan?.addresses, token: running.token)
        for (path, fields) in requests {
            let right = fields + #","confirmation":"\#(Self.passphrase)"}"#
            let away = try await Self.fetch(visitor, "POST", path, token: running.token, body: right)
            #expect(away.status == 403 && Self.code(away.object) == "only-here", "\(path)")
            let (missing, field) = try await running.fetch("POST", path, body: fields + "}")
            #expect(missing == 400 && Self.code(field) == "bad-field", "\(path)")
            let wrong = fields + #","confirmation":"show"}"#
            let (status, refusal) = try await running.fetch("POST", path, body: wrong)
            #expect(status == 403 && Self.code(refusal) == "wrong-passphrase", "\(path)")
            #expect(try await running.fetch("POST", path, body: right).0 == 200, "\(path)")
        }
        let file = #"{"key":"root","file":"","passphrase":"x","confirmation":"\#(Self.passphrase)"}"#
        for path in ["/keys/import", "/backup/restore"] {
            let away = try await Self.fetch(visitor, "POST", path, token: running.token, body: file)
            #expect(away.status == 403 && Self.code(away.object) == "only-here", "\(path)")
            #expect(try await running.fetch("POST", path, body: #"{"key":"root","file":"","passphrase":"x"}"#).0 == 400)
        }
        let peer = PeerId(publicKey: generatePeerKey().publicKey).text
        for path in ["/device/renew", "/device/setup", "/circle/devices/\(peer)", "/circle/devices/\(peer)/expect"] {
            let away = try await Self.fetch(visitor, "POST", path, token: running.token, body: confirmed)
            #expect(away.status == 403 && Self.code(away.object) == "only-here", "\(path)")
            let (missing, field) = try await running.fetch("POST", path, body: "{}")
            #expect(missing == 400 && Self.code(field) == "bad-field", "\(path)")
        }
    }

    @Test func `switched on in the page it stays on over a restart, and switched off the port is closed`()
        async throws
    {
        let home = try TemporaryDataDirectory()
        try home.makeNode()
        let config = home.path + "/" + ConfigurationFile.name
        try Self.write(#"{"requestTimeout":"7s","listen":["127.0.0.1:0"]}"#, to: config)
        let running = try await Running(home)
        #expect(running.lan == nil)
        #expect(!FileManager.default.fileExists(atPath: home.path + "/" + ConsoleCertificate.name))
        let port = QuietPort.next()
        let (taken, refusal) = try await running.fetch("PUT", "/lan", body: #"{"on":true,"port":\#(running.port)}"#)
        #expect(taken == 409 && Self.code(refusal) == "no-console-lan")
        #expect(try String(contentsOfFile: config, encoding: .utf8).contains("consoleLan") == false)
        let (status, view) = try await running.fetch("PUT", "/lan", body: #"{"on":true,"port":\#(port)}"#)
        #expect(status == 200 && view["source"] as? String == "file")
        let kept = try Running.object(String(contentsOfFile: config, encoding: .utf8))
        #expect(kept["consoleLan"] as? String == "\(port)" && kept["requestTimeout"] as? String == "7s")
        #expect(kept["listen"] as? [String] == ["127.0.0.1:0"])
        let node = running.node
        #expect(try await aside { node.end(by: SIGTERM) } == 0)
        let again = try await Running(home)
        let visitor = try Self.visitor(again.lan?.addresses, token: again.token)
        #expect(try await visitor.status("/api/v1/networks") == 200)
        let fields = "Host: \(visitor.authority)\r\nAuthorization: Bearer \(again.token)\r\n"
        try await visitor.hold(Array("GET /api/v1/activity HTTP/1.1\r\n\(fields)\r\n".utf8), "tls")
        #expect(try await again.fetch("PUT", "/lan", body: #"{"on":true,"port":\#(port)}"#).0 == 200)
        let (other, isOn) = try await again.fetch("PUT", "/lan", body: #"{"on":true,"port":1}"#)
        #expect(other == 409 && Self.code(isOn) == "is-on")
        #expect(try await again.fetch("PUT", "/lan", body: #"{"on":false}"#).1["on"] as? Bool == false)
        // The first byte is read before.
        #expect(try await visitor.end().hasPrefix("TTP/1.1 200"))
        #expect(try await visitor.spoken("1.3") == nil)
        #expect(try Running.object(String(contentsOfFile: config, encoding: .utf8))["consoleLan"] as? String == "off")
    }

    @Test func `a code on the terminal signs in one device of the network`() async throws {
        let home = try TemporaryDataDirectory()
        try home.makeNode()
        let running = try await Running(home, ["--console-lan", "0"])
        let pairing = try RunningCommand(["console", "--lan", "--json"], home: home)
        let (link, fingerprint) = try await aside {
            let shown = try pairing.next("pairing")
            return (shown["link"] as? String ?? "", shown["fingerprint"] as? String)
        }
        let lan = try #require(running.lan)
        #expect(fingerprint == lan.fingerprint)
        let parts = link.components(separatedBy: "#secret=")
        #expect(parts.first == lan.addresses.first && parts.count == 2)
        let visitor = try Self.visitor(parts, token: "")
        let body = #"{"secret":"\#(parts[1])"}"#
        let session = try await Self.fetch(visitor, "POST", "/session", token: "", body: body)
        #expect(session.status == 200)
        let token = try #require(session.object["token"] as? String)
        #expect(try await Self.fetch(visitor, "GET", "/status", token: token).status == 200)
        let outcome = try await aside { try pairing.outcome() }
        #expect(outcome.status == 0)
        #expect(try outcome.json["used"] as? Bool == true)
        #expect(try await Self.fetch(visitor, "POST", "/session", token: "", body: body).status == 401)
    }

    @Test func `what cannot be is said with what to do`() async throws {
        let home = try TemporaryDataDirectory()
        try home.makeNode()
        let both = try await aside { try home.runar(["up", "--console", "off", "--console-lan", "0", "--json"]) }
        #expect(both.status == ExitStatus.configuration.rawValue)
        #expect(try (both.failure["message"] as? String)?.contains("consoleLan needs") == true)
        let file = home.path + "/" + ConsoleCertificate.name
        try Self.write("damaged", to: file)
        let damaged = try await aside { try home.runar(["up", "--console", "0", "--console-lan", "0", "--json"]) }
        #expect(damaged.status == ExitStatus.cannotCreate.rawValue)
        #expect(try (damaged.failure["message"] as? String)?.contains(file) == true)
        let running = try await Running(home)
        let closed = try await aside { try home.runar(["console", "--lan", "--json"]) }
        #expect(try closed.failure["code"] as? String == "no-console-lan")
        #expect(try (closed.failure["message"] as? String)?.contains("--console-lan") == true)
        withExtendedLifetime(running) {}
    }

    @Test(arguments: ["-1", "65536", "on", ""])
    func `a port for the network is a port, or off`(text: String) throws {
        #expect(throws: CommandFailure.self) { try Setting.consoleLan.check([text]) }
        #expect(throws: Never.self) { try Setting.consoleLan.check(["off"]) }
        #expect(throws: Never.self) { try Setting.consoleLan.check(["4281"]) }
    }

    /// Writes a file as it is in a home.
    private static func write(_ text: String, to path: String) throws {
        try Data(text.utf8).write(to: URL(filePath: path))
        try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: path)
    }
}
