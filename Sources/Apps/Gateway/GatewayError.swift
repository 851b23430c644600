internal import Failures

/// Why the gateway refuses a request.
enum GatewayError: Error, Hashable, Sendable {
    /// The request has no credentials of the scheme `PrivateToken`.
    case tokenMissing
    /// The client's X25519 key is a point of low order, with which no secret can be agreed.
    case badClientKey
    /// The gateway is about to stop.
    case draining
    /// The issuer's keys have not been received yet.
    case noIssuerKeys
    /// The tunnel refused the client.
    case tunnelFailed
    /// The metrics are requested from another machine.
    case metricsRefused
}

extension GatewayError: CodedError, CustomStringConvertible {
    /// The failure in words, with the next step.
    var description: String {
        switch self {
        case .tokenMissing: "the request has no token: send one in the field Authorization: PrivateToken token=\"…\""
        case .badClientKey: "the field clientPublicKey is a point of low order: make another key"
        case .draining: "the gateway is about to stop: choose another location"
        case .noIssuerKeys: "the gateway has not received the issuer's keys yet: try again in a minute"
        case .tunnelFailed:
            "the tunnel refused the client, and the token is spent: try again with another token, or choose another location"
        case .metricsRefused: "the metrics are for this machine: request them there"
        }
    }

    var failureCode: FailureCode {
        switch self {
        case .tokenMissing: FailureCode("no-token", .badToken, .notPermitted, http: 401)
        case .badClientKey: FailureCode("bad-client-key", .decoding, .data)
        case .draining: FailureCode("gateway-draining", .busy, .tryAgain)
        case .noIssuerKeys: FailureCode("no-issuer-keys", .busy, .tryAgain)
        case .tunnelFailed: FailureCode("gateway-tunnel-failed", .unknown, .tryAgain)
        case .metricsRefused: FailureCode("metrics-refused", .refused, .notPermitted)
        }
    }
}
