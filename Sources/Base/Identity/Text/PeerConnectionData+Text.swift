internal import Bytes

extension PeerConnectionData {
    private static let subject = "peer connection data"
    static let textType = "peer"
    /// 137 bytes in padded base64.
    private static let tokenCount = 184

    /// Reads the JSON text of a connection QR code, or a link; its token must be of the peer and the network that it names.
    ///
    /// The token is not verified; ``AccessToken/verify(at:)`` does that.
    public static func fromQRString(_ text: String) throws(IdentityError) -> PeerConnectionData {
        if RunarLink.isLink(text) { return try PeerConnectionData(linked: RunarLink.bytes(of: text, .peer, subject)) }
        let data = try PeerConnectionData(json: FlatJSON(text, of: subject))
        try data.check()
        return data
    }

    init(json: FlatJSON) throws(IdentityError) {
        try json.expectType(Self.textType)
        let address = try SocketAddress(parsing: json.string("address"))
        let text = try json.string("token")
        guard text.utf8.count == Self.tokenCount, let token = try? Base64.decode(text)  // nil becomes the error below
        else {
            throw .invalidText(of: Self.subject, reason: "its token is not \(Self.tokenCount) characters of base64")
        }
        try self.init(
            peerId: PeerId(base64Encoded: json.string("peer_id")),
            networkId: NetworkId(base64Encoded: json.string("network_id")),
            address: address,
            token: AccessToken(binary: token)
        )
    }

    /// The JSON text that a connection QR code carries.
    public var qrString: String {
        var json = FlatJSONWriter()
        json.add("type", Self.textType)
        json.add("peer_id", peerId.base64Encoded)
        json.add("network_id", networkId.base64Encoded)
        json.add("address", address)
        json.add("token", Base64.encode(token.binary))
        return json.object
    }
}
