internal import Bytes
internal import Identity
internal import IdentityStore
internal import RegistrationModel
internal import WebAuthn

extension AccountService {
    /// Issues the options with which a person signs in.
    ///
    /// A handle without an account gets options of the same form, with a passkey that does not exist.
    ///
    /// - Throws: ``IdentityServerError/tooManyRequests``, ``IdentityStoreError/storage(_:)``.
    func beginAuthentication(
        _ handle: Handle?,
        from client: Client
    ) async throws -> CredentialRequestOptions {
        try admit(client, handle)
        guard let handle else {
            return relyingParty.requestOptions(challenge: issue(.discover, for: []).bytes)
        }
        let passkeys = try await store.credentials(of: handle, else: decoys.credential(of: handle.text))
        let challenge = issue(.authenticate, for: Self.context(handle))
        return relyingParty.requestOptions(challenge: challenge.bytes, allowing: passkeys.map(Self.descriptor))
    }

    /// Verifies an assertion, notes its counter, and begins a session.
    ///
    /// With an expected handle, passkeys of other accounts are refused. A refusal does not depend on whether the passkey
    /// exists, or on its account, unless its signature is valid.
    ///
    /// - Throws: ``IdentityServerError``, ``WebAuthnError``, ``IdentityStoreError``.
    func finishAuthentication(
        _ response: AuthenticationResponse,
        expecting handle: Handle? = nil,
        from client: Client
    ) async throws -> SignedInReport {
        let challenge = try challenge(in: response.clientDataJSON)
        try check(challenge, [.authenticate, .discover])
        try admit(client, binding: challenge.purpose == .authenticate ? challenge.binding : nil)
        // Without a handle the passkey itself must name the account.
        if challenge.purpose == .discover, response.userHandle == nil { throw WebAuthnError.userHandleMissing }
        let found = try await asserted(response, answering: challenge)
        let isBound =
            challenge.purpose == .discover || challenges.isBound(challenge, to: Self.context(found.handle))
        let result = try verify(response, challenge, Self.record(response.rawId, found))
        // A decoy has no account, and its private key is gone.
        guard isBound, handle == nil || handle == found.handle, let account = try await store.account(found.userId)
        else {
            throw IdentityServerError.notSignedIn
        }
        try complete(challenge)
        let (session, report) = try begin(account)
        try await store.signIn(use(response, result), session)
        audit.record(AuditEvent(.signedIn, user: account.userId, address: client.address))
        return report
    }

    /// Reads the record of the passkey of an assertion; a decoy stands in for one that does not exist.
    ///
    /// An assertion that was completed before the end of the read has changed the record: a repeated one would seem to come
    /// from a copied passkey. So the challenge, which the caller checked, is checked again.
    func asserted(
        _ response: AuthenticationResponse,
        answering challenge: Challenge
    ) async throws -> AssertedCredential {
        let found = try await store.asserted(response.rawId, else: decoys.record(for: response))
        try check(challenge, [challenge.purpose])
        return found
    }

    /// Verifies an assertion, and reveals properties of the record only to a holder of its key.
    ///
    /// - Throws: ``WebAuthnError`` for the response itself, ``IdentityServerError/notSignedIn`` for one that is not by the
    ///   passkey of the record.
    func verify(
        _ response: AuthenticationResponse,
        _ challenge: Challenge,
        _ record: CredentialRecord
    ) throws -> AssertionResult {
        // The account that the response names is compared after the signature: until then, a passkey that does not exist
        // fails in the same order.
        let named = record.changed(userHandle: response.userHandle)
        let result: AssertionResult
        do {
            result = try relyingParty.verify(response, challenge: challenge.bytes, for: named)
        } catch {
            switch error {
            case .badSignature, .credentialNotAllowed: throw IdentityServerError.notSignedIn
            case .backupEligibilityChanged(let isEligible):
                // It is compared before the signature.
                _ = try verify(response, challenge, record.changed(isBackupEligible: isEligible))
                throw error
            default: throw error
            }
        }
        guard response.userHandle == nil || response.userHandle == record.userHandle else {
            throw IdentityServerError.notSignedIn
        }
        return result
    }

    static func record(_ id: [UInt8], _ credential: AssertedCredential) -> CredentialRecord {
        CredentialRecord(
            id: id,
            userHandle: credential.userId.bytes,
            publicKey: credential.publicKey,
            signCount: credential.signCount,
            isBackupEligible: credential.isBackupEligible,
            isBackedUp: credential.isBackedUp
        )
    }

    func use(_ response: AuthenticationResponse, _ result: AssertionResult) -> CredentialUse {
        CredentialUse(
            credentialId: response.rawId,
            signCount: result.signCount,
            isBackupEligible: result.isBackupEligible,
            isBackedUp: result.isBackedUp,
            time: nowSeconds
        )
    }

    static func descriptor(_ credential: NamedCredential) -> CredentialDescriptor {
        CredentialDescriptor(
            id: credential.id,
            transports: credential.transports.split(separator: ",").map { String($0) }
        )
    }
}

extension CredentialRecord {
    fileprivate func changed(userHandle: [UInt8]? = nil, isBackupEligible: Bool? = nil) -> CredentialRecord {
        CredentialRecord(
            id: id,
            userHandle: userHandle ?? self.userHandle,
            publicKey: publicKey,
            signCount: signCount,
            isBackupEligible: isBackupEligible ?? self.isBackupEligible,
            isBackedUp: isBackedUp
        )
    }
}
