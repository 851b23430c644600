internal import BlindTokens
internal import Bytes
internal import Concurrency
internal import CryptoPrimitives
internal import ExitModel
internal import Identity
package import Platform

/// The driver of a connection to an exit: it performs the requests, stores the wallet, and starts and stops the tunnel.
///
/// The requests to the directory, to the issuer and to a gateway have a connection each.
package final class VPNController: Sendable {
    private typealias Step = ProtocolStep<Void>

    /// The pause between two readings of the tunnel's counters.
    private static let readingPause = Duration.seconds(1)

    private let settings: VPNSettings
    private let vault: ExitVault
    private let requests: ExitRequests
    private let tunnel: any TunnelHost
    private let clocks: Clocks
    private let driver = ProtocolDriver<ExitSession.Input>(timeReached: .timeReached)
    private let session: Locked<ExitSession>
    private let offer = Locked<ExitSession.ExitOffer?>(nil)
    private let sleep: @Sendable (Duration) async throws -> Void
    private let operations = VPNOperations()
    private let reported = Locked<VPNState>(.disconnected)
    private let changes = ConditionVariable()
    private let reading = Locked<TunnelReading?>(nil)
    private let configuration = Locked<VPNConfiguration?>(nil)

    package convenience init(
        _ settings: VPNSettings,
        vault: ExitVault,
        transport: ExitTransport,
        tunnel: any TunnelHost,
        clocks: Clocks = .system()
    ) {
        self.init(settings, vault: vault, transport: transport, tunnel: tunnel, clocks: clocks) { time in
            try await Task.sleep(for: max(time - clocks.monotonic(), .zero))
        }
    }

    /// Uses a clock whose `sleep` returns at a monotonic time.
    init(
        _ settings: VPNSettings,
        vault: ExitVault,
        transport: ExitTransport,
        tunnel: any TunnelHost,
        clocks: Clocks,
        sleep: @escaping @Sendable (Duration) async throws -> Void
    ) {
        self.sleep = sleep
        self.settings = settings
        self.vault = vault
        self.tunnel = tunnel
        self.clocks = clocks
        requests = ExitRequests(transport)
        session = Locked(ExitSession(rule: settings.asksAboutNewTokens ? .ask : .wait))
    }

    // MARK: Persons

    /// The state of the connection.
    package var state: VPNState { reported.withLock { $0 } }

    /// The counters of the tunnel; nil without one.
    package var traffic: TunnelReading? { reading.withLock { $0 } }

    /// The number of tokens in the wallet; nil before the directory was read.
    package var tokenCount: Int? { session.withLock { $0.wallet?.count } }

    /// The resolvers that the gateway offers, the first second since 1970 after the lease, and its location.
    package var lease: VPNLease? { configuration.withLock { $0.map(VPNLease.init) } }

    /// The reason for which the last attempt to renew the lease failed, or did without the directory.
    package var renewalFailure: VPNFailure? { session.withLock { $0.machine.renewalFailure } }

    /// Whether no operation is under way and no input is left, so that only time or a person changes something.
    var isIdle: Bool {
        guard let number = operations.idleNumber, driver.isWaiting else { return false }
        // The driver may have started one meanwhile.
        return operations.idleNumber == number
    }

    /// Begins a connection to a location, or to any.
    package func connect(to location: String?) { driver.offer(.vpn(.connect(location: location))) }

    /// Confirms that a token is used right after its issuance.
    package func confirm() { driver.offer(.vpn(.confirm)) }

    /// Ends the connection.
    package func disconnect() { driver.offer(.vpn(.disconnect)) }

    /// Waits until the state differs from `old`, and returns it.
    ///
    /// - Throws: `CancellationError`.
    package func state(after old: VPNState?) async throws -> VPNState {
        try await changes.wait {
            let new = state
            return new == old ? nil : new
        }
    }

    /// Runs the connection until the task is cancelled; then the tunnel and the configuration are removed.
    ///
    /// - Throws: ``VPNFailure/storage(reason:)``, which ends the connection; `CancellationError`.
    package func run() async throws {
        do {
            try await drive()
        } catch {
            await operations.cancel()
            await tunnel.stop()
            try? vault.removeConfiguration()  // the first error is reported
            configuration.withLock { $0 = nil }
            report((error as? VPNFailure).map { .failed($0) } ?? .disconnected)
            throw error
        }
    }

    private func drive() async throws {
        try await driver.run(
            now: clocks.monotonic,
            sleep: sleep,
            handle: { input, now, effects in
                var random = SystemRandom()
                let moment = ExitSession.Moment(monotonic: now, wallSeconds: clocks.wallSeconds())
                effects = session.withLock { $0.handle(input, at: moment, using: &random) }
            },
            perform: perform
        )
    }

    // MARK: Effects

    private func perform(_ effect: ExitSession.Effect) throws -> Step {
        switch effect {
        case .findGateways(let number, let location):
            begin(number) { () async throws(VPNFailure) -> ExitSession.Input in
                .found(number, try await self.find(location))
            }
        case .storeWallet(let snapshot):
            var snapshot = snapshot
            try vault.store(wallet: SecretBytes(consuming: &snapshot))
        case .issue(let batch, let challenge, let keyId, let count):
            operations.start { await self.issue(batch, challenge, keyId, count) }
        case .redeem(let number, let token, let gateway):
            begin(number) { () async throws(VPNFailure) -> ExitSession.Input in
                try await self.redeem(number, token, gateway)
            }
        case .keep(let configuration):
            self.configuration.withLock { $0 = configuration }
            try vault.store(configuration)
        case .removeConfiguration:
            configuration.withLock { $0 = nil }
            try vault.removeConfiguration()
        case .startTunnel(let number, let configuration):
            begin(number, isOfTunnel: true) { () async throws(VPNFailure) -> ExitSession.Input in
                try await self.tunnel.start(configuration)
                self.watchTunnel()
                return .vpn(.started(number))
            }
        case .updateTunnel(let number, let configuration):
            begin(number, isOfTunnel: true) { () async throws(VPNFailure) -> ExitSession.Input in
                try await self.tunnel.update(configuration)
                // A tunnel that was made anew ended the former watch.
                self.watchTunnel()
                return .vpn(.started(number))
            }
        case .stopTunnel:
            operations.startNext {
                await self.tunnel.stop()
                self.operations.endWatch()
                self.reading.withLock { $0 = nil }
            }
        case .wake(let time): return .wake(at: time)
        case .report(let state): report(state)
        }
        return .next
    }

    private func report(_ state: VPNState) {
        reported.withLock { $0 = state }
        changes.broadcast()
    }

    /// Starts an operation whose outcome is an input.
    private func begin(
        _ number: UInt64,
        isOfTunnel: Bool = false,
        _ body: @escaping @Sendable () async throws(VPNFailure) -> ExitSession.Input
    ) {
        let operation: @Sendable () async -> Void = {
            do throws(VPNFailure) {
                self.driver.offer(try await body())
            } catch {
                self.driver.offer(.vpn(.failed(number, error)))
            }
        }
        if isOfTunnel { operations.startNext(operation) } else { operations.start(operation) }
    }

    // MARK: Operations

    private func find(_ location: String?) async throws(VPNFailure) -> ExitSession.ExitOffer {
        let now = clocks.wallSeconds()
        let exit = try await requests.verifiedExit(at: settings.exit, by: settings.operatorKey, now: now)
        let own = try await requests.issuerDirectory(at: exit.roster.issuerURL)
        let keys = try compare(own, exit, at: now)
        let offer = ExitSession.ExitOffer(
            roster: exit.roster,
            gateways: GatewayOrder.order(exit.gateways, location: location),
            wallet: try wallet(of: exit.roster),
            keys: keys,
            requestPath: try Self.requestPath(in: own, of: exit.roster.issuerURL),
            allowance: try vault.voucher().flatMap { Voucher(unverified: $0) }.map { Int($0.allowance) }
        )
        self.offer.withLock { $0 = offer }
        return offer
    }

    /// The path of token requests at the issuer; requests go to no other server.
    private static func requestPath(in directory: [UInt8], of issuer: ExitURL) throws(VPNFailure) -> String {
        do {
            let address = try IssuerDirectory(json: directory).issuerRequestURI
            let server = issuer.base
            let path = address.hasPrefix(server + "/") ? String(address.dropFirst(server.count)) : address
            guard path.hasPrefix("/"), !path.hasPrefix("//") else {
                throw VPNFailure.issuerRefused(reason: "its directory sends token requests to another server")
            }
            return path
        } catch let failure as VPNFailure {
            throw failure
        } catch {
            throw .issuerRefused(reason: "\(error)")
        }
    }

    private func compare(
        _ own: [UInt8],
        _ exit: VerifiedExit,
        at now: UInt64
    ) throws(VPNFailure) -> KeyConsistency {
        guard let seen = exit.issuerDirectory else {
            throw .directoryRefused(reason: "it does not show the keys of the issuer")
        }
        let views = [
            KeyConsistency.View(path: exit.roster.issuerURL.text, directory: own),
            KeyConsistency.View(path: settings.exit.text, directory: seen),
        ]
        do {
            return try KeyConsistency(views[0], views[1], at: now)
        } catch {
            guard case .keysDiffer = error else { throw .issuerRefused(reason: "\(error)") }
            let report = IssuerKeyReport(exit: exit.roster.exit.text, time: now, views: views)
            // A full disk must not hide the difference.
            throw .issuerKeyDiffers(reason: "\(error)", report: try? vault.store(report))  // see above
        }
    }

    private func wallet(of roster: ExitRoster) throws(VPNFailure) -> TokenWallet {
        let stored = try vault.wallet()
        do {
            let empty = try TokenWallet(issuerName: roster.issuerName, originInfo: roster.exit.text)
            guard let wallet = try stored?.withBytes({ try TokenWallet(snapshot: $0) }) else { return empty }
            let isOfExit = wallet.issuerName == roster.issuerName && wallet.originInfo == roster.exit.text
            return isOfExit ? wallet : empty
        } catch {
            throw .storage(reason: "exit.wallet: \(error)")
        }
    }

    private func issue(_ batch: UInt64, _ challenge: TokenChallenge, _ keyId: TokenKeyId, _ count: Int) async {
        do throws(VPNFailure) {
            let tokens = try await tokens(challenge, keyId, count)
            session.withLock { $0.note(issuerFailure: nil) }
            driver.offer(.wallet(.batchIssued(batch: batch, tokens: tokens)))
        } catch {
            session.withLock { $0.note(issuerFailure: error) }
            if case .allowanceUsed = error {
                driver.offer(.wallet(.allowanceUsed(batch: batch)))
            } else {
                driver.offer(.wallet(.batchFailed(batch: batch)))
            }
        }
    }

    private func tokens(
        _ challenge: TokenChallenge,
        _ keyId: TokenKeyId,
        _ count: Int
    ) async throws(VPNFailure) -> [Token] {
        guard let offer = offer.withLock({ $0 }), let voucher = try vault.voucher() else { throw .noVoucher }
        guard keyId == offer.keys.key.keyId else {
            throw .issuerRefused(reason: "its key was replaced; connect again")
        }
        return try await requests.tokens(
            for: challenge,
            under: offer.keys.key,
            count: count,
            at: offer.roster.issuerURL,
            path: offer.requestPath,
            voucher: voucher
        )
    }

    private func redeem(
        _ number: UInt64,
        _ bytes: [UInt8],
        _ gateway: GatewayDescription
    ) async throws(VPNFailure) -> ExitSession.Input {
        var random = SystemRandom()
        // A gateway renews a lease at its addresses for the same key.
        let present = configuration.withLock { $0 }
        let privateKey = present?.gateway == gateway.id ? present?.privateKey : nil
        let tunnelKey = privateKey ?? X25519PrivateKey(using: &random)
        let decapsulation = DecapsulationKey(using: &random)
        do {
            let form = RedemptionForm(
                clientPublicKey: Bytes32(output: tunnelKey.publicKey.bytes),
                encapsulationKey: try decapsulation.encapsulationKey()
            )
            let report = try await requests.redeem(try Token(bytes), form, at: gateway)
            let now = clocks.wallSeconds()
            guard report.leaseEnds > now else { throw VPNFailure.gatewayRefused(reason: "its lease has ended already") }
            let configuration = VPNConfiguration(
                gateway: gateway.id,
                location: gateway.location,
                privateKey: tunnelKey,
                presharedKey: try PresharedKey(try decapsulation.decapsulate(report.encapsulatedKey)),
                report: report
            )
            return .vpn(.redeemed(number, configuration, lasts: .seconds(Int64(clamping: report.leaseEnds - now))))
        } catch let failure as VPNFailure {
            throw failure
        } catch {
            throw .gatewayRefused(reason: "\(error)")
        }
    }

    // MARK: The tunnel

    /// Reads the tunnel until it has ended; a later tunnel replaces the watch.
    private func watchTunnel() {
        operations.watch { [sleep, clocks] number in
            while true {
                let next = clocks.monotonic() + Self.readingPause
                guard (try? await sleep(next)) != nil else { return }  // The end of the connection cancels it.
                let reading = await self.tunnel.status()
                let (now, wall) = (clocks.monotonic(), clocks.wallSeconds())
                let isPresent = self.operations.note(from: number) {
                    self.reading.withLock { $0 = reading }
                    guard let reading else { return }
                    let time = reading.lastHandshake.map { now - .seconds(Int64(clamping: wall - min($0, wall))) }
                    self.driver.offer(.vpn(.handshake(at: time)))
                }
                guard isPresent, reading != nil else { return }
            }
        }
    }
}
