internal import Bytes
package import Identity

/// The body of `POST /redeem`: the two public keys of a client, made for one connection.
///
/// The token is in the field `Authorization`. A private key never travels.
package struct RedemptionForm: Hashable, Sendable {
    /// The path at a gateway to which the form is sent.
    package static let path = "/redeem"
    /// The most bytes of the JSON that are read.
    package static let byteLimit = 4_096

    /// The X25519 key of the client's end of the tunnel.
    package let clientPublicKey: Bytes32
    package let encapsulationKey: EncapsulationKey

    package init(clientPublicKey: Bytes32, encapsulationKey: EncapsulationKey) {
        self.clientPublicKey = clientPublicKey
        self.encapsulationKey = encapsulationKey
    }

    /// Reads ``json``.
    ///
    /// - Throws: ``ExitModelError``.
    package init(json: [UInt8]) throws(ExitModelError) {
        self = try ExitJSON.decode(from: json, limit: Self.byteLimit, of: "the request")
    }

    /// The form as it travels.
    package var json: [UInt8] { ExitJSON.bytes(self) }
}

extension RedemptionForm: Codable {
    private enum CodingKeys: String, CodingKey {
        case clientPublicKey
        case encapsulationKey
    }

    package init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        clientPublicKey = try container.bytes32(.clientPublicKey)
        encapsulationKey = try EncapsulationKey(
            container.bytes(.encapsulationKey, count: EncapsulationKey.byteCount)
        )
    }

    package func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(Base64URL.encode(clientPublicKey.bytes), forKey: .clientPublicKey)
        try container.encode(Base64URL.encode(encapsulationKey.bytes), forKey: .encapsulationKey)
    }
}
