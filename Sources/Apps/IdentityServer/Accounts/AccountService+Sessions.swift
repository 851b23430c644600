internal import IdentityStore
internal import RegistrationModel

/// The account and the session of a request with a token.
struct SignedIn: Sendable {
    let account: StoredAccount
    let session: UniqueId
}

extension AccountService {
    /// Returns the account of a token whose session has not ended.
    ///
    /// - Throws: ``IdentityTokenError``, ``IdentityServerError/sessionEnded``, ``IdentityStoreError/storage(_:)``.
    func signedIn(_ token: String) async throws -> SignedIn {
        let now = nowSeconds
        let claims = try tokens.verify(token, at: now)
        guard let id = claims.sessionId, let session = try await store.session(id),
            session.userId == claims.userId, session.expires > now,
            let account = try await store.account(claims.userId)
        else { throw IdentityServerError.sessionEnded }
        return SignedIn(account: account, session: id)
    }

    /// Renews the session of a token, and issues another token for it.
    ///
    /// - Throws: ``IdentityStoreError``, ``IdentityTokenError``.
    func refresh(_ user: SignedIn, from client: Client) async throws -> SignedInReport {
        let now = nowSeconds
        let report = try report(user.account, session: user.session)
        try await store.renewSession(
            user.session,
            of: user.account.userId,
            at: now,
            expires: now + configuration.sessionLifeSeconds
        )
        audit.record(AuditEvent(.refreshed, user: user.account.userId, address: client.address))
        return report
    }

    /// Ends the session of a token, or all sessions of its account.
    ///
    /// - Throws: ``IdentityStoreError``.
    func revoke(_ user: SignedIn, everywhere: Bool, from client: Client) async throws {
        if everywhere {
            try await store.revokeSessions(of: user.account.userId)
        } else {
            try await store.revokeSession(user.session, of: user.account.userId)
        }
        audit.record(AuditEvent(.revoked, user: user.account.userId, address: client.address))
    }

    /// Describes the account of a token.
    ///
    /// - Throws: ``IdentityStoreError/storage(_:)``.
    func account(_ user: SignedIn) async throws -> AccountReport {
        AccountReport(
            userId: user.account.userId,
            handle: user.account.handle.qualified(by: configuration.handleDomain),
            did: user.account.did,
            created: user.account.created,
            passkeys: try await store.credentials(of: user.account.userId).count,
            sessions: try await store.sessions(of: user.account.userId, at: nowSeconds).count
        )
    }
}
