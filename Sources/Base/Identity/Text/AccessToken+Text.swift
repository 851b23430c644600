internal import Bytes

extension AccessToken {
    private static let subject = "an access token"
    static let textType = "token"

    /// Reads the JSON text of a token QR code, or a link.
    ///
    /// The token is not verified; ``verify(at:)`` does that.
    public static func fromQRString(_ text: String) throws(IdentityError) -> AccessToken {
        if RunarLink.isLink(text) { return try AccessToken(linked: RunarLink.bytes(of: text, .token, subject)) }
        return try AccessToken(json: FlatJSON(text, of: subject))
    }

    init(json: FlatJSON) throws(IdentityError) {
        try json.expectType(Self.textType)
        try self.init(
            peerId: PeerId(base64Encoded: json.string("peer_id")),
            networkId: NetworkId(base64Encoded: json.string("network_id")),
            expirationSeconds: json.integerOrNull("expiration"),
            signature: Ed25519Signature(base64: json.string("signature"))
        )
        self = with(rendezvous: try json.rendezvous())
    }

    /// The JSON text that a token QR code carries.
    public var qrString: String {
        var json = FlatJSONWriter()
        json.add("type", Self.textType)
        json.add("peer_id", peerId.base64Encoded)
        json.add("network_id", networkId.base64Encoded)
        json.add("expiration", expirationSeconds)
        json.add("signature", signatureValue.base64)
        if let rendezvous { json.add(rendezvous) }
        return json.object
    }
}

extension AccessToken: Codable {
    private enum CodingKeys: String, CodingKey {
        case peerId = "peer_id"
        case networkId = "network_id"
        case expiration
        case signature
        case rendezvous
    }

    /// Reads the fields of the JSON text but `type`.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        try self.init(
            peerId: container.decode(PeerId.self, forKey: .peerId),
            networkId: container.decode(NetworkId.self, forKey: .networkId),
            expirationSeconds: container.decode(UInt64?.self, forKey: .expiration),
            signature: Ed25519Signature(base64: container.decode(String.self, forKey: .signature))
        )
        if let rendezvous = try container.decodeIfPresent(String.self, forKey: .rendezvous) {
            self = with(rendezvous: try RendezvousKey(base64Encoded: rendezvous))
        }
    }

    /// Writes the fields of the JSON text but `type`.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(peerId, forKey: .peerId)
        try container.encode(networkId, forKey: .networkId)
        try container.encode(expirationSeconds, forKey: .expiration)
        try container.encode(signatureValue.base64, forKey: .signature)
        try container.encodeIfPresent(rendezvous?.base64Encoded, forKey: .rendezvous)
    }
}

extension Ed25519Signature {
    init(base64 text: String) throws(IdentityError) {
        // 64 bytes are 88 characters; anything longer is not worth decoding.
        guard text.utf8.count == 88, let bytes = try? Base64.decode(text),  // nil becomes the error below
            let signature = Ed25519Signature(bytes)
        else { throw .invalidText(of: "a signature", reason: "it is not 88 characters of padded base64") }
        self = signature
    }

    var base64: String { Base64.encode(bytes) }
}
