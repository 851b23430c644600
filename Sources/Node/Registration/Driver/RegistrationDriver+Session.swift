internal import Bytes
internal import Platform

// The session of a registered person.
extension RegistrationDriver {
    /// Replaces the stored token by a new one of the same session, if it ends within `seconds` or its end is unknown.
    ///
    /// Without a stored token nothing happens. If the token is removed meanwhile, as by ``signOut(everywhere:)``, the new
    /// one is revoked and not stored; a token that replaced it meanwhile stays.
    ///
    /// - Throws: `KeychainError`; ``IdentityServiceError``, after which the former token stays stored.
    package func refreshToken(ifEndingWithin seconds: UInt64) async throws {
        guard let token = try parts.keychain.getAuthenticationToken() else { return }
        if let expires = try parts.keychain.getAuthenticationTokenExpiry(), expires >= seconds,
            expires - seconds > now()
        {
            return
        }
        let signedIn = try await parts.service.refresh(token)
        // A token that replaced it may be of the same session, which must then last.
        guard try !parts.keychain.replaceAuthenticationToken(token, by: signedIn) else { return }
        try? await parts.service.revoke(signedIn.token, everywhere: false)  // it expires by itself
    }

    /// Ends the session, or all sessions of the account, and removes the token from this device.
    ///
    /// The token is removed in any case. If the server cannot be reached, the session ends when the token expires.
    ///
    /// - Throws: `KeychainError`; ``IdentityServiceError``.
    package func signOut(everywhere: Bool = false) async throws {
        guard let token = try parts.keychain.takeAuthenticationToken() else { return }
        try await parts.service.revoke(token, everywhere: everywhere)
    }

    /// Returns the state of the five facts that a complete registration has.
    ///
    /// - Throws: `KeychainError`; the errors of the account's store.
    package func checklist() async throws -> LocalChecklist {
        try LocalChecklist(account: await parts.persistence.getOrCreateAccount(), keychain: parts.keychain)
    }
}
