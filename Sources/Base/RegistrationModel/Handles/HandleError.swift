package import Failures
internal import Identity

/// Why a text is not a handle; nothing of it is repaired.
package enum HandleError: Error, Hashable, Sendable {
    /// The text has fewer characters than a handle.
    case tooShort(found: Int)
    /// The text has more characters than a handle.
    case tooLong(found: Int)
    /// A capital letter.
    case capitalLetter(Unicode.Scalar)
    /// A space, or another character that separates words or lines.
    case whiteSpace
    /// A dot, as between a handle and its domain.
    case dot
    /// A letter, a digit or a sign outside of ASCII.
    case notASCII(Unicode.Scalar)
    /// A sign of ASCII that is no letter, digit or hyphen.
    case otherCharacter(Unicode.Scalar)
    /// A hyphen at the beginning or the end.
    case hyphenAtEdge
    /// The prefix `xn--`, under which domain names carry Unicode.
    case internationalPrefix
    /// The handle is on the list ``ReservedHandles``.
    case reserved(String)
}

extension HandleError: CodedError, CustomStringConvertible {
    /// The rule that the text breaks, and the next step.
    package var description: String {
        switch self {
        case .tooShort(let found):
            "a handle has at least \(Handle.lengths.lowerBound) characters, and this has \(found)"
        case .tooLong(let found):
            "a handle has at most \(Handle.lengths.upperBound) characters, and this has \(found)"
        case .capitalLetter(let letter):
            "a handle has no capital letters: write \(letter) as a small letter"
        case .whiteSpace:
            "a handle has no spaces: leave them out, or write hyphens"
        case .dot:
            "a handle has no dots: give only the part before the domain"
        case .notASCII(let scalar):
            "a handle has the letters a to z, digits and hyphens, and not \(PlainText.quoted(String(scalar)))"
        case .otherCharacter(let scalar):
            "a handle has small letters, digits and hyphens, and not \(PlainText.quoted(String(scalar)))"
        case .hyphenAtEdge:
            "a handle neither begins nor ends with a hyphen"
        case .internationalPrefix:
            "a handle does not begin with xn--, which marks names in other scripts"
        case .reserved(let text):
            "the handle \(text) is reserved for the operator; choose another one"
        }
    }

    package var failureCode: FailureCode {
        switch self {
        case .tooShort, .tooLong, .capitalLetter, .whiteSpace, .dot, .notASCII, .otherCharacter, .hyphenAtEdge,
            .internationalPrefix:
            FailureCode("bad-handle", .invalidParameters, .usage)
        case .reserved: FailureCode("handle-reserved", .refused, .notPermitted)
        }
    }
}
