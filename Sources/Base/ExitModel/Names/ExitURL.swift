/// The URL of an issuer, of a gateway or of a directory: `https`, or `http` for tests on one machine.
///
/// Only its characters and length are checked here. A web client reads the rest of it.
package struct ExitURL: Hashable, Sendable, CustomStringConvertible {
    /// The most bytes of a URL.
    package static let byteLimit = 512

    package let text: String

    /// Checks a URL.
    ///
    /// - Throws: ``ExitModelError/malformed(of:reason:)``.
    package init(_ text: String) throws(ExitModelError) {
        let authority = ["https://", "http://"].first { text.hasPrefix($0) }.map {
            text.dropFirst($0.count).prefix { $0 != "/" }
        }
        guard text.utf8.count <= Self.byteLimit, let authority, !authority.isEmpty, !authority.contains("@"),
            text.utf8.allSatisfy({ (0x21...0x7E).contains($0) && !Self.refused.contains($0) })
        else {
            throw .malformed(of: "the URL", reason: "it is not like https://gateway.example.org")
        }
        self.text = text
    }

    /// The URL without a slash at its end, as the paths of a server follow it.
    package var base: String { text.hasSuffix("/") ? String(text.dropLast()) : text }

    package var description: String { text }

    private static let refused = Set("\"\\<>^`{|}#".utf8)
}

extension ExitURL: Codable {
    package init(from decoder: any Decoder) throws {
        try self.init(decoder.singleValueContainer().decode(String.self))
    }

    package func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(text)
    }
}
