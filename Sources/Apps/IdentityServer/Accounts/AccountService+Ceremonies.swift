internal import APIDescription
internal import Bytes
internal import HTTPAPI
internal import Identity
internal import IdentityStore
internal import RegistrationModel
internal import WebAuthn

extension AccountService {
    /// Begins the ceremony of a program without passkeys.
    ///
    /// - Throws: ``IdentityServerError``; ``RouteFailure`` that names a missing member.
    func beginCeremony(_ form: BeginCeremonyForm, from client: Client) async throws -> CeremonyReport {
        try admit(client, form.handle)
        let begun = try board.begin(purpose(of: form), from: client.address)
        return CeremonyReport(
            id: begun.ceremony.id,
            secret: begun.secret,
            number: begun.ceremony.number,
            link: configuration.ownOrigin + "/ceremony/" + begun.ceremony.id,
            expires: nowSeconds + UInt64(CommandCeremonies.life.components.seconds)
        )
    }

    private func purpose(of form: BeginCeremonyForm) throws -> CommandCeremony.Purpose {
        switch form.purpose {
        case .authenticate: return .authenticate(handle: form.handle)
        case .register:
            guard let text = form.handle?.text else { throw RouteRequest.badField("handle", "is missing") }
            guard let did = form.did else { throw RouteRequest.badField("did", "is missing") }
            guard let proof = form.didProof else { throw RouteRequest.badField("didProof", "is missing") }
            guard let bytes = try? Base64URL.decode(form.challenge ?? "") else {  // refused here
                throw RouteRequest.badField("challenge", "is not base64url")
            }
            let handle = try Handle(text)
            let challenge: Challenge
            do throws(ChallengeError) {
                challenge = try Challenge(bytes)
            } catch {
                throw IdentityServerError.challenge(error)
            }
            try check(challenge, .register, for: Self.registrationContext(handle, did))
            try checkProof(proof, handle, did, challenge)
            return .register(handle: handle, did: did, challenge: challenge, didProof: proof)
        }
    }

    /// Describes a waiting ceremony for its page.
    ///
    /// - Throws: ``IdentityServerError``, ``IdentityStoreError/storage(_:)``.
    func ceremonyPage(_ id: String, from client: Client) async throws -> CeremonyPageReport {
        let ceremony = try board.waiting(id)
        func report(
            _ purpose: BeginCeremonyForm.Purpose,
            _ handle: Handle?,
            _ creation: CredentialCreationOptions?,
            _ request: CredentialRequestOptions?
        ) -> CeremonyPageReport {
            CeremonyPageReport(
                purpose: purpose,
                handle: handle?.qualified(by: configuration.handleDomain),
                number: ceremony.number,
                address: ceremony.address?.description,
                isSameAddress: ceremony.address == client.address,
                creation: creation,
                request: request
            )
        }
        switch ceremony.purpose {
        case .register(let handle, _, let challenge, _):
            try admit(client, handle)
            return report(.register, handle, options(handle, userId: userId(of: challenge), challenge), nil)
        case .authenticate(let handle):
            return report(.authenticate, handle, nil, try await beginAuthentication(handle, from: client))
        }
    }

    /// Completes a registration on its page; the program gets the session.
    ///
    /// A refusal leaves the ceremony waiting, so that the person can try again. If the ceremony ends meanwhile, the
    /// account stays without a session: the person has its passkey.
    ///
    /// - Throws: ``IdentityServerError``, ``WebAuthnError``, ``IdentityStoreError``.
    func completeCeremony(_ id: String, _ response: RegistrationResponse, from client: Client) async throws {
        let ceremony = try board.waiting(id)
        guard case .register(let handle, let did, _, let proof) = ceremony.purpose else {
            throw IdentityServerError.noSuchCeremony
        }
        let form = RegisterForm(response: response, handle: handle, did: did, didProof: proof)
        let report = try await finishRegistration(form, from: client)
        try await end(id, with: report, from: client)
    }

    /// Completes a sign-in on its page; the program gets the session.
    ///
    /// - Throws: ``IdentityServerError``, ``WebAuthnError``, ``IdentityStoreError``.
    func completeCeremony(_ id: String, _ response: AuthenticationResponse, from client: Client) async throws {
        let ceremony = try board.waiting(id)
        guard case .authenticate(let handle) = ceremony.purpose else { throw IdentityServerError.noSuchCeremony }
        let report = try await finishAuthentication(response, expecting: handle, from: client)
        try await end(id, with: report, from: client)
    }

    /// Ends a ceremony with a new session, which is revoked if the ceremony has ended meanwhile.
    ///
    /// Its token reaches no program then.
    private func end(_ id: String, with report: SignedInReport, from client: Client) async throws {
        do throws(IdentityServerError) {
            try board.end(id, as: .done(report))
        } catch {
            try await store.revokeSession(report.session, of: report.userId)
            audit.record(AuditEvent(.revoked, user: report.userId, address: client.address))
            throw error
        }
    }

    /// Ends a ceremony whose person did not begin it.
    ///
    /// - Throws: ``IdentityServerError/noSuchCeremony``.
    func stopCeremony(_ id: String) throws(IdentityServerError) {
        try board.end(id, as: .failed(code: "stopped-on-page", message: "the person stopped the ceremony on its page"))
    }

    /// Returns the state of a ceremony to its program, after its end or 25 seconds.
    ///
    /// - Throws: ``IdentityServerError/noSuchCeremony``.
    func ceremonyState(
        _ id: String,
        secret: String
    ) async throws(IdentityServerError) -> CeremonyStateReport {
        switch try await board.result(of: id, secret: secret) {
        case .waiting: CeremonyStateReport(state: .waiting)
        case .done(let report): CeremonyStateReport(state: .done, signedIn: report)
        case .failed(let code, let message): CeremonyStateReport(state: .failed, code: code, message: message)
        }
    }

    /// Ends a ceremony for its program.
    ///
    /// - Throws: ``IdentityServerError/noSuchCeremony``.
    func cancelCeremony(_ id: String, secret: String) throws(IdentityServerError) {
        try board.cancel(id, secret: secret)
    }
}
