internal import BlindTokens
internal import Concurrency
internal import Foundation
internal import Platform
internal import TestSupport
internal import Testing
internal import WebClient

@Suite("runar issuer", .aside, .timeLimit(.minutes(15))) struct IssuerTests {
    private let home: TemporaryDataDirectory
    /// The directory of the issuer's data.
    private let data: String

    init() throws {
        home = try TemporaryDataDirectory()
        data = home.path + "/issuer"
    }

    /// An issuer in a process, and a client of it.
    private final class Server: Sendable {
        let command: RunningCommand
        let base: String
        let client: WebClient
        /// The command that the first line names.
        let next: String

        init(_ home: TemporaryDataDirectory, _ data: String, _ options: [String], _ environment: [String: String])
            throws
        {
            command = try RunningCommand(
                ["issuer", "serve", "--data", data, "--json"] + options,
                home: home,
                environment: environment
            )
            let ready = try command.next("ready")
            base = "http://127.0.0.1:\(try #require(ready["port"] as? Int))"
            next = try #require(ready["next"] as? String)
            client = try WebClient(WebClient.Configuration())
        }

        deinit { client.close() }

        func get(_ path: String) async throws -> WebResponse {
            try await client.send(WebRequest(try WebURL(base + path)))
        }

        /// Requests the signatures of a batch.
        func issue(_ requests: [TokenRequest], _ voucher: String) async throws -> WebResponse {
            let fields = [
                WebField("Content-Type", TokenBatchRequest.mediaType), WebField("Authorization", "Bearer \(voucher)"),
            ]
            let body = try TokenBatchRequest(requests).bytes
            return try await client.send(
                WebRequest("POST", try WebURL(base + "/token-request"), fields: fields, body: body)
            )
        }

        /// The key that a client uses now.
        func key() async throws -> TokenPublicKey {
            try IssuerDirectory(json: try await get(IssuerDirectory.path).body).key(at: SystemProcess.wallSeconds)
        }
    }

    private func serve(
        _ options: [String] = ["--issuer-name", "localhost", "--port", "0"],
        environment: [String: String] = [:]
    ) throws -> Server {
        try Server(home, data, options, environment)
    }

    private func issuer(_ words: String...) throws -> Outcome {
        try home.runar(["issuer"] + words + ["--data", data])
    }

    /// Blinds new tokens for a key.
    private static func pending(_ count: Int, for key: TokenPublicKey) throws -> [PendingToken] {
        let challenge = try TokenChallenge(
            issuerName: "localhost",
            redemptionContext: [UInt8](repeating: 1, count: 32),
            originInfo: "exit.example.org"
        )
        var random = SystemRandom()
        return try (0..<count).map { _ in
            try CryptoUtils.blind(CryptoUtils.makeTokenInput(for: challenge, key: key, using: &random), for: key)
        }
    }

    // MARK: Serving

    @Test(arguments: [SIGINT, SIGTERM])
    func `an issuer on this machine starts, names the next step, and signs for a voucher`(signal: Int32) async throws {
        let server = try serve()
        #expect(server.next == "runar issuer voucher --data \(data)")
        #expect(try await server.get("/health").body == Array(#"{"status":"ok"}"#.utf8))
        let made = try issuer("voucher", "--allowance", "5", "--days", "1")
        #expect(made.status == 0, "\(made.errors)")
        let voucher = made.output.trimmingCharacters(in: .whitespacesAndNewlines)
        #expect(voucher.utf8.count == 79)
        let pending = try Self.pending(2, for: try await server.key())
        let answer = try await server.issue(pending.map(\.request), voucher)
        try #require(answer.status == 200)
        for (response, pending) in zip(try TokenBatchResponse(answer.body).responses, pending) {
            let token = try CryptoUtils.unblind(try #require(response).bytes, for: pending)
            #expect(CryptoUtils.verify(token, with: pending.key))
        }
        #expect(try await server.issue(try Self.pending(4, for: pending[0].key).map(\.request), voucher).status == 429)
        #expect(server.command.end(by: signal) == 0)
        let names = try FileManager.default.contentsOfDirectory(atPath: data)
        for name in names {
            let mode = try FileManager.default.attributesOfItem(atPath: "\(data)/\(name)")[.posixPermissions] as? Int
            #expect(mode == 0o600, "\(name)")
        }
        #expect(Set(names).isSuperset(of: ["issuer.sqlite", "issuer-key.pem", "voucher-secret"]))
    }

    @Test func `settings come from the environment and the file, and options precede both`() async throws {
        let folder = URL(filePath: data)
        try FileManager.default.createDirectory(
            at: folder,
            withIntermediateDirectories: true,
            attributes: [.posixPermissions: 0o700]
        )
        let file = folder.appending(path: "issuer.json")
        try Data(#"{"issuerName":"file.example.org","port":"0","listenAddress":"127.0.0.1"}"#.utf8).write(to: file)
        try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: file.path)
        let report = try readyReport(["--json"], environment: [:])
        #expect(report["issuerName"] as? String == "file.example.org")
        let other = try readyReport(["--json"], environment: ["ISSUER_NAME": "environment.example.org"])
        #expect(other["issuerName"] as? String == "environment.example.org")
        let option = try readyReport(
            ["--json", "--issuer-name", "option.example.org"],
            environment: ["ISSUER_NAME": "environment.example.org"]
        )
        #expect(option["issuerName"] as? String == "option.example.org")
        #expect(option["takesPurchases"] as? Bool == false)
    }

    private func readyReport(_ options: [String], environment: [String: String]) throws -> [String: Any] {
        let command = try RunningCommand(
            ["issuer", "serve", "--data", data] + options,
            home: home,
            environment: environment
        )
        let ready = try command.next("ready")
        #expect(command.end(by: SIGTERM) == 0)
        return ready
    }

    @Test(arguments: [
        (["--port", "70000"], Int32(64), "65535"), (["--listen-address", "here"], 64, "IP address"),
        (["--issuer-name", "https://issuer.example.org"], 64, "without a scheme"),
        (["--tls-cert-path", "/nonexistent/cert.pem"], 78, "TLS_KEY_PATH"),
        (["--product", "month"], 64, "com.example.monthly=200"), (["--product", "month=5"], 78, "BUNDLE_ID"),
        (["--bundle-id", "com.example.app"], 78, "PRODUCT"),
        (["--bundle-id", "com.example.app", "--product", "month=5"], 78, "ROOTS_PATH"),
        (
            ["--bundle-id", "com.example.app", "--product", "month=5", "--roots-path", "/nonexistent/root.der"], 66,
            "Apple Root CA - G3"
        ),
    ])
    func `a mistake in an option is explained`(options: [String], status: Int32, advice: String) throws {
        let outcome = try home.runar(["issuer", "serve", "--data", data, "--json"] + options)
        #expect(outcome.status == status, "\(outcome.output)\(outcome.errors)")
        let message = try #require(try outcome.failure["message"] as? String)
        #expect(message.contains(advice), "\(message)")
    }

    @Test func `data in use is reported`() throws {
        let server = try serve()
        let same = try home.runar(["issuer", "serve", "--data", data, "--port", "0", "--json"])
        #expect(same.status == 75, "\(same.output)")
        #expect(try same.failure["code"] as? String == "data-in-use")
        #expect(server.command.end(by: SIGTERM) == 0)
    }

    // MARK: Vouchers and keys

    @Test func `vouchers are printed once, are all different, and are stored nowhere`() throws {
        let server = try serve()
        let outcome = try issuer("voucher", "--allowance", "300", "--days", "2", "--count", "50", "--json")
        #expect(outcome.status == 0)
        let vouchers = try #require(try outcome.json["vouchers"] as? [String])
        #expect(vouchers.count == 50 && Set(vouchers).count == 50)
        #expect(try outcome.json["allowance"] as? Int == 300)
        #expect(server.command.end(by: SIGTERM) == 0)
        for name in try FileManager.default.contentsOfDirectory(atPath: data) {
            let bytes = try Data(contentsOf: URL(filePath: "\(data)/\(name)"))
            for voucher in vouchers { #expect(bytes.firstRange(of: Data(voucher.utf8)) == nil, "\(name)") }
        }
    }

    @Test(arguments: [
        ["--allowance", "0"], ["--allowance", "65536"], ["--days", "0"], ["--days", "9999"], ["--count", "0"],
        ["--count", "10001"],
    ])
    func `numbers out of bounds are refused`(options: [String]) throws {
        let outcome = try home.runar(["issuer", "voucher", "--data", data, "--json"] + options)
        #expect(outcome.status == 64)
        #expect(try outcome.failure["code"] as? String == "bad-number")
    }

    @Test func `a directory that is not an issuer's data is refused`() throws {
        for words in [["voucher"], ["rotate-key"]] {
            let outcome = try home.runar(["issuer"] + words + ["--data", data, "--json"])
            #expect(outcome.status == 66)
            #expect(try outcome.failure["code"] as? String == "no-issuer-data")
        }
        #expect(!FileManager.default.fileExists(atPath: data))
        #expect(try home.runar(["issuer", "voucher", "--data", ""]).status == 64)
        #expect(try home.runar(["issuer", "serve"]).status == 64)
    }

    @Test func `a rotation plans the use of the new key, and one with --now replaces the key at once`() throws {
        let server = try serve()
        #expect(server.command.end(by: SIGTERM) == 0)
        let before = try String(contentsOfFile: data + "/issuer-key.pem", encoding: .utf8)
        let planned = try issuer("rotate-key", "--json")
        #expect(planned.status == 0, "\(planned.errors)")
        let notBefore = try #require(try planned.json["notBefore"] as? Int)
        #expect(notBefore % 604_800 == 0 && UInt64(notBefore) > SystemProcess.wallSeconds)
        #expect(try planned.json["oldKeyUntil"] as? Int == notBefore + 604_800)
        #expect(try String(contentsOfFile: data + "/issuer-key-previous.pem", encoding: .utf8).hasPrefix("until: "))
        let again = try issuer("rotate-key", "--json")
        #expect(again.status == 75)
        #expect(try again.failure["code"] as? String == "key-just-rotated")
        let immediate = try issuer("rotate-key", "--now")
        #expect(immediate.status == 0 && immediate.output.contains("the old key was removed"), "\(immediate.output)")
        #expect(!FileManager.default.fileExists(atPath: data + "/issuer-key-previous.pem"))
        #expect(try String(contentsOfFile: data + "/issuer-key.pem", encoding: .utf8) != before)
        #expect(try issuer("rotate-key", "--overlap-epochs", "9").status == 64)
    }

    // MARK: Kill -9

    @Test func `a killed issuer never issued more tokens than it counted`() async throws {
        let rounds = LongTests.areRun ? 100 : 4
        let allowance = 60
        let first = try serve(["--port", "0", "--request-limits", "off"])
        let made = try issuer("voucher", "--allowance", "\(allowance)", "--count", "\(rounds)", "--json")
        let vouchers = try #require(try made.json["vouchers"] as? [String])
        let pending = try Self.pending(3, for: try await first.key()).map(\.request)
        #expect(first.command.end(by: SIGTERM) == 0)
        for (round, voucher) in vouchers.enumerated() {
            let server = try serve(["--port", "0", "--request-limits", "off"])
            let issued = Locked(0)
            await withTaskGroup { group in
                for _ in 0..<8 {
                    group.addTask {
                        while let answer = try? await server.issue(pending, voucher),  // An error: it was killed.
                            answer.status == 200
                        {
                            let count = issued.withLock { count in
                                count += 3
                                return count
                            }
                            if count > 6 + round % 5 * 6 { _ = server.command.end(by: SIGKILL) }
                        }
                    }
                }
            }
            _ = server.command.end(by: SIGKILL)
            let again = try serve(["--port", "0", "--request-limits", "off"])
            let rest = try await Self.rest(again, pending, voucher)
            #expect(issued.withLock { $0 } + rest <= allowance, "round \(round)")
            #expect(again.command.end(by: SIGTERM) == 0)
        }
    }

    /// Takes all tokens that a voucher has left; returns their number.
    private static func rest(_ server: Server, _ pending: [TokenRequest], _ voucher: String) async throws -> Int {
        var count = 0
        while try await server.issue([pending[0]], voucher).status == 200 { count += 1 }
        return count
    }
}
