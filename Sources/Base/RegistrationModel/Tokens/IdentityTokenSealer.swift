internal import Bytes
package import NanoTDF

/// Seals identity tokens as NanoTDF, version 12.
///
/// The claims are in the payload alone, so that only the audience reads them. The signature of the creator is that of
/// the issuer, because everyone can encrypt to a public key. The policy is encrypted, allows everything, and repeats
/// the token's id next to the issuer.
package struct IdentityTokenSealer: Sendable {
    /// The most bytes of a token's text.
    package static let textByteLimit = 8192

    private let signingKey: NanoTDFPrivateKey
    private let recipient: NanoTDFPublicKey
    private let issuer: ServiceURL

    /// Takes the key that signs, the key to which tokens are sealed, and the URL of the issuer.
    ///
    /// - Throws: ``IdentityTokenError/invalidConfiguration(reason:)`` for keys on other curves than P-256, and texts
    ///   that are no URL.
    package init(
        signingKey: NanoTDFPrivateKey,
        recipient: NanoTDFPublicKey,
        issuer: String
    ) throws(IdentityTokenError) {
        guard signingKey.curve == .secp256r1, recipient.curve == .secp256r1 else {
            throw .invalidConfiguration(reason: "the keys of the issuer are on P-256")
        }
        self.signingKey = signingKey
        self.recipient = recipient
        self.issuer = try ServiceURL(issuer, of: "the issuer")
    }

    /// Seals a token for its audience, whose URL names the host of key access.
    ///
    /// The text is base64url without padding, which RFC 6750 allows in the header `Authorization: Bearer`.
    package func seal(_ token: IdentityToken) throws(IdentityTokenError) -> String {
        let audience = try ServiceURL(token.audience, of: "the audience")
        do {
            let sealer = try NanoTDFSealer(
                to: recipient,
                keyAccess: audience.locator(of: recipient),
                policy: .encrypted(IdentityTokenPolicy(tokenId: token.tokenId, issuer: issuer).content),
                creator: signingKey
            )
            return Base64URL.encode(try sealer.seal(token.encoded).bytes)
        } catch {
            throw .sealingFailed(reason: error.description)
        }
    }
}
