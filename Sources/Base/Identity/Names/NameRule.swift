/// The rule for names of networks and labels of profiles: 1 to 64 bytes of UTF-8 that show as they are.
package enum NameRule {
    /// The most bytes of UTF-8 that a name may have.
    package static let maximumByteCount = 64

    /// Throws ``IdentityError/invalidName(reason:)`` unless `name` keeps the rule.
    package static func check(_ name: String) throws(IdentityError) {
        guard !name.isEmpty else { throw .invalidName(reason: "it is empty") }
        guard name.utf8.count <= maximumByteCount else {
            throw .invalidName(reason: "it is longer than \(maximumByteCount) bytes of UTF-8")
        }
        guard let hidden = name.unicodeScalars.first(where: { !PlainText.isPlain($0) }) else { return }
        let code = String(hidden.value, radix: 16, uppercase: true)
        throw .invalidName(reason: "it contains a character that does not show or turns text around (U+\(code))")
    }

    /// Returns a name that a person types, without the white space around it: commands and forms look it up like that.
    ///
    /// - Throws: ``IdentityError/invalidName(reason:)`` if the rest breaks the rule.
    package static func typed(_ name: String) throws(IdentityError) -> String {
        let trimmed = PlainText.trimmed(name)
        guard !trimmed.isEmpty || name.isEmpty else { throw .invalidName(reason: "it has nothing but white space") }
        try check(trimmed)
        return trimmed
    }

    /// Returns the name for a network that a person types: as ``typed(_:)``, and without a colon.
    ///
    /// A colon ends the name of the network in front of a topic or a service, as in `Home:garden/door`.
    ///
    /// - Throws: ``IdentityError/invalidName(reason:)``.
    package static func typedForNetwork(_ name: String) throws(IdentityError) -> String {
        let name = try typed(name)
        guard !name.unicodeScalars.contains(":") else {
            throw .invalidName(reason: "it has a colon, which ends the name of a network in front of a topic")
        }
        return name
    }
}
