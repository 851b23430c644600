public import Failures

/// Why bytes or text could not be read.
public enum BytesError: Error, Equatable, Sendable {
    /// The input ended before a value did.
    case truncated(needed: Int, available: Int)
    /// A length is above what is allowed here; nothing was allocated for it.
    case tooLong(limit: Int, found: Int)
    /// This number of bytes follows after the last value.
    case trailingBytes(Int)
    /// The value has a shorter or otherwise preferred encoding, which is the only one accepted.
    case nonCanonical(String)
    /// A character that does not belong to the alphabet; positions count Unicode scalars from zero.
    case invalidCharacter(Unicode.Scalar, position: Int)
    /// No input of that many characters or bytes can be valid here.
    case invalidLength(Int)
    /// The checksum does not match: a character is missing, superfluous, wrong or in the wrong place.
    case badChecksum
    /// A string is not valid UTF-8.
    case invalidUTF8
    /// A byte or number has no meaning in its place.
    case invalidValue(String)
    /// Values are nested more deeply than allowed.
    case tooDeep(limit: Int)
}

extension BytesError: CodedError, CustomStringConvertible {
    /// The failure in words.
    public var description: String {
        switch self {
        case .truncated(let needed, let available):
            "incomplete: \(needed) bytes needed, \(available) left"
        case .tooLong(let limit, let found):
            "too long: \(found), at most \(limit) are allowed"
        case .trailingBytes(let count):
            "\(count) unexpected bytes at the end"
        case .nonCanonical(let what):
            "not in canonical form: \(what)"
        case .invalidCharacter(let scalar, let position):
            "the character \(scalar.escaped(asASCII: true)) at position \(position + 1) is not allowed"
        case .invalidLength(let count):
            "wrong length: \(count)"
        case .badChecksum:
            "the checksum does not match: look for a wrong, missing or superfluous character"
        case .invalidUTF8:
            "the text is not valid UTF-8"
        case .invalidValue(let what):
            "invalid value: \(what)"
        case .tooDeep(let limit):
            "nested more than \(limit) levels deep"
        }
    }

    package var failureCode: FailureCode { FailureCode("bad-data", .unknown, .data) }
}
