public import Failures

/// Why a key, an id or a signed text of one was refused.
public enum IdentityError: Error, Hashable, Sendable {
    /// `of` must have `expected` bytes and has `found`.
    case wrongLength(of: String, expected: Int, found: Int)
    /// The bytes are not a public key that could honestly be held.
    case invalidPublicKey(reason: String)
    /// The text of `of` cannot be read.
    case invalidText(of: String, reason: String)
    /// The bytes of `of` are not in the one form that is allowed.
    case malformed(of: String, reason: String)
    /// A text that is not `address:port`.
    case invalidAddress(String, reason: String)
    /// A derivation path that is not `m` and hardened steps.
    case invalidPath(String, reason: String)
    /// A seed for SLIP-0010 outside 16 to 64 bytes.
    case invalidSeedLength(Int)
    /// A network or profile name that is too long, empty, or has characters that do not show.
    case invalidName(reason: String)
    /// An expiry that is not a whole second from 1970 to the year 9999.
    case expirationOutOfRange
    /// The key that was to sign is not the network's own.
    case wrongSigningKey
    /// The signature on `of` does not verify.
    case invalidSignature(of: String)
    /// The system's cryptography refused to sign.
    case signingFailed
    /// A collection is at its limit.
    case full(of: String, limit: Int)
}

extension IdentityError: CodedError, CustomStringConvertible {
    /// The failure in words, with what to do where something can be done.
    public var description: String {
        switch self {
        case .wrongLength(let what, let expected, let found):
            "\(what) has \(expected) bytes, not \(found); copy it again in full"
        case .invalidPublicKey(let reason):
            "this is not a usable public key: \(reason); ask its owner for the right one"
        case .invalidText(let what, let reason):
            "this cannot be read as \(what): \(reason)"
        case .malformed(let what, let reason):
            "the bytes of \(what) are not in the agreed form: \(reason)"
        case .invalidAddress(let text, let reason):
            "\(PlainText.quoted(text)) is not an address: \(reason)"
        case .invalidPath(let text, let reason):
            "\(PlainText.quoted(text)) is not a derivation path: \(reason)"
        case .invalidSeedLength(let count):
            "a seed has 16 to 64 bytes, not \(count)"
        case .invalidName(let reason):
            "this name cannot be used: \(reason)"
        case .expirationOutOfRange:
            "an expiry must be a time from 1970 to the year 9999"
        case .wrongSigningKey:
            "only the network's own key may sign this; derive it from the root key with the network's index"
        case .invalidSignature(let what):
            "the signature on \(what) does not verify: it was changed or is a forgery; ask for a new one"
        case .signingFailed:
            "the system's cryptography refused to sign"
        case .full(let what, let limit):
            "\(what) holds at most \(limit) entries"
        }
    }

    package var failureCode: FailureCode { FailureCode("bad-data", .invalidParameters, .data) }
}
