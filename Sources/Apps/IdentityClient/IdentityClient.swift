internal import Bytes
internal import Essentials
package import Registration
internal import TLSChannel
package import WebClient

/// The client of an identity server over HTTP.
///
/// Answers are bounded and never trusted with more than their form: a text that is no answer of an identity server is an
/// error, and the words of a refusal are made fit to show.
package struct IdentityClient: Sendable {
    /// Sends one request.
    package typealias Transport = @Sendable (WebRequest) async throws(WebClientError) -> WebResponse

    /// The most bytes of an answer: the longest lists 64 passkeys.
    package static let answerByteLimit = 256 * 1024
    /// The deepest nesting of the JSON of an answer.
    private static let nestingLimit = 8

    private let identityServer: WebURL
    private let handleCheck: WebURL
    private let transport: Transport

    /// Uses the identity server and the host for handles of a configuration.
    ///
    /// - Throws: ``IdentityServiceError/notConfigured`` without a server; `WebClientError.invalidURL`.
    package init(_ configuration: RegistrationConfiguration, transport: @escaping Transport) throws {
        guard let server = configuration.identityServer, let check = configuration.handleCheckURL else {
            throw IdentityServiceError.notConfigured
        }
        identityServer = try WebURL(server)
        handleCheck = try WebURL(check)
        self.transport = transport
    }

    /// Uses a web client, whose limit for the body of an answer should be ``answerByteLimit``.
    ///
    /// - Throws: As ``init(_:transport:)``.
    package init(_ configuration: RegistrationConfiguration, client: WebClient) throws {
        try self.init(configuration) { request async throws(WebClientError) in try await client.send(request) }
    }

    // MARK: Requests

    /// The place of a request.
    enum Server {
        case identity
        case handleCheck
    }

    /// Sends a request and reads its answer.
    func send<Answer: Decodable>(
        _ method: String,
        _ path: String,
        to server: Server = .identity,
        _ fields: [WebField] = [],
        body: (some Encodable)? = String?.none,
        as answer: Answer.Type = Answer.self
    ) async throws(IdentityServiceError) -> Answer {
        let response = try await respond(method, path, to: server, fields, body: body)
        guard 200..<300 ~= response.status else { throw Self.refusal(response) }
        return try Self.decode(answer, response.body)
    }

    /// Sends a request and returns its response of any status.
    func respond(
        _ method: String,
        _ path: String,
        to server: Server,
        _ fields: [WebField] = [],
        body: (some Encodable)? = String?.none
    ) async throws(IdentityServiceError) -> WebResponse {
        let base = server == .identity ? identityServer : handleCheck
        do throws(WebClientError) {
            let url = try WebURL(base, target: base.pathPrefix + path)
            var request = WebRequest(method, url, fields: [WebField("Accept", "application/json")] + fields)
            if let body {
                guard let bytes = Self.encoded(body) else {
                    throw WebClientError.invalidRequest(reason: "the form cannot be written")
                }
                request.fields.append(WebField("Content-Type", "application/json"))
                request.body = bytes
            }
            return try await transport(request)
        } catch {
            throw IdentityServiceError(error)
        }
    }

    private static func encoded(_ body: some Encodable) -> [UInt8]? {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return (try? encoder.encode(body)).map { Array($0) }  // nil: reported by the caller
    }

    // MARK: Answers

    static func decode<Answer: Decodable>(
        _ type: Answer.Type,
        _ body: [UInt8]
    ) throws(IdentityServiceError) -> Answer {
        guard body.count <= answerByteLimit, JSONNesting.isAtMost(nestingLimit, in: body) else {
            throw .malformedAnswer(reason: "it is too large")
        }
        do {
            return try JSONDecoder().decode(type, from: Data(body))
        } catch {
            throw .malformedAnswer(reason: "it is not the JSON that was expected")
        }
    }

    /// Returns the failure that a response describes, in the form of this API or in that of XRPC.
    static func refusal(_ response: WebResponse) -> IdentityServiceError {
        struct Failure: Decodable {
            struct Words: Decodable {
                let code: String?
                let message: String?
            }

            let error: Words
        }
        struct XRPCFailure: Decodable {
            let error: String
            let message: String?
        }
        let failure = try? decode(Failure.self, response.body)  // nil: another form
        let xrpc = try? decode(XRPCFailure.self, response.body)  // nil: another form
        return .refused(
            by: failure?.error.code ?? xrpc.map { kebabCase($0.error) },
            message: failure?.error.message ?? xrpc?.message,
            status: response.status
        )
    }

    /// Returns a word such as `InvalidHandle` as `invalid-handle`.
    private static func kebabCase(_ word: String) -> String {
        word.prefix(64).reduce(into: "") { text, character in
            if character.isUppercase, !text.isEmpty { text.append("-") }
            text.append(contentsOf: character.lowercased())
        }
    }
}

extension IdentityServiceError {
    /// The failure of a service whose request failed on its way.
    init(_ error: WebClientError) {
        switch error {
        case .notFound, .unreachable, .closed: self = .unreachable(reason: "\(error)")
        case .cancelled, .clientClosed: self = .cancelled
        case .timedOut: self = .timedOut
        case .tls(.timedOut): self = .timedOut
        case .tls(.disconnected), .tls(.truncated): self = .unreachable(reason: "\(error)")
        case .tls, .notEncrypted: self = .untrusted(reason: "\(error)")
        case .invalidURL, .invalidRequest, .tooLarge, .protocolViolation:
            self = .malformedAnswer(reason: "\(error)")
        }
    }
}
