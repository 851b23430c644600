/// An account in the options of a registration.
package struct UserEntity: Hashable, Sendable {
    /// Sizes of a user handle in bytes.
    package static let handleByteCounts = 1...64
    /// The most bytes of a name.
    static let nameByteLimit = 256

    /// The user handle: bytes that contain nothing about the person, and are never shown.
    package let id: [UInt8]
    /// The name of the account.
    package let name: String
    /// The name of the person.
    package let displayName: String

    package init(id: [UInt8], name: String, displayName: String) {
        precondition(Self.handleByteCounts.contains(id.count), "a user handle has 1 to 64 bytes, not \(id.count)")
        self.id = id
        self.name = name
        self.displayName = displayName
    }
}

extension UserEntity: Codable {
    private enum CodingKeys: String, CodingKey {
        case id
        case name
        case displayName
    }

    package init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        id = try container.decodeBytes(forKey: .id, limit: Self.handleByteCounts.upperBound)
        guard !id.isEmpty else { throw WebAuthnError.malformed(of: "the user handle", reason: "it is empty") }
        name = try container.decodeText(forKey: .name, limit: Self.nameByteLimit)
        displayName = try container.decodeText(forKey: .displayName, limit: Self.nameByteLimit)
    }

    package func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(bytes: id, forKey: .id)
        try container.encode(name, forKey: .name)
        try container.encode(displayName, forKey: .displayName)
    }
}
