/// The syntax of domain names that handles of AT Protocol have, in lower case.
struct DomainName: Hashable, Sendable {
    static let byteLimit = 253
    private static let labelByteLimit = 63

    /// The top-level names that AT Protocol excludes from registration and resolution.
    private static let notAllowed: Set = [
        "alt", "arpa", "example", "internal", "invalid", "local", "localhost", "onion",
    ]

    let text: String

    /// Reads a name in any case, of at most `limit` bytes.
    init(_ text: String, limit: Int = byteLimit) throws(DomainNameError) {
        guard text.utf8.count <= limit else { throw .tooLong(limit: limit, found: text.utf8.count) }
        for scalar in text.unicodeScalars {
            switch scalar {
            case "a"..."z", "A"..."Z", "0"..."9", "-", ".": continue
            default: throw .invalidCharacter(scalar)
            }
        }
        self.text = text.lowercased()
        for label in labels { try Self.check(label) }
        let first = topLevel.utf8.first ?? 0
        guard UInt8(ascii: "a")...UInt8(ascii: "z") ~= first else { throw .topLevelWithoutLetter(topLevel) }
    }

    var labels: [Substring] { text.split(separator: ".", omittingEmptySubsequences: false) }

    /// The last label.
    var topLevel: String { labels.last.map { String($0) } ?? "" }

    /// Refuses the top-level names of AT Protocol's list.
    func checkTopLevel() throws(DomainNameError) {
        guard !Self.notAllowed.contains(topLevel) else { throw .topLevelNotAllowed(topLevel) }
    }

    private static func check(_ label: Substring) throws(DomainNameError) {
        guard !label.isEmpty else { throw .emptyLabel }
        guard label.utf8.count <= labelByteLimit else { throw .labelTooLong(found: label.utf8.count) }
        guard label.utf8.first != UInt8(ascii: "-"), label.utf8.last != UInt8(ascii: "-") else {
            throw .hyphenAtEdge(label: String(label))
        }
    }
}
