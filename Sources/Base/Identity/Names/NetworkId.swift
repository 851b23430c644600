public import Essentials

/// The name of a network: the raw 32-byte Ed25519 public key that signs its tokens, metadata and revocations.
///
/// Not a secret. Bytes that no honest network could have as its key are refused. Ids are ordered by their bytes.
public struct NetworkId: Hashable, Sendable {
    /// The size of an id in bytes.
    public static let byteCount = 32

    package let words: Bytes32

    /// Names the network whose key is `publicKey`.
    public init(publicKey: Ed25519PublicKey) {
        words = publicKey.words
    }

    /// Reads the 32 bytes of an id; refused unless they could be a public key.
    public init(rawRepresentation: some Collection<UInt8>) throws(IdentityError) {
        guard let words = Bytes32(rawRepresentation) else {
            throw .wrongLength(of: "a network id", expected: Self.byteCount, found: rawRepresentation.count)
        }
        try self.init(words: words)
    }

    /// Reads an id in padded base64.
    public init(base64Encoded text: String) throws(IdentityError) {
        try self.init(words: try IdentifierText.bytes32(base64: text, what: "a network id"))
    }

    /// Reads an id in either of its text forms: padded base64, or the checked base32 that people type.
    public init(text: String) throws(IdentityError) {
        try self.init(words: try IdentifierText.bytes32(text, what: "a network id"))
    }

    package init(words: Bytes32) throws(IdentityError) {
        try Ed25519Encoding.checkPublicKey(words.bytes)
        self.words = words
    }

    /// The 32 bytes.
    public var rawRepresentation: Data { Data(words.bytes) }

    /// The 32 bytes.
    package var bytes: [UInt8] { words.bytes }

    /// The network's public key, whose bytes are the id.
    public var publicKey: Ed25519PublicKey { Ed25519PublicKey(checked: words) }

    /// Whether `signature` is the network key's over exactly `message`.
    public func isValidSignature(_ signature: some Collection<UInt8>, for message: some Collection<UInt8>) -> Bool {
        publicKey.isValidSignature(signature, for: message)
    }

    /// The id in padded base64.
    public var base64Encoded: String { IdentifierText.base64(words) }

    /// The id as people read and type it: lower-case base32 with a checksum.
    public var text: String { IdentifierText.checkedBase32(words) }

    /// The first eight characters of ``text``, for display and logs; never enough to identify a network by.
    public var short: String { IdentifierText.short(words) }
}

extension NetworkId: Comparable {
    /// Orders ids by their bytes.
    public static func < (left: NetworkId, right: NetworkId) -> Bool { left.words < right.words }
}

extension NetworkId: LosslessStringConvertible {
    /// Reads either text form, or returns nil.
    public init?(_ description: String) {
        guard let id = try? NetworkId(text: description) else { return nil }  // a failable form
        self = id
    }

    /// The id in padded base64.
    public var description: String { base64Encoded }
}

extension NetworkId: Codable {
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
