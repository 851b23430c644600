internal import Bytes

/// The decentralized identifier of a P-256 key by the method did:key: `did:key:zDnae…`, 57 characters.
///
/// The text is `z` and the base58btc of the multicodec 0x1200 as a varint, 80 24, and the compressed point (did:key,
/// section 3.1.3). Each other form that is in use for such keys is refused with an error of its own, because two forms
/// of one key would be two identities.
package struct DIDKey: Hashable, Sendable {
    /// The most bytes of text that are read.
    package static let textByteLimit = 256
    /// The number of characters of every text.
    package static let characterCount = 57

    private static let prefix = "did:key:"
    /// The first character of base58btc in multibase.
    private static let base = UInt8(ascii: "z")
    /// The multicodec p256-pub, 0x1200, as a varint.
    private static let codec: [UInt8] = [0x80, 0x24]

    /// The key.
    package let publicKey: P256PublicKey

    /// Names `publicKey`.
    package init(_ publicKey: P256PublicKey) {
        self.publicKey = publicKey
    }

    /// Reads the text of a DID.
    package init(_ text: String) throws(DIDKeyError) {
        let count = text.utf8.count
        guard count <= Self.textByteLimit else { throw .tooLong(found: count) }
        guard text.utf8.starts(with: Self.prefix.utf8) else { throw .notDIDKey }
        let multibase = text.utf8.dropFirst(Self.prefix.utf8.count)
        guard !multibase.contains(where: { "/?#".utf8.contains($0) }) else { throw .notBare }
        guard multibase.first == Self.base else { throw .otherBase }
        let bytes: [UInt8]
        do { bytes = try Base58.decode(String(Substring(multibase.dropFirst()))) } catch {
            throw .invalidBase58(reason: error.description)
        }
        try self.init(multicodec: bytes)
    }

    /// Reads the code and the key.
    private init(multicodec bytes: [UInt8]) throws(DIDKeyError) {
        guard bytes.starts(with: Self.codec) else { throw Self.error(withoutCodec: bytes) }
        let point = bytes.dropFirst(Self.codec.count)
        guard point.count == P256PublicKey.compressedByteCount else {
            guard point.count == P256PublicKey.x963ByteCount, point.first == 4 else {
                throw .wrongLength(found: point.count)
            }
            throw .uncompressedPoint
        }
        do { publicKey = try P256PublicKey(compressed: point) } catch { throw .notOnCurve }
    }

    /// Returns the error for bytes that do not begin with the code.
    private static func error(withoutCodec bytes: [UInt8]) -> DIDKeyError {
        if bytes.starts(with: [0x12, 0x00]) { return .bigEndianCodec }
        switch (bytes.count, bytes.first) {
        case (P256PublicKey.x963ByteCount, 4): return .uncompressedPointWithoutCodec
        case (P256PublicKey.compressedByteCount, 2), (P256PublicKey.compressedByteCount, 3):
            return .compressedPointWithoutCodec
        default: break
        }
        return switch codec(of: bytes) {
        case .none: .malformedCodec
        case 0xED: .ed25519
        case .some(let code): .otherCodec(code)
        }
    }

    /// Reads a varint of at most 9 bytes in its shortest form, least significant group first (unsigned-varint).
    private static func codec(of bytes: [UInt8]) -> UInt64? {
        var value: UInt64 = 0
        for (index, byte) in bytes.prefix(9).enumerated() {
            value |= UInt64(byte & 0x7F) << UInt64(7 * index)
            guard byte & 0x80 != 0 else { return byte == 0 && index > 0 ? nil : value }
        }
        return nil
    }

    /// The key in multibase: `zDnae…`.
    package var multibase: String {
        "z" + Base58.encode(Self.codec + publicKey.compressed)
    }
}

extension DIDKey: CustomStringConvertible {
    /// The DID.
    package var description: String { Self.prefix + multibase }
}

extension DIDKey: Codable {
    /// Reads the text of a DID.
    package init(from decoder: any Decoder) throws {
        try self.init(decoder.singleValueContainer().decode(String.self))
    }

    /// Writes the text of the DID.
    package func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(description)
    }
}
