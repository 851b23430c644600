internal import APIDescription
internal import HTTPAPI
internal import RegistrationModel

/// The HTTP API of the identity server.
package struct IdentityAPI: Sendable {
    let service: AccountService
    let metrics: IdentityMetrics
    let agreement: Agreement

    init(_ service: AccountService, metrics: IdentityMetrics, agreement: Agreement) {
        self.service = service
        self.metrics = metrics
        self.agreement = agreement
    }

    var configuration: IdentityServerConfiguration { service.configuration }

    /// All endpoints.
    var endpoints: [ServedEndpoint] {
        registrationEndpoints + sessionEndpoints + accountEndpoints + ceremonyEndpoints + handleEndpoints
            + operationEndpoints
    }

    /// The routes, with that of the description.
    ///
    /// - Throws: ``SchemaReader/Failure``.
    func routes() throws -> [Route] {
        let document = OpenAPIDocument(title: "Runar identity server", version: "1", servers: [configuration.ownOrigin])
        return endpoints.map(\.route) + [try document.route(of: endpoints)]
    }

    /// The rules of all endpoints: a refusal is counted, and has an entry in the audit log.
    var rules: EndpointRules { EndpointRules(failure: { error, request in failure(error, request) }) }

    private func failure(_ error: any Error, _ request: RouteRequest) -> RouteAnswer {
        let answer = EndpointRules.answer(to: error)
        let failure = RouteFailure(answering: error)
        let isFault = failure.status >= 500
        metrics.countRefusal(failure.code)
        service.audit.record(
            AuditEvent(
                isFault ? .failed : .refused,
                code: failure.code,
                // The client does not learn how the server failed.
                detail: isFault ? "\(error)" : nil,
                address: client(of: request).address
            )
        )
        return answer
    }

    // MARK: Requests

    /// The client of a request: the other end of the connection, or the client that a trusted proxy names.
    func client(of request: RouteRequest) -> AccountService.Client {
        AccountService.Client(address: request.source(behind: configuration.trustedProxies))
    }

    /// The account of the token of a request.
    func user(of request: RouteRequest) async throws -> SignedIn {
        try await service.signedIn(try Credentials.signedIn.token(in: request))
    }

    /// The answer with a new session: the report, and its token in the guide's header field.
    func answer<Path, Form>(
        _ endpoint: Endpoint<Path, Form, SignedInReport>,
        _ report: SignedInReport
    ) throws -> RouteAnswer {
        try endpoint.report(report).adding("x-auth-token", report.token)
    }
}
