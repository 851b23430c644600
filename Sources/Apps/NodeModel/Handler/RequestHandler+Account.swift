internal import Circle
internal import CommandModel
internal import Identity
internal import Platform
internal import Registration
internal import RegistrationModel
internal import RunarNode

// The account at an identity server.
extension RequestHandler {
    /// The time before the end of a token at which it is replaced by a new one: half of the longest life.
    private static let refreshSeconds: UInt64 = 12 * 3_600
    /// The page of a server on which a person manages the account.
    private static let pagePath = "/my-account"

    /// The secrets of the registration; the file of keys knows no groups of apps.
    private var keychain: KeychainManager { KeychainManager(storage: keys, accessGroup: nil) }

    private var registrationFile: SnapshotFile {
        SnapshotFile(path: home.file(HomeFile.registration.rawValue))
    }

    // MARK: State

    /// The state on this device; the server is not asked.
    package func accountState() async throws -> AccountStateReport {
        let (keychain, account) = (keychain, try await PersistenceController(circle()).getOrCreateAccount())
        let (stored, snapshot) = (try keychain.getArkavoCredentials(), try storedRegistration())
        let isSignedIn = try keychain.getAuthenticationToken() != nil
        let isLocal = snapshot?.step == .agreement && account.profile?.name == snapshot?.localName
        let server = try identityServices().services.identityServer
        let (problem, checklist) = (accountProgress.problem, try LocalChecklist(account: account, keychain: keychain))
        return AccountStateReport(
            step: (snapshot?.step ?? .agreement).rawValue,
            busy: accountProgress.isBusy,
            offline: !isSignedIn && (isLocal || accountProgress.shared.isOfflineMode),
            signedIn: isSignedIn,
            server: server,
            page: server.map(Self.page),
            handle: stored?.handle.text ?? snapshot?.handle?.text,
            did: try stored?.did.description ?? keychain.getDIDKey()?.description,
            userId: stored?.userId.description,
            expires: try keychain.getAuthenticationTokenExpiry(),
            problem: problem?.failureCode.slug,
            problemText: problem.map { "\($0)" },
            checks: checklist.checks.map {
                AccountStateReport.Check(item: $0.item.rawValue, passed: $0.isPassed, detail: $0.detail)
            }
        )
    }

    /// Asks the server for its agreement.
    package func agreement(at server: String?) async throws -> AgreementReport {
        let connection = try connectToIdentityServer(at: server)
        defer { connection.close() }
        return AgreementReport(try await connection.facts())
    }

    // MARK: Registration and sign-in

    /// Registers a new account, or continues a registration with the same handle.
    ///
    /// Without a server the person gets a local profile, and ``reconnectAccount(_:_:)`` continues.
    package func register(_ form: RegisterAccountForm, _ tell: @escaping Tell) async throws -> AccountStateReport {
        let handle = try Handle(form.handle)
        return try await advance({ _ in .registration }, at: form.server, for: handle, named: form.name, tell) {
            driver in
            if case .done(let account) = driver.flow.state {
                throw CommandFailure(
                    "account-exists",
                    .cannotCreate,
                    "this device has the account \(account.handle): sign in with `runar account login`, or remove it"
                        + " with `runar account delete`"
                )
            }
            try await driver.accept(form.agreement)
            await driver.submit(handle, form.name)
        }
    }

    /// Signs in to an account that the person has.
    package func login(_ form: LoginForm, _ tell: @escaping Tell) async throws -> AccountStateReport {
        let purpose: @Sendable (IdentityServerFacts) throws -> RegistrationPlan.Purpose = { facts in
            .signIn(try form.handle.map { try facts.handle(of: $0) })
        }
        return try await advance(purpose, at: form.server, for: nil, named: nil, tell) { driver in
            // The agreement leads to the sign-in, unless an earlier registration waits.
            let isFirst = driver.flow.state == .agreement
            try await driver.accept(form.agreement)
            switch driver.flow.state {
            case .done where isFirst, .signIn where isFirst: return
            case .agreement, .handle, .key, .passkey, .confirmation, .signIn, .token, .profile, .done:
                await driver.handle(.signIn(handle: form.handle))
            }
        }
    }

    /// Continues a registration that stopped: without a server, at a failure, or with an earlier process.
    package func reconnectAccount(_ form: ReconnectForm, _ tell: @escaping Tell) async throws -> AccountStateReport {
        let snapshot = try storedRegistration()
        let (handle, name) = (snapshot?.handle, snapshot?.displayName)
        return try await advance({ _ in .registration }, at: nil, for: handle, named: name, tell) { driver in
            try await driver.accept(form.agreement)
            if case .handle = driver.flow.state, let handle { return await driver.submit(handle, name) }
            await driver.handle(.reconnect)
        }
    }

    /// Performs a part of a registration, and reports its steps.
    private func advance(
        _ purpose: (IdentityServerFacts) throws -> RegistrationPlan.Purpose,
        at server: String?,
        for handle: Handle?,
        named name: String?,
        _ tell: @escaping Tell,
        _ body: @escaping @Sendable (RegistrationDriver) async throws -> Void
    ) async throws -> AccountStateReport {
        try await accountProgress.run {
            let (flows, continuation) = AsyncStream.makeStream(of: RegistrationFlow.self)
            do {
                let connection = try connectToIdentityServer(at: server)
                defer { connection.close() }
                let facts = try await connection.facts()
                try remember(server)
                let driver = try driver(facts.plan(purpose(facts), .page), connection) { continuation.yield($0) }
                try await withThrowingTaskGroup(of: Void.self) { group in
                    group.addTask {
                        defer { continuation.finish() }
                        try await body(driver)
                    }
                    var told: AccountStepReport?
                    for await report in flows.map(AccountStepReport.init) where report != told {
                        told = report
                        await tell(.account(report))
                    }
                    try await group.waitForAll()
                }
                if let problem = driver.flow.problem { throw problem }
                guard case .done = driver.flow.state else { throw Self.unfinished }
            } catch let error as IdentityServiceError {
                if error.isOffline { try await workOffline(for: handle, named: name) }
                accountProgress.problem = .service(error)
                throw error
            } catch let problem as RegistrationProblem {
                accountProgress.problem = problem
                throw problem
            }
        }
        // The report is that of an account, no longer that of a step.
        return try await accountState()
    }

    private static var unfinished: CommandFailure {
        CommandFailure(
            "no-handle",
            .data,
            "the registration waits for a handle: choose one with `runar account register NAME`"
        )
    }

    private func driver(
        _ plan: RegistrationPlan,
        _ connection: IdentityConnection,
        observe: @escaping @Sendable (RegistrationFlow) -> Void = { _ in }
    ) throws -> RegistrationDriver {
        var random = SystemRandomNumberGenerator()
        return try RegistrationDriver(
            plan,
            localName: LocalName.make(using: &random),
            parts: RegistrationDriver.Parts(
                service: connection.service,
                authenticator: NoAuthenticator(),
                keychain: keychain,
                persistence: PersistenceController(circle()),
                snapshots: registrationFile,
                shared: accountProgress.shared
            ),
            now: { [node] in node.clock.now().wallSeconds },
            observe: observe
        )
    }

    /// Makes a local profile, and keeps the names that the person chose for the time when there is a server.
    private func workOffline(for handle: Handle?, named name: String?) async throws {
        accountProgress.shared.isOfflineMode = true
        var random = SystemRandomNumberGenerator()
        var snapshot =
            try storedRegistration()
            ?? RegistrationSnapshot(
                step: .agreement,
                acceptance: nil,
                localName: LocalName.make(using: &random),
                handle: nil,
                displayName: nil,
                did: nil,
                isPosted: false,
                account: nil
            )
        if snapshot.step == .agreement {
            if let handle { (snapshot.handle, snapshot.displayName) = (handle, name) }
            try registrationFile.save(snapshot.encoded())
        }
        try await PersistenceController(circle()).makeLocalProfile(name: snapshot.localName)
    }

    /// Returns the stored registration; nil without one, and for a damaged one, which the next step replaces.
    private func storedRegistration() throws -> RegistrationSnapshot? {
        guard let stored = try registrationFile.load() else { return nil }
        do throws(RegistrationSnapshotError) {
            return try RegistrationSnapshot(encoded: stored)
        } catch {
            guard case .newerVersion = error else { return nil }
            throw error
        }
    }

    // MARK: The session

    /// Returns the passkeys, after replacing a token that ends soon.
    package func accountPasskeys() async throws -> AccountPasskeysReport {
        _ = try token()
        let connection = try connectToIdentityServer(at: nil)
        defer { connection.close() }
        try await driver(connection.facts().plan(), connection).refreshToken(ifEndingWithin: Self.refreshSeconds)
        let passkeys = try await connection.service.passkeys(token()).passkeys
        return AccountPasskeysReport(
            passkeys: passkeys.map(AccountPasskeysReport.Passkey.init),
            page: try identityServices().services.identityServer.map(Self.page)
        )
    }

    /// Ends the session, or all sessions of the account; without a server on this device alone.
    package func logout(everywhere: Bool) async throws -> LogoutReport {
        _ = try token()
        do {
            let connection = try connectToIdentityServer(at: nil)
            defer { connection.close() }
            try await driver(connection.facts().plan(), connection).signOut(everywhere: everywhere)
            return LogoutReport(endedAtServer: true, reason: nil)
        } catch let error as IdentityServiceError {
            try keychain.deleteAuthenticationToken()
            // The account was deleted, or the session was ended elsewhere.
            if error.refusalCode == "session-ended" { return LogoutReport(endedAtServer: true, reason: nil) }
            return LogoutReport(endedAtServer: false, reason: "\(error)")
        }
    }

    /// Removes the account from this device, once it was deleted on the page of the server.
    package func forgetAccount(_ form: ForgetAccountForm) async throws -> DoneReport {
        try await accountProgress.run { try await removeAccount(form) }
        return DoneReport(done: true)
    }

    private func removeAccount(_ form: ForgetAccountForm) async throws {
        if !form.local { try await requireDeletion() }
        let keychain = keychain
        try keychain.deleteAuthenticationToken()
        try keychain.deleteArkavoCredentials()
        if form.key { try keychain.deleteDIDKey() }
        let path = home.file(HomeFile.registration.rawValue)
        if try registrationFile.load() != nil { try SystemFileSystem().remove(path) }
        if let profile = try circle().account().profile, profile.did != nil || profile.handle != nil {
            try await circle().setProfile(name: profile.name, blurb: profile.blurb, did: "", handle: "")
        }
    }

    /// Throws unless the server no longer resolves the handle to the DID of the account.
    ///
    /// A registration that stopped at the page may have made an account as well.
    private func requireDeletion() async throws {
        let (account, snapshot) = (try keychain.getArkavoCredentials(), try storedRegistration())
        guard let did = account?.did ?? (snapshot?.isPosted == true ? snapshot?.did : nil) else { return }
        let connection = try connectToIdentityServer(at: nil)
        defer { connection.close() }
        let handle: QualifiedHandle
        if let account {
            handle = account.handle
        } else {
            guard let posted = snapshot?.handle else { return }
            handle = posted.qualified(by: try await connection.facts().domain)
        }
        guard try await connection.service.resolve(handle) == did.description else { return }
        let page = try identityServices().services.identityServer.map(Self.page)
        throw CommandFailure(
            "account-not-deleted",
            .cannotCreate,
            "the server still has the account \(handle): delete it at \(page ?? "its page"), and repeat this;"
                + " --local removes it from this device alone"
        )
    }

    private func token() throws -> SecretBytes {
        guard let token = try keychain.getAuthenticationToken() else {
            throw CommandFailure("not-signed-in", .notPermitted, "this device is not signed in: `runar account login`")
        }
        return token
    }

    // MARK: The server

    private static func page(of server: String) -> String {
        (server.hasSuffix("/") ? String(server.dropLast()) : server) + pagePath
    }

    /// The services in effect: flags and variables first, and then the file as it is now.
    private func identityServices() throws -> (services: RegistrationConfiguration, pins: [String]) {
        let file = try ConfigurationFile.read(in: home.path)
        let values = { [settings] (setting: Setting) -> [String] in
            guard let value = settings[setting], value.source == .flag || value.source == .environment else {
                return file[setting] ?? []
            }
            return value.texts
        }
        let services = RegistrationConfiguration(
            identityServer: values(.identityServer).first,
            webSocket: values(.webSocketService).first,
            handleCheck: values(.handleCheck).first,
            node: values(.arkavoNode).first
        )
        return (services, values(.identityPins))
    }

    /// - Throws: `IdentityServiceError.notConfigured` without a server; ``CommandFailure`` for an unfit URL.
    private func connectToIdentityServer(at server: String?) throws -> IdentityConnection {
        var (services, pins) = try identityServices()
        if let server {
            try Setting.identityServer.check([server])
            services.identityServer = server
        }
        guard let identityConnection, services.identityServer != nil else { throw IdentityServiceError.notConfigured }
        return try identityConnection(services, pins)
    }

    /// Makes a server that answered the one of the settings.
    private func remember(_ server: String?) throws {
        guard let server, try identityServices().services.identityServer != server else { return }
        try settings[.identityServer]?.source.checkChange(of: .identityServer)
        try ConfigurationFile.set(.identityServer, to: [server], in: home.path)
    }
}

extension IdentityServerFacts {
    /// Returns the handle of a text with or without the domain of the server.
    fileprivate func handle(of text: String) throws -> Handle {
        guard text.contains(".") else { return try Handle(existing: text) }
        guard let handle = domain.handle(of: try QualifiedHandle(text)) else {
            throw RegistrationProblem.otherDomain(text)
        }
        return handle
    }
}

extension RegistrationDriver {
    /// Accepts the agreement, if the flow waits for that.
    ///
    /// Without a version, the flow names the one that replaces an accepted one.
    ///
    /// - Throws: ``RegistrationProblem``.
    fileprivate func accept(_ version: String?) async throws {
        guard flow.state == .agreement else { return }
        if version == nil, flow.snapshot.acceptance == nil { throw RegistrationProblem.agreementNotAccepted }
        await handle(.agreement(version: version ?? "", isChecked: true))
        if let problem = flow.problem { throw problem }
    }

    /// Registers with a handle: from the beginning, or further if it is the one of the flow.
    fileprivate func submit(_ handle: Handle, _ name: String?) async {
        switch flow.state {
        case .agreement, .done: return
        case .handle: break
        case .key(let candidate) where candidate.handle == handle: return await self.handle(.reconnect)
        case .passkey(let registrant, _) where registrant.handle == handle,
            .confirmation(let registrant, _) where registrant.handle == handle,
            .signIn(.registrant(let registrant), _) where registrant.handle == handle:
            return await self.handle(.reconnect)
        case .token, .profile: return await self.handle(.reconnect)
        case .key, .passkey, .confirmation, .signIn: await self.handle(.changeHandle)
        }
        await self.handle(.typedHandle(handle.text))
        guard flow.problem == nil else { return }
        await self.handle(.submittedHandle(handle.text, displayName: name))
    }
}
