/// The handle of an account at its operator: the first label of a ``QualifiedHandle``, such as `alice`.
///
/// It has 3 to 18 characters of a to z, digits and hyphens, with neither a hyphen at an end nor the prefix `xn--`.
/// Services of AT Protocol limit handles to 18 characters. A text that breaks a rule is refused with that rule: a
/// repaired text would be a handle that its owner did not choose.
package struct Handle: Hashable, Sendable {
    /// The numbers of characters.
    package static let lengths = 3...18
    /// The most bytes of a text that are looked at.
    private static let textByteLimit = 253

    /// The characters.
    package let text: String

    /// Reads a handle for a new account, which must not be reserved.
    package init(_ text: String) throws(HandleError) {
        try self.init(existing: text)
        guard !ReservedHandles.contains(text) else { throw .reserved(text) }
    }

    /// Reads a handle that an account has, or that is looked up.
    ///
    /// Handles that were reserved later stay valid, and the operator may assign reserved ones.
    package init(existing text: String) throws(HandleError) {
        guard text.utf8.count <= Self.textByteLimit else { throw .tooLong(found: text.utf8.count) }
        for scalar in text.unicodeScalars {
            switch scalar {
            case "a"..."z", "0"..."9", "-": continue
            case "A"..."Z": throw .capitalLetter(scalar)
            case ".": throw .dot
            case _ where scalar.properties.isWhitespace: throw .whiteSpace
            case _ where scalar.isASCII: throw .otherCharacter(scalar)
            default: throw .notASCII(scalar)
            }
        }
        let count = text.utf8.count
        guard count >= Self.lengths.lowerBound else { throw .tooShort(found: count) }
        guard count <= Self.lengths.upperBound else { throw .tooLong(found: count) }
        guard text.utf8.first != UInt8(ascii: "-"), text.utf8.last != UInt8(ascii: "-") else { throw .hyphenAtEdge }
        guard !text.utf8.starts(with: "xn--".utf8) else { throw .internationalPrefix }
        self.text = text
    }

    /// Returns the full handle at an operator's domain.
    package func qualified(by domain: HandleDomain) -> QualifiedHandle {
        QualifiedHandle(checked: "\(text).\(domain.text)")
    }
}

extension Handle: CustomStringConvertible {
    /// The characters.
    package var description: String { text }
}

extension Handle: Codable {
    /// Reads a handle for a new account, and otherwise throws a ``HandleError`` with the rule.
    package init(from decoder: any Decoder) throws {
        try self.init(decoder.singleValueContainer().decode(String.self))
    }

    /// Writes the characters.
    package func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(text)
    }
}
