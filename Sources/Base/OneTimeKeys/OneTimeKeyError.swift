public import Failures

/// The reasons for which one-time keys could not be used.
public enum OneTimeKeyError: Error, Hashable, Sendable {
    /// Bytes that are not what they should be.
    case malformed(of: String, reason: String)
    /// The system's cryptography does not know the algorithm.
    case unsupportedSuite(OneTimeKeySuite)
    /// A pool of that many keys cannot be made.
    case invalidCapacity(Int, limit: Int)
    /// Every key of the peer was used.
    case noKeysAvailable
    /// No pool has a key of that name: it is from a pool that was replaced, or belongs to another device.
    case keyNotFound
    /// The key opened its message before, and was erased.
    case keyUsed
    /// The message was made for another recipient.
    case wrongRecipient
    /// The message was changed, or sealed to another key.
    case authenticationFailed
    /// The message has `found` bytes, where `limit` are allowed.
    case tooLarge(limit: Int, found: Int)
    /// The system's cryptography refused to work.
    case cryptographyFailed
}

extension OneTimeKeyError: CodedError, CustomStringConvertible {
    /// The failure in words, with what to do where something can be done.
    public var description: String {
        switch self {
        case .malformed(let subject, let reason):
            "\(subject) cannot be read: \(reason)"
        case .unsupportedSuite(let suite):
            "this system has no \(suite); exchange keys of another kind"
        case .invalidCapacity(let count, let limit):
            "a pool has a power of two of keys, from 2 to \(limit), not \(count)"
        case .noKeysAvailable:
            "no one-time keys of the peer are left; exchange keys again"
        case .keyNotFound:
            "no pool has the key of this message: exchange keys again, and ask the sender to send it again"
        case .keyUsed:
            "this message was opened before, and its key was erased"
        case .wrongRecipient:
            "this message was sealed for another device"
        case .authenticationFailed:
            "this message does not open: it was changed, or sealed to another key"
        case .tooLarge(let limit, let found):
            "a sealed message has room for \(limit) bytes, not \(found)"
        case .cryptographyFailed:
            "the system's cryptography refused to work; try again, and report it if it stays"
        }
    }

    package var failureCode: FailureCode {
        switch self {
        case .malformed: FailureCode("one-time-keys", .decoding, .data)
        case .unsupportedSuite: FailureCode("one-time-keys", .unsupported, .data)
        case .invalidCapacity: FailureCode("one-time-keys", .invalidParameters, .data)
        case .noKeysAvailable: FailureCode("one-time-keys", .noOneTimeKeys, .data)
        case .keyNotFound: FailureCode("one-time-keys", .oneTimeKeyNotFound, .data)
        case .keyUsed: FailureCode("one-time-keys", .oneTimeKeyUsed, .data)
        case .wrongRecipient, .authenticationFailed: FailureCode("one-time-keys", .notAuthentic, .data)
        case .tooLarge: FailureCode("one-time-keys", .tooLarge, .data)
        case .cryptographyFailed: FailureCode("one-time-keys", .unknown, .data)
        }
    }
}
