internal import Bytes
package import Identity

/// The content of a signed document.
package protocol SignedContent: Codable, Hashable, Sendable {
    /// The label of the signature.
    static var label: DomainLabel { get }
    /// The document in a sentence.
    static var subject: String { get }
    /// The most bytes of a payload.
    static var payloadByteLimit: Int { get }
}

/// A JSON text and its Ed25519 signature.
///
/// The signature covers the length and text of a ``DomainLabel`` and the bytes of the payload. These bytes travel as they
/// were signed, so signer and reader need no canonical form of JSON. In JSON, both members are base64url without padding.
package struct SignedDocument<Content: SignedContent>: Hashable, Sendable {
    /// The bytes of the JSON that was signed; nothing in it is trusted before ``content(by:)``.
    package let payload: [UInt8]
    package let signature: Ed25519Signature

    /// Signs a content.
    ///
    /// - Throws: ``ExitModelError/signingFailed``.
    package init(_ content: Content, by signer: some Signer) throws(ExitModelError) {
        payload = ExitJSON.bytes(content)
        do {
            signature = try Ed25519Signature(of: Content.label.message(payload), by: signer)
        } catch {
            throw .signingFailed
        }
    }

    /// Reads ``json``, without a check of its signature.
    ///
    /// - Throws: ``ExitModelError``.
    package init(json: [UInt8]) throws(ExitModelError) {
        self = try ExitJSON.decode(from: json, limit: Self.byteLimit, of: Content.subject)
    }

    /// The document as it travels.
    package var json: [UInt8] { ExitJSON.bytes(self) }

    /// The most bytes of ``json`` that are read: the payload and the signature in base64url, and their names.
    package static var byteLimit: Int { Base64URL.characterCount(ofBytes: Content.payloadByteLimit) + 256 }

    /// Verifies the signature, and then reads the content.
    ///
    /// - Throws: ``ExitModelError``.
    package func content(by key: Ed25519PublicKey) throws(ExitModelError) -> Content {
        guard key.isValidSignature(signature.bytes, for: Content.label.message(payload)) else {
            throw .badSignature(of: Content.subject)
        }
        return try unverifiedContent()
    }

    /// Reads the content of a document of this process's own operator, whose signature others verify.
    ///
    /// - Throws: ``ExitModelError``.
    package func ownContent() throws(ExitModelError) -> Content { try unverifiedContent() }

    /// Reads the content, of which nothing is verified, to find the key that should have signed it.
    func unverifiedContent() throws(ExitModelError) -> Content {
        try ExitJSON.decode(from: payload, limit: Content.payloadByteLimit, of: Content.subject)
    }
}

extension SignedDocument: Codable {
    private enum CodingKeys: String, CodingKey {
        case payload
        case signature
    }

    package init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        payload = try container.bytes(.payload, limit: Content.payloadByteLimit)
        let bytes = try container.bytes(.signature, count: Ed25519Signature.byteCount)
        guard let signature = Ed25519Signature(bytes) else {
            throw ExitModelError.wrongLength(
                of: "the signature",
                expected: Ed25519Signature.byteCount,
                found: bytes.count
            )
        }
        self.signature = signature
    }

    package func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(Base64URL.encode(payload), forKey: .payload)
        try container.encode(Base64URL.encode(signature.bytes), forKey: .signature)
    }
}
