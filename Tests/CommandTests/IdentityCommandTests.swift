internal import Foundation
internal import TestSupport
internal import Testing

@Suite("runar identity", .aside, .timeLimit(.minutes(15))) struct IdentityCommandTests {
    private let home: TemporaryDataDirectory
    /// The directory of the server's data.
    private let data: String

    init() throws {
        home = try TemporaryDataDirectory()
        data = home.path + "/identity"
    }

    /// The options of the first try, with a port that the system chooses.
    private static let local = ["--rp-id", "localhost", "--origin", "http://localhost:8443", "--port", "0"]

    private func serve(
        _ options: [String] = local,
        environment: [String: String] = [:]
    ) throws -> (command: RunningCommand, ready: [String: Any], port: UInt16) {
        let command = try RunningCommand(
            ["identity", "serve", "--data", data, "--json"] + options,
            home: home,
            environment: environment
        )
        let ready = try command.next("ready")
        return (command, ready, UInt16(clamping: try #require(ready["port"] as? Int)))
    }

    private func identity(_ words: String...) throws -> Outcome {
        try home.runar(["identity"] + words + ["--data", data])
    }

    /// Writes `identity.json` into the data, which belongs to this user alone.
    private func write(_ settings: String) throws {
        let folder = URL(filePath: data)
        try FileManager.default.createDirectory(
            at: folder,
            withIntermediateDirectories: true,
            attributes: [.posixPermissions: 0o700]
        )
        try Data(settings.utf8).write(to: folder.appending(path: "identity.json"))
        try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: data + "/identity.json")
    }

    // MARK: Serving

    @Test(
        .enabled(if: ConsoleVisitor.missing.isEmpty, Comment(rawValue: ConsoleVisitor.missing)),
        arguments: [SIGINT, SIGTERM]
    )
    func `a server on this machine starts, is healthy, and ends in order`(signal: Int32) async throws {
        let server = try serve()
        #expect(server.ready["url"] as? String == "http://localhost:8443")
        #expect(server.ready["rpId"] as? String == "localhost")
        #expect(server.ready["handleDomain"] as? String == "localhost.test")
        let own = [["Host", "localhost:8443"]]
        let answers = try await ConsoleVisitor.fetch(server.port, [("GET", "/health", own), ("GET", "/", own)])
        #expect(answers.map(\.status) == [200, 200])
        #expect(answers[0].body.contains(#""status":"ok""#))
        #expect(server.command.end(by: signal) == 0)
        let names = try FileManager.default.contentsOfDirectory(atPath: data)
        for name in names {
            let mode = try FileManager.default.attributesOfItem(atPath: "\(data)/\(name)")[.posixPermissions] as? Int
            #expect(mode == 0o600, "\(name)")
        }
        #expect(Set(names).isSuperset(of: ["identity.sqlite", "audit.log", "sign-key.pem", "token-key.pem"]))
    }

    @Test(.enabled(if: ConsoleVisitor.missing.isEmpty, Comment(rawValue: ConsoleVisitor.missing)))
    func `settings come from the environment and the file, and options precede both`() async throws {
        let origins = "https://id.example.org,https://id.example.org:444"
        let variables = ["PORT": "0", "RP_ID": "id.example.org", "ORIGIN": origins]
        let server = try serve(["--listen-address", "127.0.0.1"], environment: variables)
        #expect(server.ready["rpId"] as? String == "id.example.org")
        #expect(server.ready["url"] as? String == "https://id.example.org")
        let own = [["Host", "id.example.org"]]
        let fetched = try await ConsoleVisitor.fetch(server.port, [("GET", "/.well-known/webauthn", own)])
        #expect(fetched[0].body == #"{"origins":["https://id.example.org","https://id.example.org:444"]}"#)
        #expect(server.command.end(by: SIGTERM) == 0)
        try write(
            #"{"rpId":"file.example.org","handleDomain":"file.example.net","port":"0","listenAddress":"127.0.0.1"}"#
        )
        let other = try serve(["--handle-domain", "option.example.net"], environment: ["RP_ID": "id.example.org"])
        #expect(other.ready["rpId"] as? String == "id.example.org")
        #expect(other.ready["handleDomain"] as? String == "option.example.net")
        #expect(other.command.end(by: SIGTERM) == 0)
    }

    // MARK: Mistakes

    struct Mistake: Sendable, CustomTestStringConvertible {
        let options: [String]
        let status: Int32
        let advice: String

        var testDescription: String { options.joined(separator: " ") }

        init(_ options: String..., status: Int32, advice: String) {
            self.options = options
            self.status = status
            self.advice = advice
        }
    }

    @Test(arguments: [
        Mistake("--origin", "http://example.org", status: 64, advice: "https"),
        Mistake("--origin", "https://id.example.org/login", "--rp-id", "id.example.org", status: 64, advice: "no path"),
        Mistake("--origin", "https://id.example.org:443", "--rp-id", "id.example.org", status: 64, advice: "without"),
        Mistake("--origin", "https://192.0.2.1", status: 64, advice: "IP addresses"),
        Mistake("--rp-id", "other.org", "--origin", "https://id.example.org", status: 78, advice: "--rp-id"),
        Mistake("--rp-id", "https://id.example.org", status: 64, advice: "without a scheme"),
        Mistake("--tls-cert-path", "/nonexistent/cert.pem", status: 78, advice: "TLS_KEY_PATH"),
        Mistake(
            "--tls-cert-path",
            "/nonexistent/cert.pem",
            "--tls-key-path",
            "/nonexistent/key.pem",
            status: 66,
            advice: "/nonexistent/cert.pem"
        ),
        Mistake("--port", "70000", status: 64, advice: "65535"),
        Mistake("--listen-address", "here", status: 64, advice: "IP address"),
        Mistake("--issuer", "id.example.org", status: 64, advice: "https://identity.example.org"),
        Mistake("--token-life", "25h", status: 64, advice: "24h"),
        Mistake("--session-life", "1h", status: 78, advice: "tokenLife"),
        Mistake("--attestation", "all", status: 64, advice: "none or direct"),
        Mistake("--handle-domain", "localhost", status: 64, advice: "localhost"),
        Mistake("--sign-key-path", "/nonexistent/key.pem", status: 78, advice: "no such file"),
        Mistake("--agreement-path", "/nonexistent/terms", status: 78, advice: "/nonexistent/terms"),
    ])
    func `a mistake in an option is explained`(mistake: Mistake) throws {
        let outcome = try home.runar(["identity", "serve", "--data", data, "--json"] + mistake.options)
        #expect(outcome.status == mistake.status, "\(outcome.output)\(outcome.errors)")
        let failure = try outcome.failure
        let message = try #require(failure["message"] as? String)
        #expect(message.contains(mistake.advice), "\(message)")
        #expect(failure["code"] as? String != nil)
    }

    @Test func `data must be named`() throws {
        let outcome = try home.runar(["identity", "serve"])
        #expect(outcome.status == 64 && outcome.errors.contains("--data"))
        #expect(try home.runar(["identity", "serve", "--data", ""]).status == 64)
        #expect(try home.runar(["identity", "backup", "--data", "", "--to", home.path + "/copy"]).status == 64)
    }

    @Test func `a port in use and data in use are reported`() throws {
        let server = try serve()
        let other = ["--rp-id", "localhost", "--json", "--data", data + "-other", "--port", "\(server.port)"]
        let port = try home.runar(["identity", "serve"] + other)
        #expect(port.status == 69)
        #expect(try port.failure["code"] as? String != "internal")
        #expect(try (port.failure["message"] as? String)?.contains("\(server.port)") == true, "\(port.output)")
        let same = try home.runar(["identity", "serve", "--data", data, "--json"] + Self.local)
        #expect(same.status == 75, "\(same.output)")
        #expect(try (same.failure["message"] as? String)?.contains(data) == true)
        // The first one still serves.
        #expect(server.command.end(by: SIGINT) == 0)
    }

    @Test func `an unknown key of the file is named`() throws {
        try write(#"{"rpID":"id.example.org"}"#)
        let outcome = try home.runar(["identity", "serve", "--data", data, "--json"])
        #expect(outcome.status != 0)
        #expect(try (outcome.failure["message"] as? String)?.contains("rpID") == true)
    }

    // MARK: Maintenance

    @Test func `a rotation replaces the signing key, and keeps the old one for its tokens`() throws {
        let server = try serve()
        #expect(server.command.end(by: SIGTERM) == 0)
        let before = try String(contentsOfFile: data + "/sign-key.pem", encoding: .utf8)
        let outcome = try identity("rotate-key", "--json")
        #expect(outcome.status == 0)
        #expect(try outcome.text("done") == "rotated")
        let after = try String(contentsOfFile: data + "/sign-key.pem", encoding: .utf8)
        #expect(before != after && after.contains("PRIVATE KEY"))
        let previous = try String(contentsOfFile: data + "/sign-key-previous.pem", encoding: .utf8)
        #expect(previous.hasPrefix("until: ") && !previous.contains("PRIVATE"))
        let own = try identity("rotate-key", "--sign-key-path", data + "/sign-key.pem", "--json")
        #expect(own.status == 78)
        #expect(try own.failure["code"] as? String == "key-of-operator")
    }

    @Test func `a running server is copied, and an existing file is kept`() throws {
        let server = try serve()
        let copy = data + "-copy.sqlite"
        let first = try identity("backup", "--to", copy, "--json")
        #expect(first.status == 0, "\(first.output)\(first.errors)")
        #expect(try first.text("done") == "copied")
        let mode = try FileManager.default.attributesOfItem(atPath: copy)[.posixPermissions] as? Int
        #expect(mode == 0o600)
        let bytes = try Data(contentsOf: URL(filePath: copy))
        #expect(bytes.starts(with: Data("SQLite format 3".utf8)))
        let second = try identity("backup", "--to", copy, "--json")
        #expect(second.status == 73)
        #expect(try second.failure["code"] as? String == "exists")
        let third = try identity("backup", "--to", data + "/missing/copy.sqlite", "--json")
        #expect(third.status == 66)
        #expect(try third.failure["code"] as? String == "no-directory")
        #expect(try Data(contentsOf: URL(filePath: copy)) == bytes)
        #expect(server.command.end(by: SIGTERM) == 0)
    }

    @Test func `the doctor finds a server that does not run, and nothing wrong while it does`() throws {
        let port = QuietPort.next()
        let options = ["--rp-id", "localhost", "--origin", "http://localhost:\(port)", "--port", "\(port)"]
        let doctor = ["identity", "doctor"] + options + ["--data"]
        let stopped = try home.runar(doctor + [data + "-none", "--json"])
        #expect(stopped.status == 69, "\(stopped.output)")
        #expect(try stopped.json["healthy"] as? Bool == false)
        let findings = try #require(stopped.json["findings"] as? [[String: Any]])
        let codes = findings.compactMap { $0["code"] as? String }
        #expect(codes.contains("no-data") && codes.contains("unreachable"))
        #expect(!FileManager.default.fileExists(atPath: data + "-none"))
        let server = try serve(options)
        let running = try home.runar(doctor + [data])
        #expect(running.status == 0, "\(running.output)")
        #expect(running.output.contains("Everything that was checked works."), "\(running.output)")
        #expect(server.command.end(by: SIGTERM) == 0)
    }
}
