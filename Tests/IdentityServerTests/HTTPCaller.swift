internal import APIDescription
internal import Bytes
internal import CommandModel
internal import Identity
internal import RegistrationModel
internal import Testing
internal import WebAuthn

@testable internal import HTTPAPI
@testable internal import IdentityServer

/// Calls the routes of a server in this process, as its HTTP server would.
struct HTTPCaller {
    /// An answer that was read whole.
    struct Answer {
        let status: Int
        let body: [UInt8]
        let fields: HeaderFields

        /// The object of the body; nil if it is none.
        var json: JSONDocument? { try? JSONDocument(body) }  // another body
        var error: JSONDocument? { json?["error"] }
        var code: String? { error?["code"]?.text }
        var text: String { String(decoding: body, as: UTF8.self) }

        /// Whether the answer is no failure, or one of the client that has a word for programs and a sentence.
        var isSound: Bool {
            guard status >= 400 else { return true }
            guard let code, let message = error?["message"]?.text else { return false }
            return status < 500 && !code.isEmpty && message.count > 8
        }

        func decode<Value: Decodable>(_ type: Value.Type = Value.self) throws -> Value {
            try #require(status == 200, "\(status) \(text)")
            return try JSONText.decode(type, from: body)
        }
    }

    let scene: Scene
    let api: IdentityAPI
    private let table: RouteTable
    /// The other end of the connection; the address of the scene's client.
    var remote = SocketAddress(.v4(0x0A00_0001), port: 50_000)

    init(_ scene: Scene, service: AccountService? = nil) throws {
        self.scene = scene
        api = IdentityAPI(service ?? scene.service, metrics: IdentityMetrics(), agreement: Agreement(text: "Be kind."))
        table = RouteTable(try api.routes())
    }

    /// Asks a route; nil if no route has the path and the method.
    func ask(
        _ method: Route.Method,
        _ target: String,
        _ body: [UInt8] = [],
        token: String? = nil,
        fields: [(name: String, value: String)] = [],
        host: String? = "id.example.org"
    ) async throws -> Answer? {
        let parts = target.split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
        guard case .route(let route, let parameters) = table.find(method.rawValue, String(parts[0])).finding,
            let query = PercentText.query(parts.count == 2 ? parts[1] : "")
        else { return nil }
        var request = RouteRequest()
        request.parameters = parameters
        request.query = query
        request.origin = .network
        request.host = host
        request.remoteAddress = remote
        request.body = body
        request.fields = HeaderFields(valid: fields + (token.map { [("Authorization", "Bearer \($0)")] } ?? []))
        return try Self.read(await route.answer(request))
    }

    /// Asks a route that exists.
    func call(
        _ method: Route.Method,
        _ target: String,
        _ body: [UInt8] = [],
        token: String? = nil,
        fields: [(name: String, value: String)] = [],
        host: String? = "id.example.org"
    ) async throws -> Answer {
        try #require(await ask(method, target, body, token: token, fields: fields, host: host), "no route \(target)")
    }

    private static func read(_ answer: RouteAnswer) throws -> Answer {
        let body: [UInt8]
        switch answer.content {
        case .empty: body = []
        case .json(let bytes), .last(let bytes, _), .bytes(let bytes, _), .download(let bytes, _): body = bytes
        case .lines, .file: throw UnreadableAnswer()
        }
        return Answer(status: answer.status, body: body, fields: answer.fields)
    }

    private struct UnreadableAnswer: Error {}

    // MARK: Ceremonies

    static func path(toRegister person: Person, shape: String = "") -> String {
        "/register/\(person.handle.text)?handle=\(person.handle.text)&did=\(person.did)\(shape)"
    }

    /// Registers a person.
    func register(_ handle: String) async throws -> (person: Person, answer: Answer) {
        var person = try Person(handle)
        let options = try await call(.get, Self.path(toRegister: person)).decode(CreationOptionsReport.self)
        let answer = try await call(.post, "/register", JSONText.bytes(try person.answer(options.publicKey)))
        person.signedIn = try answer.decode()
        return (person, answer)
    }

    /// Confirms an action of a signed-in person.
    func confirm(_ action: String, _ person: inout Person) async throws -> AuthenticationResponse {
        let token = try #require(person.signedIn?.token)
        let options = try await call(.get, "/passkeys/confirm/\(action)", token: token)
        return try person.assert(options.decode(RequestOptionsReport.self).publicKey)
    }
}
