package import NanoTDF

/// A token that its recipient opened, whose creator signed it, and of which nothing else is verified.
///
/// ``IdentityTokenVerifier`` compares creator, issuer, audience and time. Programs that explain a token need no more.
package struct OpenedIdentityToken: Sendable {
    /// The claims.
    package let token: IdentityToken
    /// The URL of the issuer in the policy.
    package let issuer: String

    /// Opens a file with the private key of its recipient.
    package init(_ file: NanoTDF, with key: NanoTDFPrivateKey) throws(IdentityTokenError) {
        let opened = try Self.open(file, with: key)
        do { token = try IdentityToken(opened.plaintext) } catch { throw .invalidFormat(reason: error.description) }
        let policy = try IdentityTokenPolicy(opened.policy ?? [])
        guard policy.tokenId == token.tokenId else {
            throw .policyViolation(reason: "its id is not that of the claims")
        }
        issuer = policy.issuer
    }

    private static func open(
        _ file: NanoTDF,
        with key: NanoTDFPrivateKey
    ) throws(IdentityTokenError) -> OpenedNanoTDF {
        guard file.signature != nil else { throw .invalidSignature(reason: "it has none") }
        do {
            return try NanoTDFOpener.open(file, with: key)
        } catch .invalidCreatorSignature {
            throw .invalidSignature(reason: "it does not verify")
        } catch {
            throw .decryptionFailed
        }
    }
}
