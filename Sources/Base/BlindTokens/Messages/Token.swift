/// A token of type 0x0002 (RFC 9577, section 2.2), 354 bytes.
///
/// Its holder can use it without another secret, so its description is redacted.
public struct Token: Hashable, Sendable {
    /// The length in bytes.
    public static let byteCount = TokenInput.byteCount + BlindRSA.modulusByteCount

    /// The message under the signature.
    public let input: TokenInput
    /// The signature of the issuer, 256 bytes.
    public let authenticator: [UInt8]

    /// Creates a token whose signature was verified.
    ///
    /// - Throws: ``BlindTokenError/wrongSize(_:expected:found:)`` unless the signature has 256 bytes.
    init(input: TokenInput, authenticator: [UInt8]) throws(BlindTokenError) {
        try requireSize(authenticator, BlindRSA.modulusByteCount, .token)
        self.input = input
        self.authenticator = authenticator
    }

    /// Reads a token, with nothing behind it; its signature is not verified.
    ///
    /// - Throws: ``BlindTokenError/unsupportedType(_:)`` or ``BlindTokenError/wrongSize(_:expected:found:)``.
    public init(_ bytes: [UInt8]) throws(BlindTokenError) {
        try requireType(bytes)
        try requireSize(bytes, Self.byteCount, .token)
        input = try TokenInput([UInt8](bytes[..<TokenInput.byteCount]))
        authenticator = [UInt8](bytes[TokenInput.byteCount...])
    }

    /// The encoded token.
    public var bytes: [UInt8] { input.bytes + authenticator }
}

extension Token: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// Always `Token(redacted)`.
    public var description: String { "Token(redacted)" }

    /// Always `Token(redacted)`.
    public var debugDescription: String { "Token(redacted)" }

    /// A mirror without children.
    public var customMirror: Mirror { Mirror(self, children: []) }
}
