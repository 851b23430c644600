internal import Bytes
internal import Identity
package import NanoTDF

/// Verifies the identity tokens of one issuer for one audience.
///
/// Nothing is decrypted before the creator is known to be the issuer and the signature verifies. Revocation is up to
/// the caller, which has the store of sessions.
package struct IdentityTokenVerifier: Sendable {
    /// A key with which the issuer signs or signed.
    package struct IssuerKey: Hashable, Sendable {
        package let publicKey: NanoTDFPublicKey
        /// The last second since 1970 at which its signatures count; nil for the current key.
        ///
        /// The previous key overlaps with the current one for the lifetime of a token.
        package let validUntil: UInt64?

        package init(_ publicKey: NanoTDFPublicKey, validUntil: UInt64? = nil) {
            self.publicKey = publicKey
            self.validUntil = validUntil
        }
    }

    private let decryptionKey: NanoTDFPrivateKey
    private let issuer: ServiceURL
    private let audience: ServiceURL
    private let issuerKeys: [IssuerKey]

    /// Takes the key of this service, the URL of the issuer, that of this service, and the keys of the issuer.
    ///
    /// - Throws: ``IdentityTokenError/invalidConfiguration(reason:)`` for keys on other curves than P-256, and texts
    ///   that are no URL.
    package init(
        decryptionKey: NanoTDFPrivateKey,
        issuer: String,
        audience: String,
        issuerKeys: [IssuerKey]
    ) throws(IdentityTokenError) {
        guard decryptionKey.curve == .secp256r1, issuerKeys.allSatisfy({ $0.publicKey.curve == .secp256r1 }) else {
            throw .invalidConfiguration(reason: "the keys of issuer and audience are on P-256")
        }
        guard !issuerKeys.isEmpty else { throw .invalidConfiguration(reason: "no key of the issuer is known") }
        self.decryptionKey = decryptionKey
        self.issuer = try ServiceURL(issuer, of: "the issuer")
        self.audience = try ServiceURL(audience, of: "the audience")
        self.issuerKeys = issuerKeys
    }

    /// Returns the claims of a token that is valid at `now`, in seconds since 1970.
    ///
    /// Clocks may differ by ``UnixTime/graceSeconds``.
    package func verify(_ text: String, at now: UInt64) throws(IdentityTokenError) -> IdentityToken {
        let file = try Self.file(text)
        try checkCreator(of: file, at: now)
        try checkForm(of: file.header)
        let opened = try OpenedIdentityToken(file, with: decryptionKey)
        let token = opened.token
        guard opened.issuer.utf8.elementsEqual(issuer.text.utf8) else { throw .wrongIssuer }
        guard token.audience.utf8.elementsEqual(audience.text.utf8) else { throw .invalidAudience }
        guard !UnixTime.isPast(token.expires, at: now) else { throw .expired }
        guard token.issued <= UnixTime.graceSeconds || token.issued - UnixTime.graceSeconds <= now else {
            throw .notYetValid
        }
        return token
    }

    private static func file(_ text: String) throws(IdentityTokenError) -> NanoTDF {
        let limit = IdentityTokenSealer.textByteLimit
        guard text.utf8.count <= limit else {
            throw .invalidFormat(reason: "it has \(text.utf8.count) characters, and at most \(limit) are read")
        }
        let bytes: [UInt8]
        do { bytes = try Base64URL.decode(text) } catch {
            throw .invalidFormat(reason: "it is not base64url without padding: \(error)")
        }
        do { return try NanoTDF(bytes) } catch { throw .invalidFormat(reason: error.description) }
    }

    /// Compares the creator with the keys of the issuer; the signature itself is verified when the file is opened.
    private func checkCreator(of file: NanoTDF, at now: UInt64) throws(IdentityTokenError) {
        guard let creator = file.signature?.creator else { throw .invalidSignature(reason: "it has none") }
        let keys = issuerKeys.filter { $0.publicKey == creator }
        guard !keys.isEmpty else { throw .invalidSignature(reason: "another key signed it") }
        guard keys.contains(where: { $0.validUntil.map { now <= $0 } ?? true }) else {
            throw .invalidSignature(reason: "the key that signed it is no longer in use; sign in again")
        }
    }

    /// Refuses forms that the format allows and no issuer of tokens uses.
    private func checkForm(of header: NanoTDFHeader) throws(IdentityTokenError) {
        guard case .encrypted = header.policy else {
            throw .policyViolation(reason: "it is not encrypted and embedded")
        }
        guard header.bindingMode == .ecdsa, header.cipher == .aes256GCM128 else {
            throw .invalidFormat(reason: "its policy is not bound by a signature, or its tag is not of 128 bits")
        }
        guard audience.isPlace(of: header.keyAccess) else { throw .invalidAudience }
    }
}
