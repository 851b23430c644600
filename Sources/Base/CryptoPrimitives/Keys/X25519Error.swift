package import Failures

/// Why a key of WireGuard was refused, or two keys give no shared secret.
package enum X25519Error: Error, Hashable, Sendable {
    /// The `subject` has another number of bytes than 32.
    case wrongLength(of: String, found: Int)
    /// The text of the `subject` is not 44 characters of padded base64.
    case invalidText(of: String)
    /// The shared secret is zero: the public key is a point of low order (RFC 7748, section 6.1).
    case lowOrderPoint
}

extension X25519Error: CodedError, CustomStringConvertible {
    /// The failure in words, with the next step.
    package var description: String {
        switch self {
        case .wrongLength(let subject, let found):
            "\(subject) has 32 bytes, not \(found); copy it again in full"
        case .invalidText(let subject):
            "\(subject) is 44 characters of base64, and this text is not; copy it again in full"
        case .lowOrderPoint:
            "the public key is a point of low order, with which no secret can be agreed; ask for another key"
        }
    }

    package var failureCode: FailureCode { FailureCode("bad-key", .invalidParameters, .data) }
}
