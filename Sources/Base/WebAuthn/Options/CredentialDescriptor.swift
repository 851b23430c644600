/// A reference to a credential, with the ways in which a client can reach its authenticator.
package struct CredentialDescriptor: Hashable, Sendable {
    package let id: [UInt8]
    /// Such as `internal`, `hybrid` and `usb`.
    package let transports: [String]

    package init(id: [UInt8], transports: [String]) {
        self.id = id
        self.transports = transports
    }
}

extension CredentialDescriptor: Codable {
    private enum CodingKeys: String, CodingKey {
        case type
        case id
        case transports
    }

    package init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        try PublicKeyCredentialType.check(container.decode(String.self, forKey: .type))
        id = try container.decodeBytes(forKey: .id, limit: AuthenticatorData.credentialIdByteLimit)
        transports = try Transports.decode(from: container, forKey: .transports)
    }

    package func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(PublicKeyCredentialType.name, forKey: .type)
        try container.encode(bytes: id, forKey: .id)
        if !transports.isEmpty { try container.encode(transports, forKey: .transports) }
    }
}
