internal import Identity
internal import IdentityStore
internal import RegistrationModel
internal import WebAuthn

extension AccountService {
    /// An action that a person confirms with a passkey.
    enum Action: String, Sendable, CaseIterable {
        case add
        case remove
        case delete

        var purpose: Challenge.Purpose {
            switch self {
            case .add: .confirmAdding
            case .remove: .confirmRemoving
            case .delete: .confirmDeletion
            }
        }
    }

    /// The most characters of a label.
    private static let labelLimit = 64
    /// The most bytes of a label: a character may consist of many of them.
    private static let labelByteLimit = 1024

    /// Lists the passkeys of the account.
    ///
    /// - Throws: ``IdentityStoreError/storage(_:)``.
    func passkeys(_ user: SignedIn) async throws -> PasskeysReport {
        PasskeysReport(
            passkeys: try await store.credentials(of: user.account.userId).map { credential in
                PasskeyReport(
                    id: CredentialId(credential.id),
                    label: credential.label,
                    created: credential.created,
                    lastUsed: credential.used,
                    transports: credential.transports.split(separator: ",").map { String($0) },
                    isBackedUp: credential.isBackedUp,
                    isBackupEligible: credential.isBackupEligible,
                    aaguid: Self.model(credential)
                )
            }
        )
    }

    private static func model(_ credential: StoredCredential) -> UniqueId {
        guard let id = UniqueId(credential.aaguid) else { preconditionFailure("the column has 16 bytes") }
        return id
    }

    /// Issues the options with which a passkey of the account confirms an action.
    ///
    /// - Throws: ``IdentityServerError/tooManyRequests``, ``IdentityStoreError/storage(_:)``. A deletion is never limited.
    func beginConfirmation(
        of action: Action,
        _ user: SignedIn,
        from client: Client
    ) async throws -> CredentialRequestOptions {
        switch action {
        case .add, .remove: try admit(client)
        case .delete: break
        }
        let challenge = issue(action.purpose, for: Self.context(user))
        let credentials = try await store.credentials(of: user.account.userId)
        return relyingParty.requestOptions(
            challenge: challenge.bytes,
            allowing: credentials.map { Self.descriptor(NamedCredential($0)) }
        )
    }

    /// Verifies the confirmation that a passkey may be added, and issues the options of the new one.
    ///
    /// - Throws: ``IdentityServerError``, ``WebAuthnError``, ``IdentityStoreError``.
    func beginAdding(
        _ assertion: AuthenticationResponse,
        _ user: SignedIn,
        from client: Client
    ) async throws -> CredentialCreationOptions {
        try admit(client)
        try await confirm(.add, assertion, user)
        let challenge = issue(.addPasskey, for: Self.context(user))
        let credentials = try await store.credentials(of: user.account.userId)
        return relyingParty.creationOptions(
            for: UserEntity(
                id: user.account.userId.bytes,
                name: user.account.handle.qualified(by: configuration.handleDomain).text,
                displayName: user.account.handle.text
            ),
            challenge: challenge.bytes,
            excluding: credentials.map { Self.descriptor(NamedCredential($0)) },
            attestation: attestation
        )
    }

    /// Verifies and stores a further passkey.
    ///
    /// - Throws: ``IdentityServerError``, ``WebAuthnError``, ``IdentityStoreError``.
    func finishAdding(
        _ response: RegistrationResponse,
        label: String?,
        _ user: SignedIn,
        from client: Client
    ) async throws -> PasskeysReport {
        try admit(client)
        let label = label ?? "passkey of \("\(CivilTime(seconds: nowSeconds))".prefix(10))"
        guard label.utf8.count <= Self.labelByteLimit, (1...Self.labelLimit).contains(label.count),
            label.unicodeScalars.allSatisfy(PlainText.isPlain)
        else {
            throw IdentityServerError.badLabel
        }
        let challenge = try challenge(in: response.clientDataJSON)
        try check(challenge, .addPasskey, for: Self.context(user))
        let credential = try relyingParty.verify(response, challenge: challenge.bytes)
        try complete(challenge)
        try await store.add(stored(credential, of: user.account.userId, label: label))
        audit.record(AuditEvent(.passkeyAdded, user: user.account.userId, address: client.address))
        return try await passkeys(user)
    }

    /// Verifies the confirmation, and removes a passkey of the account.
    ///
    /// - Throws: ``IdentityServerError``, ``WebAuthnError``, ``IdentityStoreError``.
    func removePasskey(
        _ form: RemovePasskeyForm,
        _ user: SignedIn,
        from client: Client
    ) async throws -> PasskeysReport {
        try admit(client)
        try await confirm(.remove, form.assertion, user)
        try await store.removeCredential(form.id.bytes, of: user.account.userId)
        audit.record(AuditEvent(.passkeyRemoved, user: user.account.userId, address: client.address))
        return try await passkeys(user)
    }

    /// Verifies the confirmation, and deletes the account with everything of it.
    ///
    /// - Throws: ``IdentityServerError``, ``WebAuthnError``, ``IdentityStoreError``.
    func deleteAccount(_ form: DeleteAccountForm, _ user: SignedIn, from client: Client) async throws {
        try await confirm(.delete, form.assertion, user)
        try await store.deleteAccount(user.account.userId)
        audit.record(AuditEvent(.deleted, user: user.account.userId, address: client.address))
    }

    /// Verifies that a passkey of the account confirmed an action, and notes its use.
    private func confirm(_ action: Action, _ assertion: AuthenticationResponse, _ user: SignedIn) async throws {
        let challenge = try challenge(in: assertion.clientDataJSON)
        try check(challenge, action.purpose, for: Self.context(user))
        let found = try await asserted(assertion, answering: challenge)
        guard found.userId == user.account.userId else { throw IdentityServerError.notSignedIn }
        let result = try verify(assertion, challenge, Self.record(assertion.rawId, found))
        try complete(challenge)
        try await store.note(use(assertion, result), of: user.account.userId)
    }

    /// Binds a challenge to the account and the session of a request.
    private static func context(_ user: SignedIn) -> [UInt8] { context(user.account.userId.bytes, user.session.bytes) }
}
