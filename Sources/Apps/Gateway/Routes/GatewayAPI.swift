internal import APIDescription
internal import BlindTokens
internal import CoreMetrics
internal import ExitModel
internal import Failures
internal import HTTPAPI
internal import Identity
internal import Logging
internal import Platform

/// The HTTP API of a gateway.
struct GatewayAPI: Sendable {
    let service: RedemptionService
    let describer: GatewayDescriber
    let metrics: GatewayMetrics
    let logger: Logger

    var endpoints: [ServedEndpoint] {
        [
            GatewayEndpoints.redeem.serve(redemptionRules) { request in
                let report = try await service.redeem(request.form, authorization: try authorization(request.route))
                metrics.redemptions.increment()
                return report
            },
            GatewayEndpoints.description.respond(rules) { _ in
                guard let json = describer.json else { throw GatewayError.noIssuerKeys }
                return try RouteAnswer.json(json).adding("Cache-Control", "public, max-age=10")
            },
            GatewayEndpoints.health.serve(rules) { _ in
                GatewayHealthReport(status: status)
            },
            GatewayEndpoints.metrics.respond(rules) { request in
                guard request.origin.isOfUser || request.route.remoteAddress?.isLoopback == true else {
                    throw GatewayError.metricsRefused
                }
                let text = try await metrics.text(service.leases)
                return .text(text, contentType: GatewayMetrics.contentType)
            },
        ]
    }

    /// The routes, with that of the description.
    ///
    /// - Throws: ``SchemaReader/Failure``.
    func routes() throws -> [Route] {
        let document = OpenAPIDocument(
            title: "Runar gateway",
            version: "1",
            servers: [service.configuration.publicURL.text]
        )
        return endpoints.map(\.route) + [try document.route(of: endpoints)]
    }

    private var status: GatewayHealthReport.Status {
        if service.leases.isDraining { return .draining }
        return challenge == nil ? .waiting : .ready
    }

    private var challenge: String? { service.issuer.challenge(at: service.clocks.wallSeconds()) }

    // MARK: Failures

    private var rules: EndpointRules { EndpointRules(failure: { error, _ in failure(error) }) }

    /// The rules of the redemption: a request without a token is refused before its form is read.
    private var redemptionRules: EndpointRules {
        EndpointRules(
            check: { _, request in _ = try authorization(request) },
            failure: { error, _ in failure(error) }
        )
    }

    /// - Throws: ``GatewayError/tokenMissing``; ``BlindTokenError`` for several fields.
    private func authorization(_ request: RouteRequest) throws -> String {
        let values = request.fields.values(of: "Authorization")
        guard let value = values.first else { throw GatewayError.tokenMissing }
        guard values.count == 1 else {
            throw BlindTokenError.malformed(.header, reason: "it occurs \(values.count) times")
        }
        return value
    }

    /// A form that cannot be read has the status of wrong sizes, and status 401 a challenge.
    private func failure(_ error: any Error) -> RouteAnswer {
        var failure = RouteFailure(answering: error)
        if failure.status == 400 { failure.status = 422 }
        metrics.countRefusal(failure.code)
        if failure.status >= 500, !(error is GatewayError) {
            logger.error("a request failed", metadata: ["code": "\(failure.code)", "error": "\(error)"])
        }
        let answer = RouteAnswer.failure(failure)
        guard failure.status == 401, let challenge else { return answer }
        do {
            return try answer.adding("WWW-Authenticate", challenge)
        } catch {
            preconditionFailure("a field of ours is refused: \(error)")
        }
    }
}
