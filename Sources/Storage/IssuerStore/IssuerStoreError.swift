package import Database
package import Failures

/// Why a token issuer must not sign, or could not read its counts.
package enum IssuerStoreError: Error, Hashable, Sendable {
    /// The entitlement has fewer tokens left in the epoch than were requested; nothing was taken.
    case allowanceUsed(remaining: Int)
    /// The counts could not be read or written.
    case storage(StorageError)
}

extension IssuerStoreError: CodedError, CustomStringConvertible {
    /// The failure in words, with the next step.
    package var description: String {
        switch self {
        case .allowanceUsed(remaining: 0): "all tokens of this epoch were issued: request more in the next one"
        case .allowanceUsed(let remaining):
            "the allowance has \(remaining) tokens left in this epoch: request at most that many"
        case .storage(let error): error.description
        }
    }

    package var failureCode: FailureCode {
        switch self {
        case .allowanceUsed: FailureCode("allowance-used", .refused, .tryAgain, http: 429)
        case .storage(let error): error.failureCode
        }
    }
}
