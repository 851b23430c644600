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
}
