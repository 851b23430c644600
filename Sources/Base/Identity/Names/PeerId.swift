internal import Crypto
public import Essentials

/// The name of a device: the SHA-256 of its raw 32-byte Ed25519 public key.
///
/// A peer that claims a PeerId proves it with that key in TLS. Ids are ordered by their bytes.
public struct PeerId: Hashable, Sendable {
    /// The size of an id in bytes.
    public static let byteCount = 32

    package let words: Bytes32

    package init(words: Bytes32) {
        self.words = words
    }

    /// Feeds the first eight bytes: ids are hashes, so an attacker cannot make many that agree in them.
    public func hash(into hasher: inout Hasher) { hasher.combine(words.first) }

    /// Names the device that holds the private half of `publicKey`.
    public init(publicKey: Ed25519PublicKey) {
        self.init(words: publicKey.fingerprint)
    }

    /// Reads the 32 bytes of an id.
    public init(rawRepresentation: some Collection<UInt8>) throws(IdentityError) {
        guard let words = Bytes32(rawRepresentation) else {
            throw .wrongLength(of: "a peer id", expected: Self.byteCount, found: rawRepresentation.count)
        }
        self.init(words: words)
    }

    /// Reads an id in padded base64, as peer id QR codes carry it.
    public init(base64Encoded text: String) throws(IdentityError) {
        self.init(words: try IdentifierText.bytes32(base64: text, what: "a peer id"))
    }

    /// Reads an id in any of its text forms: padded base64, the checked base32 that people type, or a link.
    public init(text: String) throws(IdentityError) {
        guard !RunarLink.isLink(text) else {
            try self.init(rawRepresentation: RunarLink.bytes(of: text, .peerId, "a peer id"))
            return
        }
        self.init(words: try IdentifierText.bytes32(text, what: "a peer id"))
    }

    /// The 32 bytes.
    public var rawRepresentation: Data { Data(words.bytes) }

    /// The 32 bytes.
    package var bytes: [UInt8] { words.bytes }

    /// The id in padded base64.
    public var base64Encoded: String { IdentifierText.base64(words) }

    /// The id as people read and type it: lower-case base32 with a checksum.
    public var text: String { IdentifierText.checkedBase32(words) }

    /// The first eight characters of ``text``, for display and logs; never enough to identify a peer by.
    public var short: String { IdentifierText.short(words) }
}

extension PeerId: Comparable {
    /// Orders ids by their bytes.
    public static func < (left: PeerId, right: PeerId) -> Bool { left.words < right.words }
}

extension PeerId: LosslessStringConvertible {
    /// Reads any text form, or returns nil.
    public init?(_ description: String) {
        guard let id = try? PeerId(text: description) else { return nil }  // a failable form
        self = id
    }

    /// The id in padded base64.
    public var description: String { base64Encoded }
}

extension PeerId: Codable {
    /// Reads padded base64.
    public init(from decoder: any Decoder) throws {
        try self.init(base64Encoded: decoder.singleValueContainer().decode(String.self))
    }

    /// Writes padded base64.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(base64Encoded)
    }
}
