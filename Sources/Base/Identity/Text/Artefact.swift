/// An artefact of Runar that a person can find as text or as a file, recognised by its content.
public enum Artefact: Sendable {
    /// A network's description of itself.
    case network(NetworkMetadata)
    /// A membership.
    case token(AccessToken)
    /// The data to reach a peer.
    case peerConnection(PeerConnectionData)
    /// The 32 bytes of a peer's or network's id, which do not differ in form.
    case identifier(PeerId)
    /// A network's revocations, every one verified.
    case revocations(RevocationSet)
    /// An invitation, secret included.
    case invitation(Invitation)
    /// A new device's request to another device of its person, verified.
    case deviceRequest(DeviceRequest)
    /// The answer to a request; only the device that asked can verify it.
    case deviceAnswer(DeviceAnswer)

    /// Recognises a text, with any white space around it, and a link as mail and chat programs pass it on.
    public static func parse(_ text: String) throws(IdentityError) -> Artefact {
        let text = PassedLink.link(in: text) ?? PlainText.trimmed(text)
        if RevocationSet.isText(text) { return .revocations(try RevocationSet(text: text)) }
        if DeviceAnswer.isText(text) { return .deviceAnswer(try DeviceAnswer(text: text)) }
        if RunarLink.isLink(text) { return try parse(RunarLink(text)) }
        guard text.utf8.first == UInt8(ascii: "{") else { return .identifier(try PeerId(text: text)) }
        let json = try FlatJSON(text, of: "a runar text")
        switch try json.string("type") {
        case NetworkMetadata.textType: return .network(try NetworkMetadata(json: json))
        case AccessToken.textType: return .token(try AccessToken(json: json))
        case PeerConnectionData.textType: return .peerConnection(try PeerConnectionData(json: json))
        case let other:
            throw .invalidText(of: "a runar text", reason: "its type \(PlainText.quoted(other)) is not known")
        }
    }

    /// Recognises the content of a file: a text, or the binary form of a token, metadata or revocations.
    ///
    /// The signature that verifies decides between forms of equal length.
    public static func parse(bytes: some Collection<UInt8>) throws(IdentityError) -> Artefact {
        let bytes = Array(bytes)
        let candidates = [
            Result { try Artefact.token(AccessToken(binary: bytes)) },
            Result { try Artefact.network(NetworkMetadata(binary: bytes)) },
            Result { try Artefact.revocations(RevocationSet(binary: bytes)) },
        ]
        let found = candidates.compactMap { try? $0.get() }  // a failure is another kind, or none
        if let genuine = found.first(where: { $0.problem(at: 0) == nil }) ?? found.first { return genuine }
        let text = String(decoding: bytes, as: UTF8.self)
        guard text.utf8.elementsEqual(bytes) else {
            throw .malformed(of: "a runar file", reason: "it is neither text nor the binary form of anything known")
        }
        return try parse(text)
    }

    private static func parse(_ link: RunarLink) throws(IdentityError) -> Artefact {
        switch link.kind {
        case .network: .network(try NetworkMetadata(linked: link.bytes))
        case .peerId: .identifier(try PeerId(rawRepresentation: link.bytes))
        case .token: .token(try AccessToken(linked: link.bytes))
        case .peer: .peerConnection(try PeerConnectionData(linked: link.bytes))
        case .join: .invitation(try Invitation(binary: link.bytes))
        case .device: .deviceRequest(try DeviceRequest(binary: link.bytes))
        }
    }
}
