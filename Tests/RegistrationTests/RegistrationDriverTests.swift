internal import Bytes
internal import CircleModel
internal import Concurrency
internal import Identity
internal import Platform
internal import RegistrationModel
internal import TestSupport
internal import Testing
internal import WebAuthn

@testable internal import Registration

/// A driver with fakes for the network, the passkeys and the stores.
@Suite("Registrations with their effects", .timeLimit(.minutes(1))) struct RegistrationDriverTests {
    private let service: FakeService
    private let authenticator = FakeAuthenticator()
    private let keychain = KeychainManager(storage: InMemoryKeyStorage())
    private let accounts = FakeAccounts()
    private let snapshots = FakeSnapshots()
    private let shared = SharedState()

    init() throws {
        service = try FakeService()
    }

    private func driver(_ plan: RegistrationPlan? = nil) throws -> RegistrationDriver {
        try RegistrationDriver(
            plan ?? Scene.plan(),
            localName: "Quiet Heron 4821",
            parts: RegistrationDriver.Parts(
                service: service,
                authenticator: authenticator,
                keychain: keychain,
                persistence: PersistenceController(accounts),
                snapshots: snapshots,
                shared: shared
            ),
            now: { 100 }
        )
    }

    private func register(_ driver: RegistrationDriver, _ handle: String = "alice") async {
        await driver.handle(.agreement(version: Scene.agreement.version, isChecked: true))
        await driver.handle(.submittedHandle(handle, displayName: nil))
    }

    private func expectDone(_ driver: RegistrationDriver) async throws {
        let did = try #require(try keychain.getDIDKey())
        let account = try #require(service.server.account(of: did)).names
        #expect(driver.flow.state == .done(account))
        #expect(try keychain.getArkavoCredentials() == account)
        let token = try #require(try keychain.getAuthenticationToken())
        #expect(service.server.sessions.contains(SimulatedServer.text(of: token)))
        let checklist = try await driver.checklist()
        #expect(checklist.isComplete, "\(checklist.lines)")
        #expect(service.server.accounts.count { $0.names.did == did } == 1)
    }

    @Test func `a registration stores its key, its token, its names and its profile`() async throws {
        let driver = try driver()
        await register(driver)
        try await expectDone(driver)
        let form = try #require(service.forms.first)
        let isProven = Scene.isValid(
            form.didProof,
            challenge: form.response.clientDataJSON,
            handle: form.handle,
            did: form.did
        )
        #expect(isProven)
        #expect(try form.did == keychain.getDIDKey())
        let account = try accounts.account()
        #expect(account.profile?.did == form.did.description && account.profile?.handle == "alice.example.test")
        #expect(account.profile?.name == "alice" && account.streams.count == 3)
        #expect(!shared.isOfflineMode)
    }

    @Test func `a typed handle is checked`() async throws {
        service.add(try Handle("bob"), try Scene.did(2))
        let driver = try driver()
        await driver.handle(.agreement(version: Scene.agreement.version, isChecked: true))
        let answers: [(String, HandleAvailability)] = [("bob", .taken), ("alice", .available)]
        for (text, answer) in answers {
            await driver.handle(.typedHandle(text))
            let entry = HandleEntry(text: text, handle: try Handle(text), availability: answer)
            #expect(driver.flow.state == .handle(entry))
        }
        service.fail(.refused(by: "bad-handle", message: "too odd", status: 400), isHandled: false)
        await driver.handle(.typedHandle("odd"))
        service.fail(.refused(by: nil, message: nil, status: 429), isHandled: false)
        await driver.handle(.typedHandle("busy"))
        guard case .handle(let entry) = driver.flow.state, case .unknown = entry.availability else {
            Issue.record("\(driver.flow.state)")
            return
        }
        await driver.handle(.submittedHandle("busy", displayName: nil))
        try await expectDone(driver)
    }

    @Test func `a registration whose answer was lost ends in a sign-in, also in a later process`() async throws {
        let first = try driver()
        await first.handle(.agreement(version: Scene.agreement.version, isChecked: true))
        authenticator.fail(.cancelled)
        await first.handle(.submittedHandle("alice", displayName: nil))
        #expect(first.flow.problem == .passkey(.cancelled))
        // The options are fetched; then the answer to the response is lost, and so is the network.
        service.loseRegistration()
        await first.handle(.reconnect)
        #expect(service.server.accounts.count == 1)
        #expect(first.flow.problem == .service(.unreachable(reason: "cut")) && shared.isOfflineMode)
        service.cut(false)
        let second = try driver()
        await second.handle(.reconnect)
        try await expectDone(second)
        #expect(!shared.isOfflineMode)
    }

    @Test func `without a server there is a local profile, which the account takes over`() async throws {
        service.cut(true)
        let driver = try driver()
        await register(driver)
        #expect(shared.isOfflineMode && driver.flow.isOffline)
        #expect(try accounts.account().profile?.name == "Quiet Heron 4821")
        #expect(try accounts.account().streams.count == 3)
        #expect(try keychain.getDIDKey() != nil)
        let checklist = try await driver.checklist()
        #expect(checklist.checks.filter { !$0.isPassed }.map(\.item) == [.token, .handle])
        service.cut(false)
        await driver.handle(.reconnect)
        try await expectDone(driver)
        #expect(try accounts.account().profile?.name == "alice" && !shared.isOfflineMode)
    }

    @Test func `a name that the person chose stays`() async throws {
        try await accounts.setProfile(name: "Alice Liddell", blurb: "in Oxford", did: nil, handle: nil)
        let driver = try driver()
        await register(driver)
        try await expectDone(driver)
        #expect(try accounts.account().profile?.name == "Alice Liddell")
        #expect(try accounts.account().profile?.blurb == "in Oxford")
    }

    @Test func `nothing is registered while the registration cannot be stored`() async throws {
        let driver = try driver()
        await driver.handle(.agreement(version: Scene.agreement.version, isChecked: true))
        snapshots.setFull(true)
        await driver.handle(.submittedHandle("alice", displayName: nil))
        guard case .notSaved = driver.flow.problem else {
            Issue.record("\(driver.flow.problem as Any)")
            return
        }
        #expect(service.server.accounts.isEmpty)
        snapshots.setFull(false)
        await driver.handle(.reconnect)
        try await expectDone(driver)
    }

    @Test func `a profile that was not stored is stored at the next try`() async throws {
        accounts.setFull(true)
        let driver = try driver()
        await register(driver)
        guard case .profile = driver.flow.problem else {
            Issue.record("\(driver.flow.problem as Any)")
            return
        }
        accounts.setFull(false)
        let later = try self.driver()
        await later.handle(.reconnect)
        try await expectDone(later)
        let changes = accounts.changes
        _ = try await later.checklist()
        #expect(accounts.changes == changes)
        accounts.removeStreams()
        #expect(try await later.checklist().isComplete && accounts.changes == changes + 1)
    }

    @Test func `a damaged registration begins again with the same key and finds its account`() async throws {
        await register(try driver())
        try snapshots.save([1, 2, 3])
        let driver = try driver()
        #expect(driver.flow.state == .agreement)
        await register(driver)
        try await expectDone(driver)
        try snapshots.save(Array(#"{"version":2}"#.utf8))
        #expect(throws: RegistrationSnapshotError.newerVersion(found: 2)) { try self.driver() }
    }

    @Test func `a person cancels the dialog and tries again`() async throws {
        let driver = try driver()
        authenticator.waitForCancellation()
        async let registration: Void = register(driver)
        try await authenticator.opened.wait()
        await driver.handle(.cancel)
        await registration
        #expect(driver.flow.problem == .passkey(.cancelled) && authenticator.cancellations == 1)
        await driver.handle(.reconnect)
        try await expectDone(driver)
    }

    @Test func `a command registers and signs in on a page`() async throws {
        let driver = try driver(try Scene.plan(.registration, .page))
        await register(driver)
        try await expectDone(driver)
        try keychain.deleteAuthenticationToken()
        await driver.handle(.signIn(handle: nil))
        try await expectDone(driver)
    }

    @Test func `a new DID replaces the key on request alone`() async throws {
        let former = try keychain.generateAndSaveDIDKey()
        service.add(try Handle("bob"), former)
        let driver = try driver()
        await register(driver)
        #expect(driver.flow.problem == .didTaken(former))
        #expect(try keychain.getDIDKey() == former)
        await driver.handle(.renewDID)
        #expect(try keychain.getDIDKey() != former)
        try await expectDone(driver)
    }

    @Test func `a key that another program replaced proves nothing`() async throws {
        service.cut(true)
        let driver = try driver()
        await register(driver)
        let did = try #require(try keychain.getDIDKey())
        try keychain.deleteDIDKey()
        try keychain.generateAndSaveDIDKey()
        service.cut(false)
        await driver.handle(.reconnect)
        #expect(driver.flow.problem == .otherKey(did) && service.server.accounts.isEmpty)
    }

    @Test func `a session is refreshed and ended`() async throws {
        let driver = try driver()
        await register(driver)
        let first = try keychain.getAuthenticationToken()
        #expect(try keychain.getAuthenticationTokenExpiry() == 1_000)
        try await driver.refreshToken(ifEndingWithin: 899)
        #expect(try keychain.getAuthenticationToken() == first)
        try await driver.refreshToken(ifEndingWithin: 900)
        #expect(try keychain.getAuthenticationTokenExpiry() == 5_000)
        let token = SecretBytes(copying: Array("token-refreshed".utf8))
        #expect(try keychain.getAuthenticationToken() == token)
        service.cut(true)
        await #expect(throws: IdentityServiceError.self) { try await driver.refreshToken(ifEndingWithin: 9_000) }
        #expect(try keychain.getAuthenticationToken() == token)
        service.cut(false)
        try await driver.signOut()
        #expect(try keychain.getAuthenticationToken() == nil && service.revoked == [token])
        try await driver.signOut()
        #expect(service.revoked.count == 1)
    }

    @Test func `a sign-out during a refresh leaves no token, and the new one is revoked`() async throws {
        let driver = try driver()
        await register(driver)
        let first = try #require(try keychain.getAuthenticationToken())
        let held = service.holdRefresh()
        async let refresh: Void = driver.refreshToken(ifEndingWithin: 9_000)
        try await held.served.wait()
        try await driver.signOut()
        try keychain.deleteArkavoCredentials()
        held.released.fulfil(())
        try await refresh
        #expect(try keychain.getAuthenticationToken() == nil && keychain.getAuthenticationTokenExpiry() == nil)
        #expect(try keychain.getArkavoCredentials() == nil)
        #expect(service.revoked == [first, SecretBytes(copying: Array("token-refreshed".utf8))])
    }

    @Test func `a token that was stored during a refresh stays`() async throws {
        let driver = try driver()
        await register(driver)
        let held = service.holdRefresh()
        async let refresh: Void = driver.refreshToken(ifEndingWithin: 9_000)
        try await held.served.wait()
        let other = SecretBytes(copying: Array("token-of-another-call".utf8))
        try keychain.saveAuthenticationToken(other, expires: 7_000)
        held.released.fulfil(())
        try await refresh
        #expect(try keychain.getAuthenticationToken() == other && keychain.getAuthenticationTokenExpiry() == 7_000)
        #expect(service.revoked.isEmpty)
    }

    @Test func `the offline mode is observed from its present value on`() async throws {
        var modes = shared.offlineModes.makeAsyncIterator()
        #expect(await modes.next() == false)
        shared.isOfflineMode = true
        #expect(await modes.next() == true)
        shared.isOfflineMode = true
        shared.isOfflineMode = false
        #expect(await modes.next() == false)
    }

    @Test func `a stored registration in a file survives its process`() throws {
        let home = try TemporaryDataDirectory()
        try SystemFileSystem().makeDirectory(home.path, mode: 0o700)
        let file = SnapshotFile(path: FilePath.joining(home.path, "registration.json"))
        #expect(try file.load() == nil)
        try file.save([1])
        try file.save([2, 3])
        #expect(try file.load() == [2, 3])
        try file.save([UInt8](repeating: 32, count: RegistrationSnapshot.byteLimit + 1))
        #expect(throws: FileError.self) { try file.load() }
    }
}
