internal import APIDescription
internal import HTTPAPI
internal import IssuerStore
internal import Platform

/// The HTTP API of a token issuer.
struct IssuerAPI: Sendable {
    let service: IssuerService
    let configuration: TokenIssuerConfiguration
    let metrics: IssuerMetrics
    private let limits: SourceLimits

    init(
        _ service: IssuerService,
        _ configuration: TokenIssuerConfiguration,
        metrics: IssuerMetrics,
        limits: SourceLimits
    ) {
        self.service = service
        self.configuration = configuration
        self.metrics = metrics
        self.limits = limits
    }

    /// All endpoints.
    var endpoints: [ServedEndpoint] { tokenEndpoints + operationEndpoints }

    /// The routes, with that of the description.
    ///
    /// - Throws: ``SchemaReader/Failure``.
    func routes() throws -> [Route] {
        let document = OpenAPIDocument(title: "Runar token issuer", version: "1", servers: [configuration.ownOrigin])
        return endpoints.map(\.route) + [try document.route(of: endpoints)]
    }

    /// The rules of endpoints whose requests cost nothing: a refusal is counted.
    var rules: EndpointRules { EndpointRules(failure: { error, request in failure(error, request) }) }

    /// The rules of endpoints whose requests cost work: each takes a unit of its source.
    var limitedRules: EndpointRules {
        EndpointRules(
            check: { credentials, request in
                let source = request.source(behind: configuration.trustedProxies)
                guard limits.admit(source, at: service.clocks.monotonic()) else {
                    throw TokenIssuerError.tooManyRequests
                }
                if credentials != .none { _ = try credentials.token(in: request) }
            },
            failure: { error, request in failure(error, request) }
        )
    }

    private func failure(_ error: any Error, _ request: RouteRequest) -> RouteAnswer {
        let failure = RouteFailure(answering: error)
        metrics.countRefusal(failure.code)
        guard case TokenIssuerError.allowanceUsed(let remaining, let nextEpoch) = error else {
            return EndpointRules.answer(to: error)
        }
        var counted = failure
        counted.context = ["remaining": String(remaining), "nextEpoch": String(nextEpoch)]
        let now = service.clocks.wallSeconds()
        return .failure(counted).adding(valid: ("Retry-After", String(nextEpoch > now ? nextEpoch - now : 0)))
    }

    private var operationEndpoints: [ServedEndpoint] {
        [
            IssuerEndpoints.health.respond(rules) { _ in
                let failure = service.store.writeFailure == nil ? nil : "the last count could not be stored"
                return HealthReport(failure: failure).answer
            },
            IssuerEndpoints.metrics.respond(rules) { request in
                let isAdmitted = try request.route.mayReadMetrics(
                    of: configuration.metricsToken,
                    given: Credentials.bearer.token(in: request.route)
                )
                guard isAdmitted else { throw TokenIssuerError.metricsRefused }
                let text = metrics.text(waiting: service.threads.admittedCount)
                return .text(text, contentType: IssuerMetrics.contentType)
            },
        ]
    }
}

extension RouteAnswer {
    /// Returns the answer with fields of ours, which are valid.
    func adding(valid pairs: (name: String, value: String)...) -> RouteAnswer {
        var answer = self
        answer.fields = HeaderFields(valid: pairs)
        return answer
    }
}
