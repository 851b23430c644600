package import Failures

/// Why a text is not the did:key of a P-256 key.
package enum DIDKeyError: Error, Hashable, Sendable {
    /// The text has `found` bytes, and more than ``DIDKey/textByteLimit``; nothing of it was read.
    case tooLong(found: Int)
    /// The text does not begin with `did:key:`.
    case notDIDKey
    /// The text has a path, a query or a fragment, so it is a DID URL.
    case notBare
    /// The key is not in base58btc, whose first character is z.
    case otherBase
    /// A character is not one of base58btc, or the text has room for far more than a key.
    case invalidBase58(reason: String)
    /// The key is an Ed25519 key: `z6Mk…`.
    case ed25519
    /// The multicodec is that of another kind of key.
    case otherCodec(UInt64)
    /// The first bytes are not a multicodec in its shortest form.
    case malformedCodec
    /// The multicodec 0x1200 is written as two bytes with the most significant one first, and not as a varint.
    case bigEndianCodec
    /// The code is followed by the uncompressed point of 65 bytes.
    case uncompressedPoint
    /// The bytes are the uncompressed point of 65 bytes, without a code.
    case uncompressedPointWithoutCodec
    /// The bytes are the compressed point of 33 bytes, without a code.
    case compressedPointWithoutCodec
    /// The code is followed by `found` bytes.
    case wrongLength(found: Int)
    /// The code is followed by 33 bytes that are not a compressed point of the curve.
    case notOnCurve
}

extension DIDKeyError: CodedError, CustomStringConvertible {
    /// The failure in words, and the right form.
    package var description: String { "this is not a DID of a P-256 key: \(reason); \(Self.rightForm)" }

    private static let rightForm = "the right form is did:key:zDnae… with 57 characters"

    private var reason: String {
        switch self {
        case .tooLong(let found):
            "it has \(found) bytes"
        case .notDIDKey:
            "it does not begin with did:key:"
        case .notBare:
            "a path, a query or a fragment follows the key; leave out everything from the first /, ? or # on"
        case .otherBase:
            "the key is not in base58btc, so its first character is not z"
        case .invalidBase58(let reason):
            "its base58 cannot be read: \(reason)"
        case .ed25519:
            "z6Mk is the beginning of an Ed25519 key"
        case .otherCodec(let code):
            "it has the multicodec 0x\(String(code, radix: 16)) of another kind of key, not 0x1200"
        case .malformedCodec:
            "no multicodec precedes the key; write the bytes 80 24 before the compressed point"
        case .bigEndianCodec:
            "the multicodec is written as 12 00; as a varint it is 80 24"
        case .uncompressedPoint:
            "the point is not compressed; write 02 or 03 and the 32 bytes of x"
        case .uncompressedPointWithoutCodec:
            "it is the uncompressed point without a multicodec; write the bytes 80 24 and the compressed point"
        case .compressedPointWithoutCodec:
            "it is the compressed point without a multicodec; write the bytes 80 24 before it"
        case .wrongLength(let found):
            "\(found) bytes follow the multicodec, not \(P256PublicKey.compressedByteCount)"
        case .notOnCurve:
            "the point is not on the curve, so a character was changed, or the key is of another curve"
        }
    }

    package var failureCode: FailureCode { FailureCode("bad-did", .invalidParameters, .usage) }
}
