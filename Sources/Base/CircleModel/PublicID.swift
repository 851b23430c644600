internal import Bytes
public import Essentials
internal import Identity

/// The id of a profile, a stream or a thought that other people see (32 bytes).
///
/// Profiles and streams have SHA-256 of the 16 bytes of their UUID. The text is base58 without a checksum, as in the
/// Arkavo app.
public struct PublicID: Hashable, Sendable {
    /// The number of bytes of an id.
    public static let byteCount = 32

    private let words: Bytes32

    /// The id that belongs to a UUID.
    public init(of id: UUID) { self.init(hash: id.bytes) }

    /// The SHA-256 of `bytes`.
    package init(hash bytes: [UInt8]) { words = Bytes32(sha256: bytes) }

    /// Reads 32 bytes.
    ///
    /// - Throws: ``CircleError/malformed(of:reason:)``.
    public init(bytes: some Collection<UInt8>) throws(CircleError) {
        guard let words = Bytes32(bytes) else {
            throw .malformed(of: "a public id", reason: "it has \(bytes.count) bytes and not \(Self.byteCount)")
        }
        self.words = words
    }

    /// Reads base58.
    ///
    /// - Throws: ``CircleError/malformed(of:reason:)``.
    public init(text: String) throws(CircleError) {
        let bytes: [UInt8]
        do {
            bytes = try Base58.decode(text)
        } catch {
            throw .malformed(of: "a public id", reason: "\(error)")
        }
        try self.init(bytes: bytes)
    }

    /// The 32 bytes.
    public var bytes: [UInt8] { words.bytes }

    /// The id in base58.
    public var text: String { Base58.encode(bytes) }
}

extension UUID {
    /// A UUID of version 8 (RFC 9562): the first 16 bytes of SHA-256 of `bytes`, with version and variant.
    package init(version8 bytes: [UInt8]) {
        var hash = Array(Bytes32(sha256: bytes).bytes.prefix(16))
        hash[6] = hash[6] & 0x0F | 0x80
        hash[8] = hash[8] & 0x3F | 0x80
        guard let id = UUID(bytes: hash) else { preconditionFailure("16 bytes make a UUID") }
        self = id
    }

    /// Takes 16 bytes in the order of RFC 9562; nil for another number.
    package init?(bytes: [UInt8]) {
        guard bytes.count == 16 else { return nil }
        self.init(
            uuid: (
                bytes[0], bytes[1], bytes[2], bytes[3], bytes[4], bytes[5], bytes[6], bytes[7],
                bytes[8], bytes[9], bytes[10], bytes[11], bytes[12], bytes[13], bytes[14], bytes[15]
            )
        )
    }

    /// The 16 bytes in the order of RFC 9562.
    package var bytes: [UInt8] { unsafe withUnsafeBytes(of: uuid) { bytes in unsafe Array(bytes) } }
}

extension PublicID: Comparable {
    /// Orders ids by their bytes.
    public static func < (left: PublicID, right: PublicID) -> Bool { left.words < right.words }
}

extension PublicID: CustomStringConvertible {
    /// The id in base58.
    public var description: String { text }
}

extension PublicID: Codable {
    /// Reads a byte string.
    public init(from decoder: any Decoder) throws {
        try self.init(bytes: decoder.singleValueContainer().decode([UInt8].self))
    }

    /// Writes a byte string.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(bytes)
    }
}
