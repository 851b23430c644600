extension NetworkMetadata {
    private static let subject = "network metadata"
    static let textType = "network"

    /// The most bytes of text in a QR code of version 15 at level M with the designator of UTF-8.
    private static let maximumQRByteCount = 411

    /// Reads the text of a network QR code, or a link.
    ///
    /// The metadata is not verified; ``verify()`` does that.
    public static func fromQRString(_ text: String) throws(IdentityError) -> NetworkMetadata {
        if RunarLink.isLink(text) {
            return try NetworkMetadata(linked: RunarLink.bytes(of: text, .network, subject))
        }
        return try NetworkMetadata(json: FlatJSON(text, of: subject))
    }

    init(json: FlatJSON) throws(IdentityError) {
        try json.expectType(Self.textType)
        let version = json["version"] == nil ? 1 : try json.integer("version")
        guard let version = UInt32(exactly: version) else {
            throw .malformed(of: Self.subject, reason: "its version is above \(UInt32.max)")
        }
        try self.init(
            networkId: NetworkId(base64Encoded: json.string("network_id")),
            name: json.string("name"),
            adminPublicKey: Ed25519PublicKey(base64Encoded: json.string("admin_pubkey")),
            version: version,
            signature: Ed25519Signature(base64: json.string("signature"))
        )
        try check()
        self = with(rendezvous: try json.rendezvous())
    }

    /// The content of a network QR code; refused before the metadata is signed.
    ///
    /// It is the JSON text, or the link in capitals where a name full of quotation marks makes that text too long for a
    /// code that every camera reads.
    public var qrString: String {
        get throws(IdentityError) {
            guard let signatureValue else { throw .invalidSignature(of: Self.subject) }
            try check()
            var json = FlatJSONWriter()
            json.add("type", Self.textType)
            json.add("network_id", networkId.base64Encoded)
            json.add("name", name)
            json.add("admin_pubkey", adminPublicKey.base64Encoded)
            if version != 1 { json.add("version", UInt64(version)) }
            json.add("signature", signatureValue.base64)
            if let rendezvous { json.add(rendezvous) }
            let object = json.object
            return object.utf8.count <= Self.maximumQRByteCount ? object : try link.uppercased()
        }
    }
}
