/// The domain under which an operator gives handles, such as `arkavo.social`.
///
/// Names under `.test` serve development alone, because no public server answers for them. AT Protocol excludes names
/// under `localhost`, so a server on the local host has the domain `localhost.test`.
package struct HandleDomain: Hashable, Sendable {
    /// The most bytes: a domain leaves room for the longest handle and a dot.
    package static let byteLimit = DomainName.byteLimit - Handle.lengths.upperBound - 1
    /// The domain of a server on the local host.
    private static let localText = "localhost.test"

    private let name: DomainName

    /// Reads a domain in any case.
    package init(_ text: String) throws(DomainNameError) {
        name = try DomainName(text, limit: Self.byteLimit)
        try name.checkTopLevel()
    }

    /// Returns the domain for an operator who has chosen none: the id of its relying party, or `localhost.test`.
    package static func standard(forRelyingParty id: String) throws(DomainNameError) -> HandleDomain {
        try HandleDomain(id == "localhost" ? localText : id)
    }

    /// The domain in lower case.
    package var text: String { name.text }

    /// Whether the domain is under `.test`, which no public server resolves.
    package var isForDevelopment: Bool { name.topLevel == "test" }

    /// Returns the first label of `handle`, or nil if that is not an account's handle in this domain.
    package func handle(of handle: QualifiedHandle) -> Handle? {
        let suffix = ".\(text)"
        guard handle.text.utf8.count > suffix.utf8.count, handle.text.hasSuffix(suffix) else { return nil }
        return try? Handle(existing: String(handle.text.dropLast(suffix.utf8.count)))  // a name of another form
    }
}

extension HandleDomain: CustomStringConvertible {
    /// The domain in lower case.
    package var description: String { text }
}

extension HandleDomain: Codable {
    /// Reads a domain in any case, and otherwise throws a ``DomainNameError`` with the rule.
    package init(from decoder: any Decoder) throws {
        try self.init(decoder.singleValueContainer().decode(String.self))
    }

    /// Writes the domain.
    package func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(text)
    }
}
