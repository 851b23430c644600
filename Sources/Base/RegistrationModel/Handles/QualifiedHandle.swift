/// A full handle of AT Protocol: a domain name of two or more labels in lower case, such as `alice.arkavo.social`.
///
/// The first label is not limited to the form of a ``Handle``: other operators have other rules.
package struct QualifiedHandle: Hashable, Sendable {
    private let name: DomainName

    /// Reads a handle in any case, with any top-level name.
    package init(_ text: String) throws(DomainNameError) {
        name = try DomainName(text)
        guard name.labels.count > 1 else { throw .singleLabel }
    }

    /// Takes a text that is made of a handle and a domain.
    init(checked text: String) {
        do { try self.init(text) } catch { preconditionFailure("\(text) is not a full handle: \(error)") }
    }

    /// The handle in lower case.
    package var text: String { name.text }

    /// Refuses a handle under a top-level name that AT Protocol does not resolve.
    package func checkResolvable() throws(DomainNameError) { try name.checkTopLevel() }
}

extension QualifiedHandle: CustomStringConvertible {
    /// The handle in lower case.
    package var description: String { text }
}

extension QualifiedHandle: Codable {
    /// Reads a handle in any case, and otherwise throws a ``DomainNameError`` with the rule.
    package init(from decoder: any Decoder) throws {
        try self.init(decoder.singleValueContainer().decode(String.self))
    }

    /// Writes the handle.
    package func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(text)
    }
}
