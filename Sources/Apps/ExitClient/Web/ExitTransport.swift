internal import TLSChannel
internal import WebClient

/// The path of requests to the parties of an exit.
///
/// Each request has a connection of its own, with a TLS session of its own. So no party sees by the connection that two
/// requests are from one client.
package struct ExitTransport: Sendable {
    /// Sends one request on a new connection.
    typealias Send =
        @Sendable (WebRequest, WebClient.Configuration) async throws(WebClientError) -> WebResponse

    private let trust: TLSTrust.Source
    private let send: Send

    /// Trusts the authorities of the system.
    package init() { self.init(roots: nil) }

    /// Trusts the authorities of a text in PEM, for an exit with an authority of its own.
    package init(roots: String?) {
        self.init(trust: roots.map { .roots(pem: $0) } ?? .system) {
            (request, configuration) async throws(WebClientError) -> WebResponse in
            let client = try WebClient(configuration)
            defer { client.close() }
            return try await client.send(request)
        }
    }

    init(trust: TLSTrust.Source, send: @escaping Send) {
        self.trust = trust
        self.send = send
    }

    /// Sends a request, and returns the response of any status.
    ///
    /// With a certificate in PEM, only that one is trusted; with a pin, the chain must have its key.
    func respond(
        to request: WebRequest,
        answerLimit: Int,
        certificate: String? = nil,
        pin: KeyPin? = nil
    ) async throws(WebClientError) -> WebResponse {
        var configuration = WebClient.Configuration()
        configuration.trust = certificate.map { .roots(pem: $0) } ?? trust
        configuration.pins = pin.map { [$0] } ?? []
        configuration.bodyByteLimit = answerLimit
        configuration.requestCount = 1
        configuration.idleCount = 0
        return try await send(request, configuration)
    }
}

/// A refusal in the form of the servers of an exit.
struct ExitRefusal: Sendable {
    let code: String?
    let message: String
    /// The number of tokens that a voucher still grants; nil for other refusals.
    let remaining: Int?
}
