package import Failures

/// Why a text or bytes are not the id of an account, a session or a token.
package enum AccountIdError: Error, Hashable, Sendable {
    /// The text has `found` bytes.
    case wrongLength(found: Int)
    /// The id has `found` bytes.
    case wrongByteCount(found: Int)
    /// The byte at `position`, from 0, is not the digit or the hyphen that belongs there.
    case invalidCharacter(position: Int)
    /// The UUID of an account is not of version 4.
    case notVersion4
}

extension AccountIdError: CodedError, CustomStringConvertible {
    /// The failure in words, with the right form.
    package var description: String {
        switch self {
        case .wrongLength(let found):
            "an id is a UUID of 36 characters, such as 3f0c…, and this text has \(found)"
        case .wrongByteCount(let found):
            "an id has 16 bytes, not \(found)"
        case .invalidCharacter(let position):
            "an id has small hexadecimal digits in groups of 8, 4, 4, 4 and 12 with hyphens; look at character "
                + "\(position + 1)"
        case .notVersion4:
            "the id of an account is a UUID of version 4, and this is another kind"
        }
    }

    package var failureCode: FailureCode { FailureCode("bad-id", .invalidParameters, .usage) }
}
