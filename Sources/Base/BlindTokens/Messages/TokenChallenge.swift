internal import Bytes
internal import Crypto

/// A challenge for a token of type 0x0002 (RFC 9577, section 2.1.1).
///
/// The digest of all its fields is a part of each token, so a token is valid for one challenge.
public struct TokenChallenge: Hashable, Sendable {
    /// The most bytes of a name.
    public static let nameByteLimit = Int(UInt16.max)

    /// The host name of the issuer, 1 to 65,535 printable characters of ASCII.
    public let issuerName: String
    /// The context in which the token is redeemed: no bytes, or 32.
    public let redemptionContext: [UInt8]
    /// The names of the origins that accept the token, separated by commas; empty for any origin.
    public let originInfo: String

    /// Creates a challenge.
    ///
    /// - Throws: ``BlindTokenError/malformed(_:reason:)`` for a value that the format cannot carry.
    public init(issuerName: String, redemptionContext: [UInt8], originInfo: String) throws(BlindTokenError) {
        guard !issuerName.isEmpty else { throw .malformed(.challenge, reason: "it names no issuer") }
        for name in [issuerName, originInfo] {
            guard name.utf8.count <= Self.nameByteLimit else {
                throw .malformed(.challenge, reason: "a name has more than \(Self.nameByteLimit) bytes")
            }
            guard name.utf8.allSatisfy({ (0x20..<0x7F).contains($0) }) else {
                throw .malformed(.challenge, reason: "a name has characters other than printable ASCII")
            }
        }
        guard redemptionContext.isEmpty || redemptionContext.count == BlindRSA.digestByteCount else {
            let found = redemptionContext.count
            throw .malformed(.challenge, reason: "the redemption context has \(found) bytes, not 0 or 32")
        }
        self.issuerName = issuerName
        self.redemptionContext = redemptionContext
        self.originInfo = originInfo
    }

    /// Reads a challenge, with nothing behind it.
    ///
    /// - Throws: ``BlindTokenError/malformed(_:reason:)``, or ``BlindTokenError/unsupportedType(_:)`` for a challenge
    ///   for tokens of another type.
    public init(_ bytes: [UInt8]) throws(BlindTokenError) {
        let fields: (type: UInt16, issuer: [UInt8], context: [UInt8], origin: [UInt8])
        do throws(BytesError) {
            var reader = ByteReader(bytes)
            fields.type = try reader.readUInt16()
            guard fields.type == BlindRSA.tokenType else { throw .invalidValue("token type \(fields.type)") }
            fields.issuer = try reader.readBytes(count: Int(reader.readUInt16()))
            fields.context = try reader.readBytes(count: Int(reader.readUInt8()))
            fields.origin = try reader.readBytes(count: Int(reader.readUInt16()))
            try reader.finish()
        } catch {
            if let type = Self.tokenType(of: bytes), type != BlindRSA.tokenType { throw .unsupportedType(type) }
            throw .malformed(.challenge, reason: error.description)
        }
        // The initialiser refuses everything but ASCII, which the replacement character of invalid UTF-8 is not.
        try self.init(
            issuerName: String(decoding: fields.issuer, as: UTF8.self),
            redemptionContext: fields.context,
            originInfo: String(decoding: fields.origin, as: UTF8.self)
        )
    }

    /// The encoded challenge.
    public var bytes: [UInt8] {
        var writer = ByteWriter(capacity: issuerName.utf8.count + redemptionContext.count + originInfo.utf8.count + 7)
        writer.write(BlindRSA.tokenType)
        writer.write(UInt16(issuerName.utf8.count))
        writer.write(utf8: issuerName)
        writer.write(UInt8(redemptionContext.count))
        writer.write(redemptionContext)
        writer.write(UInt16(originInfo.utf8.count))
        writer.write(utf8: originInfo)
        return writer.bytes
    }

    /// The SHA-256 of the encoded challenge, 32 bytes.
    public var challengeDigest: [UInt8] { [UInt8](SHA256.hash(data: bytes)) }

    /// Whether the challenge admits `origin`, compared without regard to case; an empty list admits every origin.
    ///
    /// A client must not answer a challenge that does not admit the origin that sent it (RFC 9577, section 2.1.1).
    public func admits(origin: String) -> Bool {
        guard !originInfo.isEmpty else { return true }
        return originInfo.split(separator: ",").contains { $0.lowercased() == origin.lowercased() }
    }

    /// Returns the token type of an encoded challenge of any type; nil without its two bytes.
    static func tokenType(of bytes: [UInt8]) -> UInt16? {
        guard bytes.count >= 2 else { return nil }
        return UInt16(bytes[0]) << 8 | UInt16(bytes[1])
    }
}
