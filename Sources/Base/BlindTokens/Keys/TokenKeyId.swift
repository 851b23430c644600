internal import Bytes

/// The id of an issuer's key: the SHA-256 of its SubjectPublicKeyInfo (RFC 9578, section 6.5).
public struct TokenKeyId: Hashable, Sendable {
    /// The length in bytes.
    public static let byteCount = BlindRSA.digestByteCount

    /// The 32 bytes.
    public let bytes: [UInt8]

    /// Reads an id.
    ///
    /// - Throws: ``BlindTokenError/wrongSize(_:expected:found:)`` unless it has 32 bytes.
    public init(_ bytes: [UInt8]) throws(BlindTokenError) {
        try requireSize(bytes, Self.byteCount, .publicKey)
        self.bytes = bytes
    }

    /// Takes the output of SHA-256.
    init(digest: some Sequence<UInt8>) { bytes = [UInt8](digest) }

    /// The last byte, which names the key in a request.
    public var truncated: UInt8 { bytes.last ?? 0 }
}

extension TokenKeyId: CustomStringConvertible {
    /// The id in hexadecimal.
    public var description: String { Hex.encode(bytes) }
}
