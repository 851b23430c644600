package import Failures

/// Why claims cannot be in an ``IdentityToken``.
package enum IdentityClaimsError: Error, Hashable, Sendable {
    /// The text of `of` has `found` bytes, and 1 to `limit` are allowed.
    case wrongLength(of: String, limit: Int, found: Int)
    /// `found` values where `limit` are allowed.
    case tooMany(of: String, limit: Int, found: Int)
    /// The text of `of` has characters that are not allowed.
    case invalidText(of: String, reason: String)
    /// Two scopes are equal, or two attributes have one kind.
    case repeated(of: String)
    /// The token expires before it is issued, or after the year 9999.
    case timesOutOfOrder
    /// The bytes are not in the one form that is allowed.
    case malformed(reason: String)
}

extension IdentityClaimsError: CodedError, CustomStringConvertible {
    /// The failure in words.
    package var description: String {
        switch self {
        case .wrongLength(let claim, let limit, let found): "\(claim) has 1 to \(limit) bytes, not \(found)"
        case .tooMany(let claims, let limit, let found): "a token has at most \(limit) \(claims), not \(found)"
        case .invalidText(let claim, let reason): "\(claim) cannot be used: \(reason)"
        case .repeated(let claim): "\(claim) occurs twice"
        case .timesOutOfOrder: "a token expires after it is issued, and before the year 10000"
        case .malformed(let reason): "the claims are not in the agreed form: \(reason)"
        }
    }

    package var failureCode: FailureCode { FailureCode("bad-claims", .invalidParameters, .data) }
}
