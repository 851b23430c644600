/// The id of an account: a random UUID of version 4, which WebAuthn calls the user handle.
///
/// It reveals nothing about its owner, and stays the same when a handle or a key changes.
package struct UserId: Hashable, Sendable {
    private let id: UniqueId

    /// Makes a new id from `random`, which must be fit for secrets outside tests.
    package init(using random: inout some RandomNumberGenerator) {
        id = UniqueId(using: &random)
    }

    /// Reads the 16 bytes of an id.
    package init(_ bytes: some Collection<UInt8>) throws(AccountIdError) {
        guard let id = UniqueId(bytes) else { throw .wrongByteCount(found: bytes.count) }
        try self.init(id)
    }

    /// Reads a UUID in lower case with hyphens.
    package init(text: String) throws(AccountIdError) {
        try self.init(UniqueId(text: text))
    }

    private init(_ id: UniqueId) throws(AccountIdError) {
        guard id.isVersion4 else { throw .notVersion4 }
        self.id = id
    }

    /// The 16 bytes.
    package var bytes: [UInt8] { id.bytes }

    /// The UUID in lower case with hyphens.
    package var text: String { id.text }
}

extension UserId: CustomStringConvertible {
    /// The UUID in lower case with hyphens.
    package var description: String { text }
}

extension UserId: Codable {
    /// Reads a UUID in lower case with hyphens.
    package init(from decoder: any Decoder) throws {
        try self.init(text: decoder.singleValueContainer().decode(String.self))
    }

    /// Writes a UUID in lower case with hyphens.
    package func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(text)
    }
}
