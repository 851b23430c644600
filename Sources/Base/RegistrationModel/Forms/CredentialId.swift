package import Bytes
internal import WebAuthn

/// The id of a passkey: 1 to 1023 bytes that its authenticator chose, in JSON base64url without padding.
package struct CredentialId: Hashable, Sendable {
    /// The bytes.
    package let bytes: [UInt8]

    /// Takes the bytes of a credential that was verified.
    package init(_ bytes: [UInt8]) {
        self.bytes = bytes
    }

    /// Reads base64url without padding.
    package init(text: String) throws(BytesError) {
        let limit = Base64URL.characterCount(ofBytes: AuthenticatorData.credentialIdByteLimit)
        guard text.utf8.count <= limit else { throw .tooLong(limit: limit, found: text.utf8.count) }
        let bytes = try Base64URL.decode(text)
        guard !bytes.isEmpty else { throw .invalidLength(0) }
        self.init(bytes)
    }
}

extension CredentialId: CustomStringConvertible {
    /// The id in base64url without padding.
    package var description: String { Base64URL.encode(bytes) }
}

extension CredentialId: Codable {
    /// Reads base64url without padding.
    package init(from decoder: any Decoder) throws {
        try self.init(text: decoder.singleValueContainer().decode(String.self))
    }

    /// Writes base64url without padding.
    package func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(description)
    }
}
