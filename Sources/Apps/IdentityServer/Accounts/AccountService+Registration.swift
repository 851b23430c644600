internal import Bytes
internal import Identity
internal import IdentityStore
internal import Platform
internal import RegistrationModel
internal import WebAuthn

extension AccountService {
    /// The name of a first passkey.
    static let firstLabel = "first passkey"

    /// Issues the options with which a person registers a handle.
    ///
    /// Whether the handle is free is decided when the registration is stored; here it only spares people a ceremony.
    ///
    /// - Throws: ``IdentityServerError``, ``IdentityStoreError``.
    func beginRegistration(
        _ handle: Handle,
        _ did: DIDKey,
        from client: Client
    ) async throws -> CredentialCreationOptions {
        // The form of a handle of an existing account admits reserved names.
        let handle = try Handle(handle.text)
        try admit(client, handle)
        guard try await store.account(handle: handle) == nil else { throw IdentityStoreError.handleTaken }
        guard try await store.account(did: did) == nil else { throw IdentityStoreError.didTaken }
        let challenge = issue(.register, for: Self.registrationContext(handle, did))
        return options(handle, userId: userId(of: challenge), challenge)
    }

    /// Verifies a registration, stores the account with its passkey and a session, and signs it in.
    ///
    /// - Throws: ``IdentityServerError``, ``WebAuthnError``, ``IdentityStoreError``.
    func finishRegistration(_ form: RegisterForm, from client: Client) async throws -> SignedInReport {
        let handle = try Handle(form.handle.text)
        try admit(client, handle)
        let challenge = try challenge(in: form.response.clientDataJSON)
        try check(challenge, .register, for: Self.registrationContext(handle, form.did))
        try checkProof(form.didProof, handle, form.did, challenge)
        let credential = try relyingParty.verify(form.response, challenge: challenge.bytes)
        guard limits.admitRegistration(client.address, at: clocks.monotonic()) else {
            throw IdentityServerError.tooManyRequests
        }
        try complete(challenge)
        let account = StoredAccount(
            userId: userId(of: challenge),
            handle: handle,
            did: form.did,
            created: nowSeconds
        )
        let (session, report) = try begin(account)
        try await store.register(account, stored(credential, of: account.userId, label: Self.firstLabel), session)
        audit.record(AuditEvent(.registered, user: account.userId, address: client.address))
        return report
    }

    /// Checks that the key of a DID signed a challenge of this server.
    func checkProof(_ proof: DIDProof, _ handle: Handle, _ did: DIDKey, _ challenge: Challenge) throws(DIDProofError) {
        try proof.verify(challenge: challenge.bytes, rpId: configuration.rpId, handle: handle, did: did)
    }

    func options(_ handle: Handle, userId: UserId, _ challenge: Challenge) -> CredentialCreationOptions {
        relyingParty.creationOptions(
            for: UserEntity(
                id: userId.bytes,
                name: handle.qualified(by: configuration.handleDomain).text,
                displayName: handle.text
            ),
            challenge: challenge.bytes,
            attestation: attestation
        )
    }

    var attestation: AttestationPreference {
        switch configuration.attestation {
        case .none: .none
        case .direct: .direct
        }
    }

    /// The id of the account that a registration with this challenge creates.
    func userId(of challenge: Challenge) -> UserId {
        var random = FixedBytes(challenges.userBytes(of: challenge))
        return UserId(using: &random)
    }

    func stored(_ credential: NewCredential, of userId: UserId, label: String) -> StoredCredential {
        StoredCredential(
            id: credential.id,
            userId: userId,
            publicKey: credential.publicKey.encoded,
            signCount: credential.signCount,
            isBackupEligible: credential.isBackupEligible,
            isBackedUp: credential.isBackedUp,
            transports: credential.transports.joined(separator: ","),
            aaguid: credential.aaguid,
            label: label,
            created: nowSeconds
        )
    }

    static func registrationContext(_ handle: Handle, _ did: DIDKey) -> [UInt8] {
        context(Array(handle.text.utf8), Array(did.description.utf8))
    }
}

/// Sixteen bytes in the form of a generator, from which an id is made.
private struct FixedBytes: RandomNumberGenerator {
    private var words: [UInt64]

    init(_ bytes: [UInt8]) {
        words = stride(from: 0, to: bytes.count, by: 8).map { start in
            bytes[start..<min(start + 8, bytes.count)].reduce(0) { $0 << 8 | UInt64($1) }
        }
    }

    mutating func next() -> UInt64 { words.isEmpty ? 0 : words.removeFirst() }
}
