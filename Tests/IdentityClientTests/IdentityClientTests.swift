internal import Bytes
internal import Concurrency
internal import Identity
internal import Registration
internal import RegistrationModel
internal import TLSChannel
internal import TestSupport
internal import Testing
internal import WebAuthn

@testable internal import IdentityClient
@testable internal import WebClient

/// The requests of the client, and its reading of answers.
@Suite("Client of an identity server") struct IdentityClientTests {
    /// Answers each request with one response, and records the requests.
    private final class Server: Sendable {
        private struct State: Sendable {
            var requests: [WebRequest] = []
            var answer = Result<WebResponse, WebClientError>.failure(.closed)
        }

        private let state = Locked(State())

        var last: WebRequest? { state.withLock { $0.requests.last } }

        func answer(_ status: Int, _ body: String, fields: [WebField] = []) {
            let response = WebResponse(status: status, fields: fields, body: Array(body.utf8))
            state.withLock { $0.answer = .success(response) }
        }

        func fail(_ error: WebClientError) { state.withLock { $0.answer = .failure(error) } }

        func send(_ request: WebRequest) throws(WebClientError) -> WebResponse {
            let answer = state.withLock { state in
                state.requests.append(request)
                return state.answer
            }
            return try answer.get()
        }
    }

    private let server = Server()
    private let handle: Handle
    private let did: DIDKey
    private let token = SecretBytes(copying: Array("TOKEN-1_".utf8))
    private let report: String

    init() throws {
        handle = try Handle("alice")
        did = try DIDKey("did:key:zDnaerx9CtbPJ1q36T5Ln5wYt3MQYeGRG5ehnPAmxcf5mDZpv")
        report = """
            {"userId":"3f0c6d0e-8c1b-4a52-9d0f-0123456789ab","handle":"alice.example.test","did":"\(did)",\
            "token":"TOKEN-2_","expires":5,"session":"3f0c6d0e-8c1b-4a52-9d0f-0123456789ab"}
            """
    }

    private func client(
        _ identityServer: String = "https://identity.example.test",
        handleCheck: String? = nil
    ) throws -> IdentityClient {
        let configuration = RegistrationConfiguration(identityServer: identityServer, handleCheck: handleCheck)
        return try IdentityClient(configuration) { [server] request async throws(WebClientError) in
            try server.send(request)
        }
    }

    private func value(_ name: String) -> String? { server.last?.fields.first { $0.name == name }?.value }

    private var lastBody: String { String(decoding: server.last?.body ?? [], as: UTF8.self) }

    private static let options = """
        {"publicKey":{"rp":{"id":"example.test","name":"Example"},"user":{"id":"AQ","name":"a","displayName":"a"},\
        "challenge":"AAAAAAAAAAAAAAAAAAAAAA","pubKeyCredParams":[{"type":"public-key","alg":-7}],"timeout":300000,\
        "excludeCredentials":[],"authenticatorSelection":{"residentKey":"required","requireResidentKey":true,\
        "userVerification":"required"},"attestation":"none","extensions":{"credProps":true}}}
        """
    private static let passkey = RegistrationResponse(
        rawId: [1],
        clientDataJSON: [2],
        attestationObject: [3],
        transports: [],
        isDiscoverable: nil
    )
    private static let assertion = AuthenticationResponse(
        rawId: [1],
        clientDataJSON: [2],
        authenticatorData: [3],
        signature: [4],
        userHandle: nil
    )

    // MARK: Requests

    @Test func `requests have the paths and the fields of the guide`() async throws {
        let client = try client()
        server.answer(200, Self.options)
        #expect(try await client.creationOptions(handle: handle, did: did).rp.id == "example.test")
        let url = "https://identity.example.test/register/alice?handle=alice&did=\(did)"
        #expect(server.last?.url.description == url && server.last?.method == "GET")
        server.answer(200, report)
        let proof = try DIDProof([UInt8](repeating: 1, count: 64))
        let form = RegisterForm(response: Self.passkey, handle: handle, did: did, didProof: proof)
        let signedIn = try await client.register(form)
        #expect(signedIn.token == SecretBytes(copying: Array("TOKEN-2_".utf8)) && signedIn.account.did == did)
        #expect(server.last?.method == "POST" && value("Content-Type") == "application/json")
        let body = lastBody
        #expect(body.contains("\"handle\":\"alice\"") && body.contains("\"clientDataJSON\":\"Ag\""), "\(body)")
        let limits = JSONLimits(byteCount: 4096, fieldCount: 32, depth: 4)
        let passkey: Set = ["id", "rawId", "type", "response", "clientExtensionResults"]
        let members = try JSONValue.fields(of: server.last?.body ?? [], limits: limits).map(\.name)
        #expect(Set(members).subtracting(passkey) == ["handle", "did", "didProof"], "\(body)")
        #expect(server.last?.fields.map(\.name).sorted() == ["Accept", "Content-Type"])
        _ = try await client.authenticate(Self.assertion)
        #expect(server.last?.url.target == "/authenticate" && server.last?.method == "POST")
    }

    @Test func `requests with a token send it as a bearer token`() async throws {
        let client = try client()
        server.answer(200, report)
        #expect(try await client.refresh(token).account.handle.text == "alice.example.test")
        #expect(server.last?.url.target == "/token/refresh" && value("Authorization") == "Bearer TOKEN-1_")
        server.answer(200, #"{"done":true}"#)
        try await client.revoke(token, everywhere: true)
        #expect(server.last?.url.target == "/token/revoke" && value("Authorization") == "Bearer TOKEN-1_")
        #expect(server.last?.body == Array(#"{"everywhere":true}"#.utf8))
        try await client.deleteAccount(DeleteAccountForm(assertion: Self.assertion), token)
        #expect(server.last?.url.target == "/account/delete")
        server.answer(200, #"{"passkeys":[]}"#)
        #expect(try await client.passkeys(token).passkeys.isEmpty)
        #expect(try await client.addPasskey(Self.passkey, label: "key", token).passkeys.isEmpty)
        let body = lastBody
        #expect(body.contains("\"label\":\"key\"") && body.contains("\"rawId\":\"AQ\""), "\(body)")
        server.answer(200, Self.options)
        _ = try await client.passkeyOptions(Self.assertion, token)
        #expect(server.last?.url.target == "/passkeys/options")
        #expect(lastBody.hasPrefix(#"{"assertion":{"#))
    }

    @Test func `the paths below a server's own path are kept`() async throws {
        server.answer(404, "")
        let client = try client("https://a.test/identity/", handleCheck: "https://b.test/x")
        _ = try await client.resolve(handle.qualified(by: HandleDomain("example.test")))
        let path = "/x/xrpc/com.atproto.identity.resolveHandle?handle=alice.example.test"
        #expect(server.last?.url.description == "https://b.test" + path)
        server.answer(200, #"{"done":true}"#)
        try await client.revoke(token, everywhere: false)
        #expect(server.last?.url.description == "https://a.test/identity/token/revoke")
    }

    @Test func `a configuration without a server, or with another URL, is refused`() throws {
        #expect(throws: IdentityServiceError.notConfigured) {
            try IdentityClient(RegistrationConfiguration()) { _ async throws(WebClientError) in throw .closed }
        }
        #expect(throws: WebClientError.self) { try client("ftp://identity.example.test") }
        #expect(RegistrationConfiguration().handleCheckURL == nil)
        #expect(RegistrationConfiguration(identityServer: "a", handleCheck: "b").handleCheckURL == "b")
        #expect(RegistrationConfiguration(identityServer: "a").handleCheckURL == "a")
    }

    // MARK: Handles

    @Test func `a handle is free after the status 404 alone`() async throws {
        let client = try client()
        let full = try handle.qualified(by: HandleDomain("example.test"))
        let expected: [(Int, String, HandleAvailability)] = [
            (404, "", .available),
            (404, #"{"error":"HandleNotFound","message":"Unable to resolve handle"}"#, .available),
            (200, #"{"did":"did:plc:abc"}"#, .taken),
            (400, #"{"error":"InvalidHandle","message":"too odd"}"#, .invalid(reason: "too odd")),
        ]
        for (status, body, availability) in expected {
            server.answer(status, body)
            #expect(await client.availability(of: full) == availability, "\(status) \(body)")
        }
        for (status, body) in [(500, ""), (429, ""), (200, ""), (200, #"{"did":"x"}"#), (301, ""), (204, "")] {
            server.answer(status, body)
            guard case .unknown = await client.availability(of: full) else {
                Issue.record("\(status) \(body)")
                continue
            }
        }
        server.fail(.timedOut(.response))
        guard case .unknown = await client.availability(of: full) else {
            Issue.record("no answer")
            return
        }
    }

    // MARK: Failures

    @Test func `a refusal keeps the server's words as far as they are fit to show`() async throws {
        let client = try client()
        func refusal(_ status: Int, _ body: String) async -> IdentityServiceError? {
            server.answer(status, body)
            do throws(IdentityServiceError) { _ = try await client.requestOptions(handle: nil) } catch { return error }
            return nil
        }
        let taken = """
            {"error":{"code":"handle-taken","message":"taken: choose another one","context":{},"exitCode":73}}
            """
        #expect(
            await refusal(409, taken)
                == .refused(code: "handle-taken", message: "taken: choose another one", status: 409)
        )
        let odd = "{\"error\":{\"code\":\"Odd Code\",\"message\":\"a\\u202eb\\nc\"}}"
        #expect(await refusal(403, odd) == .refused(code: "refused", message: "ab c", status: 403))
        let long = String(repeating: "x", count: 5_000)
        let cut = await refusal(403, "{\"error\":{\"code\":\"\(long)\",\"message\":\"\(long)\"}}")
        #expect(cut == .refused(code: "refused", message: String(long.prefix(1_024)), status: 403))
        for (status, body) in [(502, "<html>"), (302, ""), (500, "{\"error\":5}")] {
            let message = "the identity server answered with the status \(status)"
            #expect(await refusal(status, body) == .refused(code: "refused", message: message, status: status))
        }
        #expect(await refusal(200, "<html>") == .malformedAnswer(reason: "it is not the JSON that was expected"))
    }

    @Test func `failures of the connection keep their kind`() async throws {
        let client = try client()
        let expected: [(WebClientError, isOffline: Bool)] = [
            (.notFound(host: "a"), true), (.unreachable(host: "a", reason: "b"), true), (.closed, true),
            (.timedOut(.connecting), true), (.tls(.timedOut), true), (.tls(.disconnected), true),
            (.tls(.pinMismatch), true), (.tls(.wrongName), true), (.notEncrypted(host: "a"), true),
            (.cancelled, false), (.protocolViolation(reason: "a"), false), (.tooLarge(limit: 1), false),
        ]
        for (failure, isOffline) in expected {
            server.fail(failure)
            var found: IdentityServiceError?
            do throws(IdentityServiceError) { _ = try await client.account(token) } catch { found = error }
            #expect(found?.isOffline == isOffline && found?.isRefusal == false, "\(failure)")
        }
        server.fail(.tls(.pinMismatch))
        await #expect(throws: IdentityServiceError.untrusted(reason: "\(TLSError.pinMismatch)")) {
            try await client.account(token)
        }
    }

    @Test(arguments: ["", "a b", "a\\r\\nX: y", "é", String(repeating: "a", count: 8_193)])
    func `a token that cannot be a header field is refused`(text: String) async throws {
        let client = try client()
        server.answer(200, report.replacing("TOKEN-2_", with: text))
        await #expect(throws: IdentityServiceError.malformedAnswer(reason: "it has no token")) {
            try await client.authenticate(Self.assertion)
        }
    }

    // MARK: Pages

    @Test func `a ceremony is begun, polled with its secret, and ended`() async throws {
        let client = try client()
        let begun = """
            {"id":"abc","secret":"s3cret","number":"012345","link":"https://a.test/ceremony/abc","expires":9}
            """
        server.answer(200, begun)
        let notice = try await client.beginCeremony(BeginCeremonyForm(purpose: .authenticate))
        #expect(notice.number == "012345" && notice.link == "https://a.test/ceremony/abc")
        server.answer(200, #"{"state":"waiting"}"#)
        #expect(try await client.poll(notice) == .waiting)
        #expect(server.last?.url.target == "/ceremonies/abc" && value("x-ceremony-secret") == "s3cret")
        server.answer(200, #"{"state":"failed","code":"user-not-verified","message":"verify"}"#)
        #expect(try await client.poll(notice) == .failed(code: "user-not-verified", message: "verify"))
        server.answer(200, "{\"state\":\"done\",\"signedIn\":\(report)}")
        guard case .signedIn(let signedIn) = try await client.poll(notice) else {
            Issue.record("not signed in")
            return
        }
        #expect(signedIn.account.did == did)
        server.answer(200, #"{"done":true}"#)
        try await client.cancel(notice)
        #expect(server.last?.method == "DELETE" && value("x-ceremony-secret") == "s3cret")
        for change in [("abc\",\"secret", "../x\",\"secret"), ("012345", "\\u001b[2J"), ("https://a", "ht tp://a")] {
            server.answer(200, begun.replacing(change.0, with: change.1))
            await #expect(throws: IdentityServiceError.malformedAnswer(reason: "the ceremony cannot be shown")) {
                try await client.beginCeremony(BeginCeremonyForm(purpose: .authenticate))
            }
        }
        server.answer(200, #"{"state":"done"}"#)
        await #expect(throws: IdentityServiceError.malformedAnswer(reason: "it has no account")) {
            try await client.poll(notice)
        }
    }

    @Test func `the facts of a server begin a registration`() async throws {
        let client = try client()
        let facts = """
            {"name":"Example","rpId":"example.test","handleDomain":"example.test",
            "agreement":{"version":"1","text":"Be kind."}}
            """
        server.answer(200, facts)
        let plan = try await client.facts().plan(.signIn(nil), .page)
        #expect(plan.agreement == Agreement(version: "1", text: "Be kind.") && plan.relyingPartyId == "example.test")
        server.answer(200, facts.replacing("\"version\":\"1\"", with: "\"version\":\"\""))
        await #expect(throws: IdentityServiceError.self) { try await client.facts() }
        // A server of another kind has no such page.
        server.answer(404, #"{"error":{"code":"not-found","message":"there is no such page"}}"#)
        let reason = "it has no page with the facts of the server"
        await #expect(throws: IdentityServiceError.malformedAnswer(reason: reason)) { try await client.facts() }
    }

    @Test func `no answer crashes the client`() {
        let inputs = [report, Self.options, #"{"state":"waiting"}"#, #"{"error":{"code":"a"}}"#, #"{"did":"did:a:b"}"#]
        neverCrash(onTexts: inputs, rounds: 3_000) { text in
            let response = WebResponse(status: 400, fields: [], body: Array(text.utf8))
            _ = IdentityClient.refusal(response)
            _ = try? IdentityClient.decode(SignedInReport.self, response.body)  // refused
            _ = try? IdentityClient.decode(CeremonyStateReport.self, response.body)  // refused
            _ = try IdentityClient.decode(CreationOptionsReport.self, response.body)
        }
        let deep = [UInt8](repeating: UInt8(ascii: "["), count: 100_000)
        #expect(throws: IdentityServiceError.self) { try IdentityClient.decode(SignedInReport.self, deep) }
    }
}
