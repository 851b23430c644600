/// The name of an operator's exit, common to all its gateways, such as `exit.example.org`.
///
/// It is the `origin_info` of token challenges (RFC 9577, section 2.1), which commas separate, so it has the characters of
/// host names only: 1 to 253 bytes of labels with 1 to 63 lower-case letters, digits and inner hyphens.
package struct ExitName: Hashable, Sendable, CustomStringConvertible {
    /// The most bytes of a name.
    package static let byteLimit = 253
    private static let labelByteLimit = 63

    package let text: String

    /// Checks a name.
    ///
    /// - Throws: ``ExitModelError/malformed(of:reason:)``.
    package init(_ text: String) throws(ExitModelError) {
        guard Self.isHostName(text) else {
            throw .malformed(
                of: "the name of the exit",
                reason:
                    "it consists of lower-case letters, digits and hyphens with dots between, as in exit.example.org"
            )
        }
        self.text = text
    }

    package var description: String { text }

    /// Whether a text has the characters and the length of a name, as the name of an issuer has, too.
    package static func isHostName(_ text: String) -> Bool {
        text.utf8.count <= byteLimit
            && text.utf8.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false).allSatisfy(isLabel)
    }

    private static func isLabel(_ label: Substring.UTF8View) -> Bool {
        let hyphen = UInt8(ascii: "-")
        return 1...labelByteLimit ~= label.count && label.first != hyphen && label.last != hyphen
            && label.allSatisfy { ASCIIWord.isLowerCaseOrDigit($0) || $0 == hyphen }
    }
}

extension ExitName: Codable {
    package init(from decoder: any Decoder) throws {
        try self.init(decoder.singleValueContainer().decode(String.self))
    }

    package func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(text)
    }
}

/// Classes of ASCII characters.
enum ASCIIWord {
    /// Whether a byte is a lower-case letter or a digit.
    static func isLowerCaseOrDigit(_ byte: UInt8) -> Bool {
        (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte) || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
    }
}
