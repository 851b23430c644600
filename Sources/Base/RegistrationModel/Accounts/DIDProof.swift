internal import Bytes
package import Identity

/// The signature by which the owner of a ``DIDKey`` proves at registration that the private key is available.
///
/// The signed bytes name everything that the registration connects with the DID, so that a proof is valid for one
/// challenge, one server, one handle and one DID.
package struct DIDProof: Hashable, Sendable {
    private static let label = DomainLabel("runar/did-proof/v1")

    /// The signature: r and s, 64 bytes.
    package let signature: [UInt8]

    /// Reads the 64 bytes of a signature.
    package init(_ signature: [UInt8]) throws(DIDProofError) {
        guard signature.count == P256PublicKey.signatureByteCount else { throw .wrongLength(found: signature.count) }
        self.signature = signature
    }

    /// Reads base64url without padding.
    package init(text: String) throws(DIDProofError) {
        guard text.utf8.count <= 2 * P256PublicKey.signatureByteCount else {
            throw .wrongLength(found: text.utf8.count * 3 / 4)
        }
        let bytes: [UInt8]
        do { bytes = try Base64URL.decode(text) } catch { throw .notBase64URL(reason: error.description) }
        try self.init(bytes)
    }

    /// Signs with `key`, whose public half is the DID.
    package init(
        by key: P256PrivateKey,
        challenge: [UInt8],
        rpId: String,
        handle: Handle
    ) throws(P256KeyError) {
        signature = try key.signature(
            for: Self.signedBytes(challenge: challenge, rpId: rpId, handle: handle, did: DIDKey(key.publicKey))
        )
    }

    /// The proof in base64url without padding.
    package var text: String { Base64URL.encode(signature) }

    /// Refuses a proof that the key of `did` did not sign for these values; both values of s are accepted.
    package func verify(challenge: [UInt8], rpId: String, handle: Handle, did: DIDKey) throws(DIDProofError) {
        let message = Self.signedBytes(challenge: challenge, rpId: rpId, handle: handle, did: did)
        guard did.publicKey.isValidSignature(raw: signature, for: message) else { throw .doesNotVerify }
    }

    /// Returns the bytes that the key signs.
    ///
    /// They are the label `runar/did-proof/v1` after its length in one byte, and then four values after their lengths
    /// in four bytes, most significant first: the bytes of the challenge, the id of the relying party, the handle
    /// without its domain, and the DID in text.
    package static func signedBytes(challenge: [UInt8], rpId: String, handle: Handle, did: DIDKey) -> [UInt8] {
        var writer = ByteWriter(capacity: 256)
        writer.write(label.prefix)
        for value in [challenge, Array(rpId.utf8), Array(handle.text.utf8), Array(did.description.utf8)] {
            writer.write(UInt32(value.count))
            writer.write(value)
        }
        return writer.bytes
    }
}

extension DIDProof: Codable {
    /// Reads base64url without padding.
    package init(from decoder: any Decoder) throws {
        try self.init(text: decoder.singleValueContainer().decode(String.self))
    }

    /// Writes base64url without padding.
    package func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(text)
    }
}
