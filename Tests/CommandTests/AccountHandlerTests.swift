internal import Bytes
internal import Concurrency
internal import Identity
internal import Platform
internal import Registration
internal import RegistrationModel
internal import RunarNode
internal import TestSupport
internal import Testing
internal import WebAuthn

@testable internal import CommandModel
@testable internal import NodeModel

/// The use cases of an account, with a service that only resolves handles.
@Suite("The account of a node") struct AccountHandlerTests {
    private static let failure = IdentityServiceError.unreachable(reason: "no server")

    /// A server that has every handle under one DID, and does nothing else.
    private struct Resolver: IdentityService {
        let did: String
        var revocation = failure

        func resolve(_ handle: QualifiedHandle) async throws(IdentityServiceError) -> String? { did }

        func creationOptions(
            handle: Handle,
            did: DIDKey
        ) async throws(IdentityServiceError) -> CredentialCreationOptions { throw failure }

        func register(_ form: RegisterForm) async throws(IdentityServiceError) -> SignedIn { throw failure }

        func requestOptions(handle: Handle?) async throws(IdentityServiceError) -> CredentialRequestOptions {
            throw failure
        }

        func authenticate(_ form: AuthenticateForm) async throws(IdentityServiceError) -> SignedIn { throw failure }

        func beginCeremony(_ form: BeginCeremonyForm) async throws(IdentityServiceError) -> CeremonyNotice {
            throw failure
        }

        func poll(_ ceremony: CeremonyNotice) async throws(IdentityServiceError) -> CeremonyProgress { throw failure }

        func cancel(_ ceremony: CeremonyNotice) async throws(IdentityServiceError) { throw failure }

        func refresh(_ token: SecretBytes) async throws(IdentityServiceError) -> SignedIn { throw failure }

        func revoke(_ token: SecretBytes, everywhere: Bool) async throws(IdentityServiceError) { throw revocation }

        func account(_ token: SecretBytes) async throws(IdentityServiceError) -> AccountReport { throw failure }

        func passkeys(_ token: SecretBytes) async throws(IdentityServiceError) -> PasskeysReport { throw failure }

        func confirmationOptions(
            for action: ConfirmedAction,
            _ token: SecretBytes
        ) async throws(IdentityServiceError) -> CredentialRequestOptions { throw failure }

        func passkeyOptions(
            _ assertion: AuthenticationResponse,
            _ token: SecretBytes
        ) async throws(IdentityServiceError) -> CredentialCreationOptions { throw failure }

        func addPasskey(
            _ response: RegistrationResponse,
            label: String?,
            _ token: SecretBytes
        ) async throws(IdentityServiceError) -> PasskeysReport { throw failure }

        func removePasskey(
            _ form: RemovePasskeyForm,
            _ token: SecretBytes
        ) async throws(IdentityServiceError) -> PasskeysReport { throw failure }

        func deleteAccount(_ form: DeleteAccountForm, _ token: SecretBytes) async throws(IdentityServiceError) {
            throw failure
        }
    }

    private let folder: TemporaryDataDirectory
    private let keys = InMemoryKeyStorage()

    init() throws { folder = try TemporaryDataDirectory() }

    /// The use cases of a node that is never started; its server answers as `facts` does, and resolves handles to `did`.
    private func handler(
        resolvingTo did: String = "did:web:other.example",
        revocation: IdentityServiceError = failure,
        _ facts: @escaping @Sendable () async throws(IdentityServiceError) -> IdentityServerFacts
    ) throws -> RequestHandler {
        let settings = try Settings(
            flags: [.identityServer: ["https://id.example.org"]],
            environment: { _ in nil },
            file: [:]
        )
        return RequestHandler(
            node: try RunarNode(config: RunarNodeConfig(keyStorage: keys, statePath: nil)),
            keys: keys,
            home: try DataDirectory(at: folder.path),
            settings: settings,
            identity: { services, _ in
                #expect(services.identityServer == "https://id.example.org")
                return IdentityConnection(service: Resolver(did: did, revocation: revocation), facts: facts)
            }
        )
    }

    private static func facts() throws(IdentityServiceError) -> IdentityServerFacts {
        do {
            return try IdentityServerFacts(
                name: "Example",
                relyingPartyId: "example.org",
                domain: HandleDomain("example.org"),
                agreement: Agreement(version: "1", text: "Be kind.\u{1B}[31m\nAlways.")
            )
        } catch {
            throw .malformedAnswer(reason: "\(error)")
        }
    }

    private func register(_ handler: RequestHandler, agreement: String? = "1") async throws -> AccountStateReport {
        let form = RegisterAccountForm(handle: "ada", name: nil, agreement: agreement, server: nil)
        return try await handler.register(form) { _ in }
    }

    /// Stores a registration that stopped at the page, after the agreement of the version "0".
    private func storeStoppedRegistration(of did: DIDKey) throws {
        let snapshot = RegistrationSnapshot(
            step: .passkey,
            acceptance: Agreement.Acceptance(version: "0", seconds: 1),
            localName: "Quiet Heron 4821",
            handle: try Handle("ada"),
            displayName: nil,
            did: did,
            isPosted: true,
            account: nil
        )
        try SnapshotFile(path: "\(folder.path)/\(HomeFile.registration.rawValue)").save(snapshot.encoded())
    }

    @Test func `a server that does not prove its name leaves a local profile and the chosen handle`() async throws {
        let handler = try handler { () async throws(IdentityServiceError) in throw .untrusted(reason: "wrong key") }
        await #expect(throws: IdentityServiceError.untrusted(reason: "wrong key")) { _ = try await register(handler) }
        let state = try await handler.accountState()
        #expect(state.offline && !state.signedIn && state.handle == "ada" && state.did == nil)
        #expect(state.needsAgreement && !state.isComplete)
        #expect(try handler.circleReport().name?.isEmpty == false)
    }

    @Test func `a taken handle stops the registration before a key is made`() async throws {
        let handler = try handler { () async throws(IdentityServiceError) in try Self.facts() }
        let handle = try QualifiedHandle("ada.example.org")
        await #expect(throws: RegistrationProblem.handleTaken(handle)) { _ = try await register(handler) }
        let state = try await handler.accountState()
        #expect(state.step == "handle" && state.did == nil && !state.offline)
        #expect(state.lines.contains { $0.contains("belongs to another person") })
    }

    @Test func `no step begins without the agreement, whose text shows plainly`() async throws {
        let handler = try handler { () async throws(IdentityServiceError) in try Self.facts() }
        await #expect(throws: RegistrationProblem.agreementNotAccepted) {
            _ = try await register(handler, agreement: nil)
        }
        #expect(try await handler.accountState().step == "agreement")
        let agreement = try await handler.agreement(at: nil)
        #expect(agreement.version == "1" && agreement.text == "Be kind.[31m\nAlways.")
    }

    @Test func `a second registration waits for the end of the first`() async throws {
        let (began, end) = (Promise<Void>(), Promise<Void>())
        let handler = try handler { () async throws(IdentityServiceError) in
            began.fulfil(())
            _ = await end.waitIgnoringCancellation()
            throw .timedOut
        }
        async let first: Void = {
            await #expect(throws: IdentityServiceError.timedOut) { _ = try await register(handler) }
        }()
        _ = await began.waitIgnoringCancellation()
        #expect(try await handler.accountState().lines.contains { $0.contains("in progress") })
        let failure = await #expect(throws: CommandFailure.self) { _ = try await register(handler) }
        #expect(failure?.code == "account-busy" && failure?.status == .tryAgain)
        end.fulfil(())
        await first
    }

    @Test func `what needs a token is refused without one`() async throws {
        let handler = try handler { () async throws(IdentityServiceError) in try Self.facts() }
        for body in [{ _ = try await handler.accountPasskeys() }, { _ = try await handler.logout(everywhere: true) }] {
            let failure = await #expect(throws: CommandFailure.self) { try await body() }
            #expect(failure?.code == "not-signed-in")
        }
    }

    @Test(arguments: [
        (IdentityServiceError.refused(code: "session-ended", message: "the session has ended", status: 401), true),
        (failure, false),
    ])
    func `a session that the server has ended needs no further notice`(
        revocation: IdentityServiceError,
        isEnded: Bool
    ) async throws {
        let keychain = KeychainManager(storage: keys, accessGroup: nil)
        try keychain.saveAuthenticationToken(SecretBytes(copying: "token".utf8))
        let handler = try handler(revocation: revocation) { () async throws(IdentityServiceError) in try Self.facts() }
        let report = try await handler.logout(everywhere: false)
        #expect(report.lines.count == (isEnded ? 1 : 2))
        #expect(try keychain.getAuthenticationToken() == nil)
    }

    @Test func `a device keeps its account until the server has none`() async throws {
        let keychain = KeychainManager(storage: keys, accessGroup: nil)
        let did = try keychain.generateAndSaveDIDKey()
        let handle = try QualifiedHandle("ada.example.org")
        var random = SystemRandomNumberGenerator()
        let account = ArkavoCredentials(handle: handle, did: did, userId: UserId(using: &random))
        try keychain.saveArkavoCredentials(account)
        let handler = try handler { () async throws(IdentityServiceError) in try Self.facts() }
        // The server has the handle under another DID, so this account is gone.
        _ = try await handler.forgetAccount(ForgetAccountForm(key: false, local: false))
        #expect(try keychain.getArkavoCredentials() == nil && keychain.getDIDKey() == did)
        _ = try await handler.forgetAccount(ForgetAccountForm(key: true, local: true))
        #expect(try keychain.getDIDKey() == nil)
    }

    @Test func `the key of a registration that may have arrived stays while the server has it`() async throws {
        let keychain = KeychainManager(storage: keys, accessGroup: nil)
        let did = try keychain.generateAndSaveDIDKey()
        let owner = try handler(resolvingTo: did.description) { () async throws(IdentityServiceError) in
            try Self.facts()
        }
        try storeStoppedRegistration(of: did)
        let failure = await #expect(throws: CommandFailure.self) {
            _ = try await owner.forgetAccount(ForgetAccountForm(key: true, local: false))
        }
        #expect(failure?.code == "account-not-deleted" && failure?.message.contains("ada.example.org") == true)
        #expect(try keychain.getDIDKey() == did)
        let other = try handler { () async throws(IdentityServiceError) in try Self.facts() }
        _ = try await other.forgetAccount(ForgetAccountForm(key: true, local: false))
        #expect(try keychain.getDIDKey() == nil)
        #expect(try await other.accountState().step == "agreement")
    }

    @Test func `a new agreement is named and accepted before a registration continues`() async throws {
        let handler = try handler { () async throws(IdentityServiceError) in try Self.facts() }
        try storeStoppedRegistration(of: KeychainManager(storage: keys, accessGroup: nil).generateAndSaveDIDKey())
        #expect(try await !handler.accountState().needsAgreement)
        await #expect(throws: RegistrationProblem.agreementChanged(version: "1")) {
            _ = try await handler.reconnectAccount(ReconnectForm(agreement: nil)) { _ in }
        }
        #expect(try await handler.accountState().needsAgreement)
    }
}
