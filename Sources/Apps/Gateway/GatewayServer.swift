internal import APIDescription
internal import BlindTokens
internal import Bytes
internal import Certificates
internal import CommandModel
internal import Concurrency
internal import CryptoPrimitives
internal import Essentials
internal import ExitModel
internal import GatewayStore
internal import HTTPAPI
package import Identity
package import Logging
package import Platform

/// A gateway: redemption over HTTPS, leases in a data directory, and the peers of a tunnel.
package final class GatewayServer: Sendable {
    /// The name of the database in the data directory.
    package static let databaseName = "gateway.sqlite"
    /// The time that a server that stops gives requests in progress.
    static let drainTime = Duration.seconds(10)
    /// The pause between two removals of ended epochs.
    private static let epochPause = Duration.seconds(3_600)

    package let configuration: GatewayConfiguration
    /// The public key that the operator's roster lists.
    package var publicKey: Ed25519PublicKey { keys.signing.publicKey }
    private let directory: DataDirectory
    private let lock: FileLock
    private let store: GatewayStore
    private let sharedStore: GatewayStore?
    private let keys: GatewayKeys
    private let issuer: IssuerKeys
    private let issuerClient: IssuerClient
    private let leases: LeaseKeeper
    private let drain: GatewayDrain
    private let describer: GatewayDescriber
    private let certificate: Locked<GatewayCertificate>
    private let api: GatewayAPI
    private let updatePause: Duration
    private let issuerPause: Duration
    private let clocks: Clocks
    private let logger: Logger

    /// Opens the data directory, which is made when it is missing; no other gateway may use it.
    ///
    /// After each `updatePause`, the gateway reads the traffic of the tunnel and ends leases. Until the issuer's keys are known,
    /// it requests them again after `issuerPause`, then after twice the time, up to a minute.
    ///
    /// - Throws: ``DataDirectoryError``, ``StorageError``, ``CommandFailure``, ``FileError``, ``WebClientError``.
    package init(
        _ configuration: GatewayConfiguration,
        directory path: String,
        tunnel: any TunnelControl,
        logger: Logger,
        clocks: Clocks = .system(),
        updatePause: Duration = .seconds(5),
        issuerPause: Duration = .seconds(5)
    ) throws {
        self.updatePause = updatePause
        self.issuerPause = issuerPause
        self.configuration = configuration
        self.logger = logger
        self.clocks = clocks
        directory = try DataDirectory(at: path)
        lock = try directory.lock(for: "a gateway")
        keys = try GatewayKeys(in: directory)
        certificate = Locked(try GatewayCertificate.load(configuration, in: directory, at: clocks.wallSeconds()))
        store = try GatewayStore(path: directory.file(Self.databaseName), leaseLimit: configuration.leaseLimit)
        sharedStore = try configuration.spentPath.map { try GatewayStore(path: $0) }
        issuer = IssuerKeys(
            issuerName: configuration.issuerName,
            exit: configuration.exit.text,
            path: directory.file("issuer.json"),
            at: clocks.wallSeconds()
        )
        issuerClient = try IssuerClient(configuration.issuer, trust: configuration.issuerTrust, logger: logger)
        leases = LeaseKeeper(configuration, store: store, control: tunnel, clocks: clocks, logger: logger)
        drain = GatewayDrain(leases)
        describer = GatewayDescriber(configuration, key: keys.signing)
        let service = RedemptionService(
            configuration,
            issuer: issuer,
            store: store,
            sharedSpent: sharedStore,
            leases: leases,
            tunnelKey: keys.tunnel.publicKey,
            clocks: clocks
        )
        api = GatewayAPI(service: service, describer: describer, metrics: GatewayMetrics(), logger: logger)
    }

    /// Serves until the task is cancelled, or until a drain has ended; `onReady` gets the port.
    ///
    /// - Throws: ``CommandFailure``, ``StorageError``.
    package func run(onReady: @escaping @Sendable (UInt16) -> Void) async throws {
        try await leases.restore()
        await refreshIssuer()
        describe()
        let outcome: Result<Void, any Error>
        do {
            outcome = .success(try await serve(HTTPServer(try serverConfiguration()), onReady))
        } catch {
            outcome = .failure((error as? HTTPServerError)?.commandFailure ?? error)
        }
        issuerClient.close()
        // A cancelled drain keeps the leases.
        if case .success = outcome, leases.isDraining { try await leases.endAll() }
        try sharedStore?.close()
        try store.close()
        try outcome.get()
    }

    private func serve(_ server: HTTPServer, _ onReady: @escaping @Sendable (UInt16) -> Void) async throws {
        let socket = try GatewayControl.socketPath(in: directory)
        let control = GatewayControl(leases: leases, drain: drain, clocks: clocks) { self.describe() }
        try await withThrowingTaskGroup { group in
            group.addTask { try await server.run(onReady: onReady) }
            group.addTask {
                try await control.run(
                    at: socket,
                    uploadPrefix: self.directory.file("control-upload-"),
                    logger: self.logger
                )
            }
            group.addTask { await self.keepLeases() }
            // These run until they are cancelled.
            group.addTask { await self.keepDescription(server) }
            group.addTask { await self.keepIssuer() }
            group.addTask { await self.endEpochs() }
            defer { group.cancelAll() }
            try await group.next()
        }
    }

    private func serverConfiguration() throws -> HTTPServer.Configuration {
        var server = HTTPServer.Configuration(
            address: .network(host: configuration.host.description, port: configuration.port),
            routes: try api.routes(),
            uploadPrefix: directory.file("upload-"),
            logger: logger
        )
        server.certificate = certificate.withLock { $0.chain }
        server.fields = .strict([("Strict-Transport-Security", "max-age=31536000")])
        server.limits.connectionCount = configuration.connectionLimit
        server.limits.drain = Self.drainTime
        return server
    }

    // MARK: Upkeep

    /// Ends leases until a drain has ended or the task is cancelled.
    private func keepLeases() async {
        while (try? await Task.sleep(for: updatePause)) != nil {  // nil: the server ends
            await store.checkWriting()
            // Before the leases are counted: none is added to those of a drain.
            let isDraining = leases.isDraining
            do {
                let count = try await leases.update()
                if isDraining, drain.isDone(leases: count, at: clocks.wallSeconds()) { return }
            } catch {
                logger.error("leases were not updated", metadata: ["error": "\(error)"])
            }
        }
    }

    private func keepDescription(_ server: HTTPServer) async {
        let pause = Duration.seconds(GatewayDescription.periodSeconds)
        while (try? await Task.sleep(for: pause)) != nil {  // nil: the server ends
            do {
                let loaded = try GatewayCertificate.load(configuration, in: directory, at: clocks.wallSeconds())
                let isNew = certificate.withLock { certificate in
                    defer { certificate = loaded }
                    return certificate.chain.certificatesDER != loaded.chain.certificatesDER
                }
                if isNew { try server.replaceCertificate(with: loaded.chain) }
            } catch {
                logger.error("the certificate was not renewed", metadata: ["error": "\(error)"])
            }
            describe()
        }
    }

    /// Signs a description; the former one becomes stale if that fails.
    private func describe() {
        do {
            try describer.renew(
                certificate.withLock { $0 },
                load: leases.load,
                isDraining: leases.isDraining,
                at: clocks.wallSeconds()
            )
        } catch {
            logger.error("the description was not renewed", metadata: ["error": "\(error)"])
        }
    }

    private func keepIssuer() async {
        var pauses = IssuerPauses(first: issuerPause)
        while (try? await Task.sleep(for: pauses.next(hasKeys: issuer.hasKeys))) != nil {  // nil: the server ends
            await refreshIssuer()
        }
    }

    /// Asks the issuer for its keys; the former ones stay in use if that fails.
    private func refreshIssuer() async {
        do {
            try issuer.replace(with: try await issuerClient.directory(), at: clocks.wallSeconds())
        } catch {
            logger.error("the keys of the issuer were not received", metadata: ["error": "\(error)"])
        }
    }

    private func endEpochs() async {
        repeat {
            let first = ExitEpoch.accepted(at: clocks.wallSeconds()).map(\.number).min() ?? 0
            do throws(GatewayStoreError) {
                try await store.endEpochs(before: first)
                try await sharedStore?.endEpochs(before: first)
            } catch {
                logger.error("ended epochs were not removed", metadata: ["error": "\(error)"])
            }
        } while (try? await Task.sleep(for: Self.epochPause)) != nil  // nil: the server ends
    }
}
