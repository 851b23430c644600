internal import Bytes
internal import Concurrency
internal import Identity
internal import RegistrationModel
internal import WebAuthn

@testable internal import Registration

/// A ``SimulatedServer`` behind a network that can be cut, with the form of an identity service.
final class FakeService: IdentityService {
    private struct State: Sendable {
        var server: SimulatedServer
        /// The failures of the next requests, and whether the server handles the request before.
        var failures: [(error: IdentityServiceError, isHandled: Bool)] = []
        var isDown = false
        /// Whether the answer to the next registration is lost, and the network after it.
        var losesRegistration = false
        var forms: [RegisterForm] = []
        var revoked: [SecretBytes] = []
        var pagePasskeys: [[UInt8]] = []
        var heldRefresh: HeldAnswer?
    }

    /// An answer of the server that arrives late.
    struct HeldAnswer: Sendable {
        /// Fulfilled when the server has served the request.
        let served = Promise<Void>()
        /// Fulfilled to let the answer arrive.
        let released = Promise<Void>()
    }

    private let state: Locked<State>

    init() throws {
        state = Locked(State(server: try SimulatedServer(seed: 1)))
    }

    var server: SimulatedServer { state.withLock { $0.server } }
    var forms: [RegisterForm] { state.withLock { $0.forms } }
    var revoked: [SecretBytes] { state.withLock { $0.revoked } }

    func cut(_ isDown: Bool) { state.withLock { $0.isDown = isDown } }

    func fail(_ error: IdentityServiceError, isHandled: Bool) {
        state.withLock { $0.failures.append((error, isHandled)) }
    }

    /// Holds the answer to the next refresh.
    func holdRefresh() -> HeldAnswer {
        let held = HeldAnswer()
        state.withLock { $0.heldRefresh = held }
        return held
    }

    func loseRegistration() { state.withLock { $0.losesRegistration = true } }

    func add(_ handle: Handle, _ did: DIDKey) { state.withLock { $0.server.add(handle, did) } }

    private func serve<Answer: Sendable>(
        _ body: (inout State) throws(IdentityServiceError) -> Answer
    ) throws(IdentityServiceError) -> Answer {
        try state.withLock { state throws(IdentityServiceError) in
            if state.isDown { throw .unreachable(reason: "cut") }
            guard !state.failures.isEmpty else { return try body(&state) }
            let failure = state.failures.removeFirst()
            if failure.isHandled { _ = try body(&state) }
            throw failure.error
        }
    }

    func resolve(_ handle: QualifiedHandle) async throws(IdentityServiceError) -> String? {
        try serve { state in state.server.resolve(handle) }
    }

    func creationOptions(
        handle: Handle,
        did: DIDKey
    ) async throws(IdentityServiceError) -> CredentialCreationOptions {
        let registrant = Registrant(candidate: Candidate(handle: handle, displayName: nil), did: did)
        return try serve { state throws(IdentityServiceError) in try state.server.creationOptions(registrant) }
    }

    func register(_ form: RegisterForm) async throws(IdentityServiceError) -> SignedIn {
        try serve { state throws(IdentityServiceError) in
            state.forms.append(form)
            let signedIn = try state.server.register(form.response, form.handle, form.did)
            guard state.losesRegistration else { return signedIn }
            (state.losesRegistration, state.isDown) = (false, true)
            throw .timedOut
        }
    }

    func requestOptions(handle: Handle?) async throws(IdentityServiceError) -> CredentialRequestOptions {
        try serve { state in state.server.requestOptions(handle) }
    }

    func authenticate(_ form: AuthenticateForm) async throws(IdentityServiceError) -> SignedIn {
        try serve { state throws(IdentityServiceError) in try state.server.authenticate(form) }
    }

    /// The person completes the page at once.
    func beginCeremony(_ form: BeginCeremonyForm) async throws(IdentityServiceError) -> CeremonyNotice {
        try serve { state throws(IdentityServiceError) in
            var registrant: Registrant?
            if let handle = form.handle, let did = form.did {
                registrant = Registrant(candidate: Candidate(handle: handle, displayName: nil), did: did)
            }
            return try state.server.begin(registrant, form.handle, challenge: nil)
        }
    }

    func poll(_ ceremony: CeremonyNotice) async throws(IdentityServiceError) -> CeremonyProgress {
        try serve { state throws(IdentityServiceError) in
            let progress = try state.server.poll(ceremony)
            if case .waiting = progress {
                var passkeys = state.pagePasskeys
                state.server.completePages(with: &passkeys)
                state.pagePasskeys = passkeys
            }
            return progress
        }
    }

    func cancel(_ ceremony: CeremonyNotice) async throws(IdentityServiceError) {
        try serve { state in state.server.cancel(ceremony) }
    }

    func refresh(_ token: SecretBytes) async throws(IdentityServiceError) -> SignedIn {
        let signedIn: SignedIn = try serve { state throws(IdentityServiceError) in
            guard let account = state.server.accounts.first else {
                throw .refused(by: "session-ended", message: "sign in again", status: 401)
            }
            state.server.revoke(token)
            let token = SecretBytes(copying: Array("token-refreshed".utf8))
            return SignedIn(account: account.names, token: token, expires: 5_000)
        }
        let held = state.withLock { state in
            defer { state.heldRefresh = nil }
            return state.heldRefresh
        }
        guard let held else { return signedIn }
        held.served.fulfil(())
        do { try await held.released.wait() } catch { throw .cancelled }
        return signedIn
    }

    func revoke(_ token: SecretBytes, everywhere: Bool) async throws(IdentityServiceError) {
        try serve { state in
            state.revoked.append(token)
            state.server.revoke(token)
        }
    }

    // MARK: Calls that the flow does not make

    private static let unused = IdentityServiceError.refused(by: "unused", message: "unused", status: 500)

    func account(_ token: SecretBytes) async throws(IdentityServiceError) -> AccountReport { throw Self.unused }

    func passkeys(_ token: SecretBytes) async throws(IdentityServiceError) -> PasskeysReport { throw Self.unused }

    func confirmationOptions(
        for action: ConfirmedAction,
        _ token: SecretBytes
    ) async throws(IdentityServiceError) -> CredentialRequestOptions { throw Self.unused }

    func passkeyOptions(
        _ assertion: AuthenticationResponse,
        _ token: SecretBytes
    ) async throws(IdentityServiceError) -> CredentialCreationOptions { throw Self.unused }

    func addPasskey(
        _ response: RegistrationResponse,
        label: String?,
        _ token: SecretBytes
    ) async throws(IdentityServiceError) -> PasskeysReport { throw Self.unused }

    func removePasskey(
        _ form: RemovePasskeyForm,
        _ token: SecretBytes
    ) async throws(IdentityServiceError) -> PasskeysReport { throw Self.unused }

    func deleteAccount(_ form: DeleteAccountForm, _ token: SecretBytes) async throws(IdentityServiceError) {
        throw Self.unused
    }
}

/// An authenticator whose responses have what a ``SimulatedServer`` reads.
final class FakeAuthenticator: PasskeyAuthenticator {
    private struct State: Sendable {
        var passkeys: [[UInt8]] = []
        var errors: [PasskeyError] = []
        var cancellations = 0
        var waiting: Promise<Void>?
    }

    private let state = Locked(State())
    /// Fulfilled when a dialog that waits for its cancellation is open.
    let opened = Promise<Void>()

    var cancellations: Int { state.withLock { $0.cancellations } }

    func fail(_ error: PasskeyError) { state.withLock { $0.errors.append(error) } }

    /// Lets the next dialog wait until it is cancelled.
    func waitForCancellation() { state.withLock { $0.waiting = Promise() } }

    private func checkErrors() async throws(PasskeyError) {
        if let waiting = state.withLock({ $0.waiting }) {
            opened.fulfil(())
            do { try await waiting.wait() } catch { throw .cancelled }
            throw .cancelled
        }
        if let error = state.withLock({ $0.errors.isEmpty ? nil : $0.errors.removeFirst() }) { throw error }
    }

    func create(_ options: CredentialCreationOptions) async throws(PasskeyError) -> RegistrationResponse {
        try await checkErrors()
        let id = state.withLock { state in
            state.passkeys.append([UInt8(state.passkeys.count + 1)])
            return state.passkeys[state.passkeys.count - 1]
        }
        return RegistrationResponse(
            rawId: id,
            clientDataJSON: options.challenge,
            attestationObject: [],
            transports: [],
            isDiscoverable: true
        )
    }

    func get(_ options: CredentialRequestOptions) async throws(PasskeyError) -> AuthenticationResponse {
        try await checkErrors()
        let allowed = options.allowCredentials.map(\.id)
        guard let id = state.withLock({ $0.passkeys.first { allowed.isEmpty || allowed.contains($0) } }) else {
            throw .cancelled
        }
        return AuthenticationResponse(
            rawId: id,
            clientDataJSON: options.challenge,
            authenticatorData: [],
            signature: [],
            userHandle: nil
        )
    }

    func cancel() {
        let waiting = state.withLock { state in
            state.cancellations += 1
            defer { state.waiting = nil }
            return state.waiting
        }
        waiting?.fulfil(())
    }
}
