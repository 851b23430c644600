internal import Identity
internal import IdentityStore
internal import NanoTDF
internal import RegistrationModel

/// Issues the tokens of the server, and verifies those that requests carry.
struct TokenMint: Sendable {
    /// The scopes of each token, as in the original service.
    private static let scopes = ["openid", "profile"]

    private let sealer: IdentityTokenSealer
    private let verifier: IdentityTokenVerifier
    private let audience: String
    private let lifeSeconds: UInt64
    /// The public keys that verify tokens, the current one first.
    let issuerKeys: [IdentityTokenVerifier.IssuerKey]

    /// Combines keys and settings.
    ///
    /// - Throws: ``IdentityTokenError/invalidConfiguration(reason:)``.
    init(
        _ keys: TokenKeys,
        issuer: String,
        audience: String,
        lifeSeconds: UInt64
    ) throws(IdentityTokenError) {
        self.audience = audience
        self.lifeSeconds = lifeSeconds
        var issuerKeys = [IdentityTokenVerifier.IssuerKey(keys.signing.publicKey)]
        if let previous = keys.previous {
            issuerKeys.append(IdentityTokenVerifier.IssuerKey(previous.key, validUntil: previous.untilSeconds))
        }
        self.issuerKeys = issuerKeys
        sealer = try IdentityTokenSealer(
            signingKey: keys.signing,
            recipient: keys.recipient.publicKey,
            issuer: issuer
        )
        verifier = try IdentityTokenVerifier(
            decryptionKey: keys.recipient,
            issuer: issuer,
            audience: audience,
            issuerKeys: issuerKeys
        )
    }

    /// Issues a token for a session.
    ///
    /// - Throws: ``IdentityTokenError/sealingFailed(reason:)``.
    func issue(
        for account: StoredAccount,
        session: UniqueId,
        at nowSeconds: UInt64,
        using random: inout some RandomNumberGenerator
    ) throws -> (text: String, expires: UInt64) {
        let expires = nowSeconds + lifeSeconds
        let token = try IdentityToken(
            userId: account.userId,
            flags: [.profile, .webAuthn],
            scopes: Self.scopes,
            tokenId: UniqueId(using: &random),
            issued: nowSeconds,
            expires: expires,
            audience: audience,
            sessionId: session,
            did: account.did
        )
        return (try sealer.seal(token), expires)
    }

    /// Returns the claims of a valid token, whose session may have ended.
    ///
    /// - Throws: ``IdentityTokenError``.
    func verify(_ text: String, at nowSeconds: UInt64) throws(IdentityTokenError) -> IdentityToken {
        try verifier.verify(text, at: nowSeconds)
    }
}
