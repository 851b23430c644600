internal import Bytes
internal import Concurrency
internal import Foundation
internal import Identity
internal import RegistrationModel
internal import TestSupport
internal import Testing
internal import WebAuthn
internal import WebClient

@testable internal import AuthenticatorSupport

/// Registrations while the server is killed at random.
@Suite("Registrations and kill -9", .aside, .timeLimit(.minutes(60))) struct IdentityCrashTests {
    private static let rounds =
        ProcessInfo.processInfo.environment["ROUNDS"].flatMap { Int($0) } ?? (LongTests.areRun ? 1_000 : 100)
    /// The registrations that are in progress when the server is killed.
    private static let width = 6

    /// A registration that was attempted.
    private struct Attempt: Sendable {
        let handle: Handle
        let did: DIDKey
        var authenticator: SoftwareAuthenticator
    }

    /// A server that is started again on the same data.
    private final class Server: Sendable {
        static let origin = "http://localhost:1"
        let command: RunningCommand
        let base: String
        let client: WebClient

        init(_ home: TemporaryDataDirectory) throws {
            command = try RunningCommand(
                [
                    "identity", "serve", "--data", home.path + "/identity", "--port", "0", "--origin", Self.origin,
                    "--listen-address", "127.0.0.1", "--request-limits", "off", "--json",
                ],
                home: home
            )
            let port = try command.next("ready")["port"] as? Int
            base = "http://127.0.0.1:\(try #require(port))"
            client = try WebClient(WebClient.Configuration())
        }

        deinit { client.close() }

        func get(_ path: String) async throws -> WebResponse {
            try await client.send(WebRequest(try WebURL(base + path)))
        }

        func post(_ path: String, _ form: some Encodable) async throws -> WebResponse {
            let body = Array(try JSONEncoder().encode(form))
            let fields = [WebField("Content-Type", "application/json")]
            return try await client.send(WebRequest("POST", try WebURL(base + path), fields: fields, body: body))
        }

        /// Returns whether the server acknowledged the registration.
        func register(_ attempt: inout Attempt, by key: P256PrivateKey) async throws -> Bool {
            let path = "/register/\(attempt.handle)?handle=\(attempt.handle)&did=\(attempt.did)"
            let options = try JSONDecoder()
                .decode(CreationOptionsReport.self, from: Data(try await get(path).body)).publicKey
            attempt.authenticator.userHandle = options.user.id
            let form = RegisterForm(
                response: try attempt.authenticator.register(options.challenge),
                handle: attempt.handle,
                did: attempt.did,
                didProof: try DIDProof(by: key, challenge: options.challenge, rpId: "localhost", handle: attempt.handle)
            )
            return try await post("/register", form).status == 200
        }

        /// Whether an account has the handle; then it must be whole: its DID, its passkey and a new session.
        func isWhole(_ attempt: Attempt) async throws -> Bool {
            let name = "\(attempt.handle).localhost.test"
            let resolved = try await get("/xrpc/com.atproto.identity.resolveHandle?handle=\(name)")
            guard resolved.status == 200 else {
                #expect(resolved.status == 404)
                return false
            }
            let report = try JSONDecoder().decode(ResolveReport.self, from: Data(resolved.body))
            #expect(report.did == attempt.did)
            let options = try JSONDecoder()
                .decode(RequestOptionsReport.self, from: Data(try await get("/authenticate/\(attempt.handle)").body))
            var authenticator = attempt.authenticator
            authenticator.signCount += 1
            let response = try authenticator.authenticate(options.publicKey.challenge)
            let signedIn = try await post("/authenticate", response)
            #expect(signedIn.status == 200, "\(String(decoding: signedIn.body, as: UTF8.self))")
            return true
        }
    }

    @Test func `after kill -9 an account is whole or absent, and an acknowledged one is whole`() async throws {
        let seed = ProcessInfo.processInfo.environment["SEED"].flatMap { UInt64($0) } ?? .random(in: 0 ... .max)
        print("registrations and kill -9: \(Self.rounds) rounds, SEED=\(seed)")
        var random = SplitMix64(seed: seed)
        let home = try TemporaryDataDirectory()
        var attempts: [(attempt: Attempt, isAcknowledged: Bool)] = []
        var counts = (whole: 0, absent: 0)
        for round in 0..<Self.rounds {
            let server = try Server(home)
            for (attempt, isAcknowledged) in attempts {
                let isWhole = try await server.isWhole(attempt)
                #expect(isWhole || !isAcknowledged, "\(attempt.handle) was acknowledged and is lost")
                if isWhole { counts.whole += 1 } else { counts.absent += 1 }
            }
            // The server dies after one of them, or while all are under way.
            let survivors = Int.random(in: 0..<Self.width, using: &random)
            attempts = try await Self.registerUntilKilled(server, round, survivors)
        }
        print("\(counts.whole) accounts were whole, \(counts.absent) absent")
        #expect(counts.whole > 0)
    }

    /// Registers concurrently, and kills the server after `survivors` acknowledgements.
    private static func registerUntilKilled(
        _ server: Server,
        _ round: Int,
        _ survivors: Int
    ) async throws -> [(Attempt, Bool)] {
        let acknowledged = Locked(0)
        return try await withThrowingTaskGroup { group in
            for number in 0..<width {
                let key = P256PrivateKey()
                var authenticator = try SoftwareAuthenticator()
                authenticator.relyingPartyId = "localhost"
                authenticator.origin = Server.origin
                authenticator.credentialId = Array("passkey \(round) \(number) of a test".utf8)
                let start = Attempt(
                    handle: try Handle("a\(round)-\(number)"),
                    did: DIDKey(key.publicKey),
                    authenticator: authenticator
                )
                group.addTask {
                    var attempt = start
                    let isAcknowledged = (try? await server.register(&attempt, by: key)) ?? false  // it was killed
                    let count = acknowledged.withLock { count in
                        count += isAcknowledged ? 1 : 0
                        return count
                    }
                    if count >= survivors { _ = server.command.end(by: SIGKILL) }
                    return (attempt, isAcknowledged)
                }
            }
            var attempts: [(Attempt, Bool)] = []
            for try await attempt in group { attempts.append(attempt) }
            _ = server.command.end(by: SIGKILL)
            return attempts
        }
    }
}
