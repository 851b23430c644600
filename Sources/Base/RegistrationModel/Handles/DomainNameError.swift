package import Failures
internal import Identity

/// Why a text is not a domain of handles, or not a full handle.
package enum DomainNameError: Error, Hashable, Sendable {
    /// The text has `found` bytes, and room is for `limit`.
    case tooLong(limit: Int, found: Int)
    /// A character that is no letter, digit, hyphen or dot of ASCII.
    case invalidCharacter(Unicode.Scalar)
    /// Nothing between two dots, before the first one or after the last one.
    case emptyLabel
    /// A label with more than 63 characters.
    case labelTooLong(found: Int)
    /// A label that begins or ends with a hyphen.
    case hyphenAtEdge(label: String)
    /// The last label does not begin with a letter, as in an address of IPv4.
    case topLevelWithoutLetter(String)
    /// A full handle without a dot.
    case singleLabel
    /// A top-level name that AT Protocol excludes, because public servers do not resolve it.
    case topLevelNotAllowed(String)
}

extension DomainNameError: CodedError, CustomStringConvertible {
    /// The rule that the text breaks, and the next step.
    package var description: String {
        switch self {
        case .tooLong(let limit, let found):
            "this name has at most \(limit) characters, not \(found)"
        case .invalidCharacter(let scalar):
            "a domain name has letters, digits, hyphens and dots, and not \(PlainText.quoted(String(scalar)))"
        case .emptyLabel:
            "a part of the name is empty: it neither begins nor ends with a dot, and has no two dots in a row"
        case .labelTooLong(let found):
            "a part of a domain name has at most 63 characters, not \(found)"
        case .hyphenAtEdge(let label):
            "no part of a domain name begins or ends with a hyphen, as \(PlainText.quoted(label)) does"
        case .topLevelWithoutLetter(let label):
            "the last part of a domain name begins with a letter, and \(PlainText.quoted(label)) does not"
        case .singleLabel:
            "a full handle is a handle, a dot and the domain of its operator, such as alice.arkavo.social"
        case .topLevelNotAllowed(let label):
            "a domain under .\(label) has no handles; use a public domain, or one under .test for development"
        }
    }

    package var failureCode: FailureCode { FailureCode("bad-domain", .invalidParameters, .usage) }
}
