internal import CommandModel
package import HTTPAPI

/// An endpoint with its handler.
package struct ServedEndpoint: Sendable {
    package let route: Route
    /// The parameters that the type of the path reads.
    package let parameters: [String]
    /// Throws ``SchemaReader/Failure``.
    package let shape: @Sendable () throws -> APIShape
}

extension Endpoint {
    /// Serves the endpoint by a handler that makes the answer itself, such as one with header fields.
    ///
    /// The rules are applied before the form is read and `answer` runs.
    package func respond(
        _ rules: EndpointRules = EndpointRules(),
        _ answer: @escaping @Sendable (EndpointRequest<Path, Form>) async throws -> RouteAnswer
    ) -> ServedEndpoint {
        let route = Route(method, template, body: body, endsWithClient: endsWithClient) { request in
            do {
                try await rules.check(credentials, request)
                return try await answer(EndpointRequest(request, of: self))
            } catch {
                return rules.failure(error, request)
            }
        }
        return ServedEndpoint(route: route, parameters: Path.names) { try shape() }
    }

    /// Serves the endpoint by a handler that returns the report.
    package func serve(
        _ rules: EndpointRules = EndpointRules(),
        _ answer: @escaping @Sendable (EndpointRequest<Path, Form>) async throws -> Answer
    ) -> ServedEndpoint {
        guard case .report = kind else { preconditionFailure("\(method.rawValue) \(template) answers no report") }
        return respond(rules) { report(try await answer($0)) }
    }

    /// The answer with a report, to which a handler may add header fields.
    package func report(_ report: Answer) -> RouteAnswer { .json(JSONText.bytes(report), status: status) }
}

extension Endpoint where Answer == NoAnswer {
    /// Serves the endpoint by a handler whose success has no body.
    package func serveAction(
        _ rules: EndpointRules = EndpointRules(),
        _ body: @escaping @Sendable (EndpointRequest<Path, Form>) async throws -> Void
    ) -> ServedEndpoint {
        guard case .empty = kind else { preconditionFailure("\(method.rawValue) \(template) has a body") }
        return respond(rules) { request in
            try await body(request)
            return RouteAnswer(.empty, status: status)
        }
    }
}
