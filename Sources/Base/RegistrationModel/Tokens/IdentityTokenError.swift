package import Failures

/// Why an identity token was refused, or cannot be sealed.
package enum IdentityTokenError: Error, Hashable, Sendable {
    /// The text is not a sealed token.
    case invalidFormat(reason: String)
    /// The token has no signature, or not one of the issuer.
    case invalidSignature(reason: String)
    /// The token expired more than a minute ago.
    case expired
    /// The token was issued more than a minute in the future.
    case notYetValid
    /// The token is for another service.
    case invalidAudience
    /// The token names another issuer.
    case wrongIssuer
    /// The key of this service does not open the token.
    case decryptionFailed
    /// The policy is not that of an identity token, or restricts its use.
    case policyViolation(reason: String)
    /// The token or its session was revoked. Verification does not look that up; its caller does.
    case revoked
    /// A key, an issuer or an audience cannot be used.
    case invalidConfiguration(reason: String)
    /// The system's cryptography refused to seal.
    case sealingFailed(reason: String)
}

extension IdentityTokenError: CodedError, CustomStringConvertible {
    /// The failure in words, with what to do where something can be done.
    package var description: String {
        switch self {
        case .invalidFormat(let reason): "this is not an identity token: \(reason)"
        case .invalidSignature(let reason): "the signature of the identity token is not the issuer's: \(reason)"
        case .expired: "the identity token has expired; sign in again"
        case .notYetValid: "the identity token was issued in the future; compare the clocks of issuer and server"
        case .invalidAudience: "the identity token is for another service; sign in at this one"
        case .wrongIssuer: "the identity token is from another issuer; sign in at the issuer of this service"
        case .decryptionFailed: "the key of this service does not open the identity token; sign in again"
        case .policyViolation(let reason): "the policy of the identity token forbids its use: \(reason)"
        case .revoked: "the identity token was revoked; sign in again"
        case .invalidConfiguration(let reason): "identity tokens cannot be used: \(reason)"
        case .sealingFailed(let reason): "the identity token could not be sealed: \(reason)"
        }
    }

    package var failureCode: FailureCode {
        switch self {
        case .invalidFormat, .invalidSignature, .notYetValid, .invalidAudience, .wrongIssuer, .decryptionFailed,
            .policyViolation:
            FailureCode("bad-identity-token", .badToken, .notPermitted, http: 401)
        case .expired: FailureCode("identity-token-expired", .badToken, .notPermitted, http: 401)
        case .revoked: FailureCode("identity-token-revoked", .badToken, .notPermitted, http: 401)
        case .invalidConfiguration: FailureCode("bad-token-settings", .invalidParameters, .configuration)
        case .sealingFailed: FailureCode("token-not-sealed", .unknown, .software)
        }
    }
}
