internal import Concurrency

/// One request and the place for its outcome.
final class Exchange: Sendable {
    enum Outcome: Sendable {
        /// The response, and whether the connection can carry another request.
        case response(WebResponse, isReusable: Bool)
        /// The failure, and whether a part of the response had arrived.
        case failure(WebClientError, hasBegun: Bool)
    }

    let request: WebRequest
    /// The longest body of the response.
    let bodyLimit: Int
    let outcome = Promise<Outcome>()

    init(_ request: WebRequest, bodyLimit: Int) {
        self.request = request
        self.bodyLimit = bodyLimit
    }
}
