internal import APIDescription
internal import BlindTokens
internal import Certificates
internal import CommandModel
internal import ExitModel
internal import Foundation
internal import HTTPAPI
internal import Identity
internal import IssuerStore
package import Logging
package import Platform

/// A token issuer: keys and counts in a data directory, served over HTTP.
package final class TokenIssuer: Sendable {
    /// The name of the database in the data directory.
    package static let databaseName = "issuer.sqlite"
    /// The time that a server that stops gives requests in progress.
    private static let drain = Duration.seconds(10)
    /// The pause between two looks at the files of keys and certificates, and at a disk that refused a write.
    private static let watchPause = Duration.seconds(10)
    /// The pause between two removals of past epochs.
    private static let removalPause = Duration.seconds(600)
    /// The pause between two lines with counts.
    private static let auditPause = Duration.seconds(3_600)
    /// The threads that sign: one for each processor.
    private static let signingThreadCount = max(2, ProcessInfo.processInfo.activeProcessorCount)
    /// The most bytes of a file with root certificates.
    private static let rootsByteLimit = 1 << 20
    /// The requests of a source: 60 at once, and one each second.
    static let sourceRate = RateLimit(every: .seconds(1), atOnce: 60)

    package let configuration: TokenIssuerConfiguration
    private let directory: DataDirectory
    private let lock: FileLock
    private let store: IssuerStore
    private let keyFiles: IssuerKeyFiles
    private let service: IssuerService
    private let metrics = IssuerMetrics()
    private let api: IssuerAPI
    private let logger: Logger
    private let clocks: Clocks

    /// Opens the data directory, which is made when it is missing; no other issuer may use it.
    ///
    /// - Throws: ``DataDirectoryError``, ``StorageError``, ``CommandFailure``, ``FileError``, ``PurchaseError``.
    package convenience init(
        _ configuration: TokenIssuerConfiguration,
        directory path: String,
        logger: Logger,
        clocks: Clocks = .system()
    ) throws {
        let directory = try DataDirectory(at: path)
        try self.init(configuration, directory, IssuerKeyFiles(in: directory), logger: logger, clocks: clocks)
    }

    init(
        _ configuration: TokenIssuerConfiguration,
        _ directory: DataDirectory,
        _ keyFiles: IssuerKeyFiles,
        logger: Logger,
        clocks: Clocks
    ) throws {
        self.configuration = configuration
        self.directory = directory
        self.keyFiles = keyFiles
        self.logger = logger
        self.clocks = clocks
        lock = try directory.lock(for: "a token issuer")
        let rules = try configuration.purchases.map { try Self.rules($0) }
        try keyFiles.removeExpired(at: clocks.wallSeconds())
        store = try IssuerStore(path: directory.file(Self.databaseName))
        service = IssuerService(
            store: store,
            keys: try keyFiles.load(at: clocks.wallSeconds()),
            secret: try IssuerSecret(in: directory),
            purchaseRules: rules,
            threads: WorkThreads(threadCount: Self.signingThreadCount),
            clocks: clocks
        )
        api = IssuerAPI(
            service,
            configuration,
            metrics: metrics,
            limits: SourceLimits(configuration.hasLimits ? Self.sourceRate : nil)
        )
    }

    /// Serves until the task is cancelled, and until requests in progress were answered, for at most ten seconds; `onReady`
    /// gets the port.
    ///
    /// - Throws: ``CommandFailure``, ``StorageError``.
    package func run(onReady: @escaping @Sendable (UInt16) -> Void) async throws {
        let keys = WatchedFiles(keyFiles.watchedPaths)
        let certificates = WatchedFiles(configuration.tls?.paths ?? [])
        do {
            try await serve(HTTPServer(try serverConfiguration()), keys, certificates, onReady)
        } catch let error as HTTPServerError {
            throw error.commandFailure
        }
        logCounts()
        try store.close()
    }

    private func serve(
        _ server: HTTPServer,
        _ keys: WatchedFiles,
        _ certificates: WatchedFiles,
        _ onReady: @escaping @Sendable (UInt16) -> Void
    ) async throws {
        try await withThrowingTaskGroup { group in
            group.addTask { try await server.run(onReady: onReady) }
            group.addTask { await self.watch(keys, certificates, server) }
            group.addTask { await self.removePastEpochs() }
            group.addTask { await self.reportCounts() }
            // The other tasks run until they are cancelled.
            try await group.next()
            group.cancelAll()
        }
    }

    private func serverConfiguration() throws -> HTTPServer.Configuration {
        var server = HTTPServer.Configuration(
            address: .network(host: configuration.host.description, port: configuration.port),
            routes: try api.routes(),
            uploadPrefix: directory.file("upload-"),
            logger: logger
        )
        server.certificate = try certificate()
        server.fields = .strict(
            server.certificate == nil ? [] : [("Strict-Transport-Security", "max-age=31536000")]
        )
        server.limits.connectionCount = configuration.connectionLimit
        server.limits.drain = Self.drain
        return server
    }

    private func certificate() throws -> CertificateChain? {
        try configuration.tls?.read(at: clocks.wallSeconds())
    }

    private static func rules(_ purchases: TokenIssuerConfiguration.Purchases) throws -> PurchaseRules {
        guard let bytes = try AtomicFile.read(named: purchases.rootsPath, limit: rootsByteLimit) else {
            throw CommandFailure(
                "no-roots-file",
                .noInput,
                "\(purchases.rootsPath) does not exist: save \(PurchaseRules.rootName) from \(PurchaseRules.rootAddress)"
            )
        }
        return try PurchaseRules(
            bundleId: purchases.bundleId,
            allowances: purchases.allowances,
            rootFile: bytes,
            allowsSandbox: purchases.environment == .sandbox
        )
    }

    // MARK: Upkeep

    /// Takes new keys and certificates over when their files change, and tests a disk that refused a write.
    private func watch(_ keys: WatchedFiles, _ certificates: WatchedFiles, _ server: HTTPServer) async {
        var (keys, certificates) = (keys, certificates)
        while (try? await Task.sleep(for: Self.watchPause)) != nil {  // nil: the server ends
            await store.checkWriting()
            keys.takeOver(logging: logger) { try reloadKeys() }
            certificates.takeOver(logging: logger) {
                if let chain = try certificate() { try server.replaceCertificate(with: chain) }
            }
            removeExpiredKey()
        }
    }

    /// Reads the files of keys again; the present keys stay in use if that fails.
    ///
    /// - Throws: ``CommandFailure``, ``FileError``.
    func reloadKeys() throws { service.replaceKeys(try keyFiles.load(at: clocks.wallSeconds())) }

    /// Removes the file of the previous key once that key no longer signs.
    func removeExpiredKey() {
        do {
            try keyFiles.removeExpired(at: clocks.wallSeconds())
        } catch {
            logger.error("the previous key was not removed", metadata: ["error": "\(error)"])
        }
    }

    private func removePastEpochs() async {
        repeat {
            do throws(IssuerStoreError) {
                try await store.removeEpochs(before: ExitEpoch(at: clocks.wallSeconds()).number)
            } catch {
                logger.error("counts of past epochs were not removed", metadata: ["error": "\(error)"])
            }
        } while (try? await Task.sleep(for: Self.removalPause)) != nil  // nil: the server ends
    }

    private func reportCounts() async {
        while (try? await Task.sleep(for: Self.auditPause)) != nil { logCounts() }  // nil: the server ends
    }

    /// Logs the numbers of the last hour, and nothing about a single request.
    private func logCounts() {
        if let counts = metrics.takeCounts() { logger.notice("\(counts.line)") }
    }

    // MARK: Maintenance

    /// Replaces the key that signs tokens; a running issuer takes the new one within seconds.
    ///
    /// - Throws: ``CommandFailure``, ``FileError``, ``DataDirectoryError``.
    package static func rotateKey(_ plan: RotationPlan, directory path: String) throws {
        try IssuerKeyFiles(in: try existing(path)).rotate(plan, at: SystemProcess.wallSeconds)
    }

    /// Makes vouchers with random ids, whose allowances are independent; nothing is stored.
    ///
    /// - Throws: ``CommandFailure``, ``FileError``, ``DataDirectoryError``.
    package static func vouchers(
        _ count: Int,
        allowance: UInt16,
        expires: UInt64,
        directory path: String
    ) throws -> [String] {
        let key = try IssuerSecret(in: try existing(path)).vouchers
        var random = SystemRandom()
        return (0..<count).map { _ in
            let id = random.bytes(count: Voucher.idByteCount)
            return key.text(of: Voucher(id: id, allowance: allowance, expires: expires))
        }
    }

    /// The data directory of an issuer that was started before: a mistyped path must not make another one.
    private static func existing(_ path: String) throws -> DataDirectory {
        let database = FilePath.joining(path, databaseName)
        guard try SystemFileSystem().status(of: database, followingLink: false) != nil else {
            throw CommandFailure(
                "no-issuer-data",
                .noInput,
                "\(path) is not the data of a token issuer: check --data, or start `runar issuer serve` first"
            )
        }
        return try DataDirectory(at: path)
    }
}
