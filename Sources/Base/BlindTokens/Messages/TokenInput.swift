internal import Crypto
internal import Essentials

/// The message under the signature of a token: type, nonce, challenge digest and key id (RFC 9577, section 2.2).
public struct TokenInput: Hashable, Sendable {
    /// The length in bytes.
    public static let byteCount = 2 + 3 * BlindRSA.digestByteCount

    /// The random value of the client, 32 bytes.
    public let nonce: [UInt8]
    /// The digest of the challenge, 32 bytes.
    public let challengeDigest: [UInt8]
    /// The id of the issuer's key.
    public let keyId: TokenKeyId

    /// Creates the input of a token with a random nonce.
    init(challengeDigest: [UInt8], keyId: TokenKeyId, using random: inout some RandomNumberGenerator) {
        nonce = (0..<BlindRSA.digestByteCount).map { _ in UInt8.random(in: .min ... .max, using: &random) }
        self.challengeDigest = challengeDigest
        self.keyId = keyId
    }

    /// Reads the input of a token.
    ///
    /// - Throws: ``BlindTokenError/unsupportedType(_:)`` or ``BlindTokenError/wrongSize(_:expected:found:)``.
    public init(_ bytes: [UInt8]) throws(BlindTokenError) {
        try requireType(bytes)
        try requireSize(bytes, Self.byteCount, .token)
        nonce = [UInt8](bytes[2..<34])
        challengeDigest = [UInt8](bytes[34..<66])
        keyId = try TokenKeyId([UInt8](bytes[66...]))
    }

    /// The encoded input.
    public var bytes: [UInt8] { tokenTypeBytes + nonce + challengeDigest + keyId.bytes }

    /// The SHA-256 of the encoded input: the key of a spent token.
    ///
    /// The signature is not a part of it, since an issuer can sign one input more than once, with different salts.
    public var spendId: [UInt8] { [UInt8](SHA256.hash(data: bytes)) }
}
