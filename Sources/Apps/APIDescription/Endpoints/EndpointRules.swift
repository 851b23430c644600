internal import CommandModel
package import HTTPAPI

/// The rules that a server applies to the requests of its endpoints, and the form of its failures.
package struct EndpointRules: Sendable {
    /// Refuses a request by throwing, before its form is read.
    package var check: @Sendable (Credentials, RouteRequest) async throws -> Void
    /// Makes the answer to a request that failed.
    package var failure: @Sendable (any Error, RouteRequest) -> RouteAnswer

    /// Creates rules; without arguments, those of a server whose clients are unknown.
    ///
    /// An endpoint with credentials then requires the presence of a token, which the handler verifies. Failures are those of
    /// ``RouteFailure/init(answering:)``.
    package init(
        check: @escaping @Sendable (Credentials, RouteRequest) async throws -> Void = { credentials, request in
            if credentials != .none { _ = try credentials.token(in: request) }
        },
        failure: @escaping @Sendable (any Error, RouteRequest) -> RouteAnswer = { error, _ in answer(to: error) }
    ) {
        self.check = check
        self.failure = failure
    }

    /// Returns the answer to a failed request, with a challenge if it needs credentials (RFC 6750, section 3).
    package static func answer(to error: any Error) -> RouteAnswer {
        let failure = RouteFailure(answering: error)
        let answer = RouteAnswer.failure(failure)
        guard failure.status == 401 else { return answer }
        do {
            return try answer.adding("WWW-Authenticate", "Bearer")
        } catch {
            preconditionFailure("a field of ours is refused: \(error)")
        }
    }
}
