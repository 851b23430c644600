package import Database
package import Failures

/// Why the state of a gateway did not change as was asked, or could not be read.
package enum GatewayStoreError: Error, Hashable, Sendable {
    /// The token was spent before.
    case tokenSpent
    /// The epoch of the token has ended, and its spent tokens were removed.
    case epochEnded(UInt64)
    /// As many leases exist as may.
    case full(limit: Int)
    /// The state could not be read or written.
    case storage(StorageError)
}

extension GatewayStoreError: CodedError, CustomStringConvertible {
    /// The failure in words, with the next step.
    package var description: String {
        switch self {
        case .tokenSpent: "the token was spent before: use another one"
        case .epochEnded(let epoch): "the epoch \(epoch) of the token has ended: use a token of the present epoch"
        case .full(let limit):
            "the gateway serves \(limit) clients, which is its limit: choose another location, or try again later"
        case .storage(let error): error.description
        }
    }

    package var failureCode: FailureCode {
        switch self {
        case .tokenSpent: FailureCode("token-spent", .badToken, .cannotCreate)
        case .epochEnded: FailureCode("epoch-ended", .badToken, .notPermitted, http: 401)
        case .full: FailureCode("gateway-full", .busy, .tryAgain)
        case .storage(let error): error.failureCode
        }
    }
}
