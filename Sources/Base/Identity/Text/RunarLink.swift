internal import Bytes

/// A `runar://` link: the kind of an artefact, and its binary form in checked base32.
///
/// It is equivalent to the artefact's text, can be tapped, and is compact in a QR code, in which it is written in capitals.
/// Layouts: `docs/spec/identity.md`, section 10.
struct RunarLink: Hashable, Sendable {
    /// The kind of artefact in a link, in the word that the link begins with.
    enum Kind: String, CaseIterable, Sendable {
        /// A network's metadata, and its rendezvous key if that is known.
        case network
        /// The name of a device.
        case peerId = "peer-id"
        /// An access token, and the rendezvous key of its network if that is known.
        case token
        /// The data to reach a peer: its token and an address.
        case peer
        /// An invitation.
        case join
        /// A new device's request to another device of its person.
        case device
    }

    /// Twice the length of the longest link, for spaces and dashes; longer texts are not parsed.
    private static let maximumTextByteCount = 2048
    private static let subject = "a runar link"

    let kind: Kind
    let bytes: [UInt8]

    init(_ kind: Kind, _ bytes: [UInt8]) {
        self.kind = kind
        self.bytes = bytes
    }

    /// Whether a text is a link of any kind, as mail and chat programs forward it.
    static func isLink(_ text: String) -> Bool { PassedLink.isLink(text) }

    /// The beginning of all links of a kind.
    static func beginning(of kind: Kind) -> String { "\(PassedLink.scheme)\(kind.rawValue)/" }

    /// Reads a link, in either case, as mail and chat programs pass it on, and with white space or dashes between the
    /// letters behind its kind.
    init(_ text: String) throws(IdentityError) {
        guard text.utf8.count <= Self.maximumTextByteCount else {
            throw .invalidText(of: Self.subject, reason: "it is longer than \(Self.maximumTextByteCount) bytes")
        }
        guard let link = PassedLink.link(in: text) else {
            throw .invalidText(of: Self.subject, reason: "it does not begin with \(PassedLink.scheme)")
        }
        let rest = link.dropFirst(PassedLink.scheme.count)
        let parts = rest.split(separator: "/", maxSplits: 1, omittingEmptySubsequences: false)
        guard let kind = Kind(rawValue: parts[0].lowercased()) else {
            throw .invalidText(
                of: Self.subject,
                reason: "its kind \(PlainText.quoted(String(parts[0]))) is not known; update this program"
            )
        }
        do {
            try self.init(kind, CheckedBase32.decode(parts.count > 1 ? String(parts[1]) : ""))
        } catch {
            throw .invalidText(
                of: Self.subject,
                reason: "a character is missing, superfluous or wrong; copy it again in full"
            )
        }
    }

    /// The content of a link that must be of one kind.
    static func bytes(of text: String, _ kind: Kind, _ subject: String) throws(IdentityError) -> [UInt8] {
        let link = try RunarLink(text)
        guard link.kind == kind else {
            throw .invalidText(of: subject, reason: "it is a link of the kind \"\(link.kind.rawValue)\"")
        }
        return link.bytes
    }

    /// The link, in lower case.
    var text: String { Self.beginning(of: kind) + CheckedBase32.encode(bytes) }
}

// MARK: - Artefacts with a link

extension PeerId {
    /// The id as a link.
    public var link: String { RunarLink(.peerId, bytes).text }
}

extension AccessToken {
    /// The token as a link, with the rendezvous key that its text would carry.
    public var link: String { RunarLink(.token, binary + (rendezvous?.bytes ?? [])).text }

    init(linked bytes: [UInt8]) throws(IdentityError) {
        try self.init(binary: bytes.prefix(Self.byteCount))
        self = with(rendezvous: try RendezvousKey(linked: bytes.dropFirst(Self.byteCount)))
    }
}

extension NetworkMetadata {
    /// The metadata as a link, with the rendezvous key that its text would carry; refused before it is signed.
    public var link: String {
        get throws(IdentityError) { RunarLink(.network, try binary() + (rendezvous?.bytes ?? [])).text }
    }

    init(linked bytes: [UInt8]) throws(IdentityError) {
        let count = Self.byteCount(ofBinary: bytes)
        try self.init(binary: bytes.prefix(count))
        self = with(rendezvous: try RendezvousKey(linked: bytes.dropFirst(count)))
    }
}

extension PeerConnectionData {
    /// The data as a link; refused when the address is none.
    public var link: String {
        get throws(IdentityError) {
            let address = try SocketAddress(parsing: address)
            var writer = ByteWriter()
            writer.write(token.binary)
            address.write(to: &writer)
            return RunarLink(.peer, writer.bytes).text
        }
    }

    init(linked bytes: [UInt8]) throws(IdentityError) {
        var reader = FieldReader(bytes, of: "peer connection data")
        let token = try AccessToken(binary: reader.readBytes(count: AccessToken.byteCount))
        let address = try reader.readAddress()
        try reader.finish()
        self.init(peerId: token.peerId, networkId: token.networkId, address: address, token: token)
    }
}

extension RendezvousKey {
    /// Reads the optional key after the binary form of an artefact; nil if there are no bytes.
    fileprivate init?(linked bytes: ArraySlice<UInt8>) throws(IdentityError) {
        guard !bytes.isEmpty else { return nil }
        try self.init(rawRepresentation: bytes)
    }
}
