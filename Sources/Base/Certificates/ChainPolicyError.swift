package import Failures
internal import Identity

/// The rule of a ``ChainPolicy`` that a chain breaks; positions count from 1, the leaf.
package enum ChainPolicyError: Error, Hashable, Sendable {
    /// The chain has another number of certificates, the root included.
    case wrongLength(expected: Int, found: Int)
    /// The certificate at a position is not exactly one X.509 certificate of a bounded size.
    case malformed(position: Int, reason: String)
    /// The certificate at a position names another issuer than the next one, or its signature is not of that key.
    case notIssuedByNext(position: Int)
    /// No pinned root signed the last certificate below the root.
    case unknownRoot
    /// The certificate at a position had expired at the time of validation.
    case expired(position: Int, endSeconds: UInt64)
    /// The certificate at a position was not yet valid at the time of validation.
    case notYetValid(position: Int, startSeconds: UInt64)
    /// The certificate at a position lacks an extension that the policy requires.
    case missingExtension(position: Int, ExtensionIdentifier)
    /// The key of the certificate at a position may not sign messages (the leaf), or certificates (the others).
    case wrongKeyUsage(position: Int)
    /// Another rule of RFC 5280 is broken: basic constraints, the length of the path, names, a critical extension.
    case pathRefused(reason: String)
}

extension ChainPolicyError: CustomStringConvertible {
    package var description: String {
        switch self {
        case .wrongLength(let expected, let found):
            "the chain has \(found) certificates instead of \(expected)"
        case .malformed(let position, let reason):
            "certificate \(position) of the chain cannot be read: \(reason)"
        case .notIssuedByNext(let position):
            "certificate \(position) of the chain was not issued by the next one"
        case .unknownRoot: "the chain does not end at a trusted root"
        case .expired(let position, let seconds):
            "certificate \(position) of the chain expired on \(CivilTime(seconds: seconds)), before the chain was used"
        case .notYetValid(let position, let seconds):
            "certificate \(position) of the chain is not valid before \(CivilTime(seconds: seconds))"
        case .missingExtension(let position, let identifier):
            "certificate \(position) of the chain lacks the extension \(identifier), and so was issued for something else"
        case .wrongKeyUsage(let position):
            "the key of certificate \(position) of the chain may not be used for this signature"
        case .pathRefused(let reason): "the chain is not valid by RFC 5280: \(reason)"
        }
    }
}

extension ChainPolicyError: CodedError {
    package var failureCode: FailureCode { FailureCode("untrusted-certificate-chain", .notAuthentic, .notPermitted) }
}
