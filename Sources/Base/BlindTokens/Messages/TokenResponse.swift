/// The blind signature of an issuer (RFC 9578, section 6.2), 256 bytes.
public struct TokenResponse: Hashable, Sendable {
    /// The length in bytes.
    public static let byteCount = BlindRSA.modulusByteCount
    /// The media type of the body of an HTTP response.
    public static let mediaType = "application/private-token-response"

    /// The encoded response, which is the blind signature.
    public let bytes: [UInt8]

    /// Reads a response.
    ///
    /// - Throws: ``BlindTokenError/wrongSize(_:expected:found:)`` unless it has 256 bytes.
    public init(_ bytes: [UInt8]) throws(BlindTokenError) {
        try requireSize(bytes, Self.byteCount, .response)
        self.bytes = bytes
    }
}
