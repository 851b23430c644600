/// A request for one token of type 0x0002 (RFC 9578, section 6.1), 259 bytes.
public struct TokenRequest: Hashable, Sendable {
    /// The length in bytes.
    public static let byteCount = 2 + 1 + BlindRSA.modulusByteCount
    /// The media type of the body of an HTTP request.
    public static let mediaType = "application/private-token-request"

    /// The last byte of the id of the key that is asked for a signature.
    public let truncatedKeyId: UInt8
    /// The blinded message, 256 bytes.
    public let blindedMessage: [UInt8]

    /// Creates a request.
    ///
    /// - Throws: ``BlindTokenError/wrongSize(_:expected:found:)`` unless the blinded message has 256 bytes.
    public init(truncatedKeyId: UInt8, blindedMessage: [UInt8]) throws(BlindTokenError) {
        try requireSize(blindedMessage, BlindRSA.modulusByteCount, .blindedMessage)
        self.truncatedKeyId = truncatedKeyId
        self.blindedMessage = blindedMessage
    }

    /// Reads a request, with nothing behind it.
    ///
    /// - Throws: ``BlindTokenError/wrongSize(_:expected:found:)`` or ``BlindTokenError/unsupportedType(_:)``.
    public init(_ bytes: [UInt8]) throws(BlindTokenError) {
        try requireType(bytes)
        try requireSize(bytes, Self.byteCount, .request)
        try self.init(truncatedKeyId: bytes[2], blindedMessage: [UInt8](bytes[3...]))
    }

    /// The encoded request.
    public var bytes: [UInt8] { tokenTypeBytes + [truncatedKeyId] + blindedMessage }
}

/// The token type as it is encoded.
let tokenTypeBytes = [UInt8(BlindRSA.tokenType >> 8), UInt8(BlindRSA.tokenType & 0xFF)]

/// Throws unless `bytes` has `expected` elements.
func requireSize(
    _ bytes: [UInt8],
    _ expected: Int,
    _ subject: BlindTokenError.Subject
) throws(BlindTokenError) {
    guard bytes.count == expected else { throw .wrongSize(subject, expected: expected, found: bytes.count) }
}

/// Throws if `bytes` begins with another token type than 0x0002; fewer than two bytes have the wrong size instead.
func requireType(_ bytes: [UInt8]) throws(BlindTokenError) {
    guard let type = TokenChallenge.tokenType(of: bytes), type != BlindRSA.tokenType else { return }
    throw .unsupportedType(type)
}
