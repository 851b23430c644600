internal import APIDescription
internal import Bytes
internal import Certificates
internal import CommandModel
internal import Concurrency
internal import HTTPAPI
internal import Identity
internal import IdentityStore
package import Logging
package import Platform
internal import RegistrationModel

/// An identity server: accounts in a data directory, served over HTTP.
package final class IdentityServer: Sendable {
    /// The name of the database in the data directory.
    package static let databaseName = "identity.sqlite"
    /// The time that a server that stops gives requests in progress.
    private static let drain = Duration.seconds(10)
    /// The pause between two looks at the files of keys and certificates, and at a disk that refused a write.
    private static let watchPause = Duration.seconds(10)
    /// The pause between two removals of expired sessions.
    private static let expiryPause = Duration.seconds(600)
    /// The time for which a signing key stays good after a rotation, beyond the life of its last token, in seconds.
    private static let rotationGrace: UInt64 = 120

    package let configuration: IdentityServerConfiguration
    private let directory: DataDirectory
    private let lock: FileLock
    private let store: IdentityStore
    private let service: AccountService
    private let keyFiles: TokenKeyFiles
    private let api: IdentityAPI
    private let logger: Logger
    private let clocks: Clocks

    /// Opens the data directory, which is made when it is missing; no other server may use it.
    ///
    /// - Throws: ``DataDirectoryError``, ``StorageError``, ``CommandFailure``, ``FileError``.
    package init(
        _ configuration: IdentityServerConfiguration,
        directory path: String,
        logger: Logger,
        clocks: Clocks = .system()
    ) throws {
        self.configuration = configuration
        self.logger = logger
        self.clocks = clocks
        directory = try DataDirectory(at: path)
        lock = try directory.lock(for: "an identity server")
        try RelyingPartyFile(in: directory).bind(to: configuration.rpId)
        keyFiles = TokenKeyFiles(configuration.keyPaths, in: directory)
        store = try IdentityStore(path: directory.file(Self.databaseName))
        let audit = try AuditLog(path: directory.file("audit.log")) { clocks.wallSeconds() }
        service = try AccountService(
            configuration,
            store: store,
            keys: try keyFiles.load(at: clocks.wallSeconds()),
            audit: audit,
            clocks: clocks
        )
        api = IdentityAPI(
            service,
            metrics: IdentityMetrics(),
            agreement: try Agreement(path: configuration.agreementPath)
        )
    }

    /// Replaces the signing key of a data directory; a running server takes the new one within seconds.
    ///
    /// - Throws: ``CommandFailure``, ``FileError``, ``DataDirectoryError``.
    package static func rotateKey(_ configuration: IdentityServerConfiguration, directory path: String) throws {
        let files = TokenKeyFiles(configuration.keyPaths, in: try existing(path))
        let now = SystemProcess.wallSeconds
        try files.rotate(at: now, untilSeconds: now + configuration.tokenLifeSeconds + rotationGrace)
    }

    /// Serves until the task is cancelled, and until requests in progress were answered, for at most ten seconds; `onReady`
    /// gets the port.
    ///
    /// - Throws: ``CommandFailure``, ``StorageError``.
    package func run(onReady: @escaping @Sendable (UInt16) -> Void) async throws {
        let files = WatchedFiles(keyFiles.watchedPaths + (configuration.tls?.paths ?? []))
        do {
            try await serve(HTTPServer(try serverConfiguration()), files, onReady)
        } catch let error as HTTPServerError {
            throw error.commandFailure
        }
        try store.close()
    }

    private func serve(
        _ server: HTTPServer,
        _ files: WatchedFiles,
        _ onReady: @escaping @Sendable (UInt16) -> Void
    ) async throws {
        try await withThrowingTaskGroup { group in
            group.addTask {
                try await withTaskCancellationHandler {
                    try await server.run(onReady: onReady)
                } onCancel: {
                    self.service.board.stopWaiting()
                }
            }
            group.addTask { await self.watch(files, server) }
            group.addTask { await self.removeExpired() }
            // The other tasks run until they are cancelled.
            try await group.next()
            group.cancelAll()
        }
    }

    private func serverConfiguration() throws -> HTTPServer.Configuration {
        let pages = IdentityPageAnswerer()
        var server = HTTPServer.Configuration(
            address: .network(host: configuration.host.description, port: configuration.port),
            routes: try api.routes() + pages.routes,
            uploadPrefix: directory.file("upload-"),
            logger: logger
        )
        let api = api
        server.authorize = { api.refusal($0) }
        server.certificate = try certificate()
        server.fields = .strict(
            server.certificate == nil ? [] : [("Strict-Transport-Security", "max-age=31536000")]
        )
        server.limits.connectionCount = configuration.connectionLimit
        server.limits.drain = Self.drain
        server.fallback = { pages.answer($0) }
        return server
    }

    private func certificate() throws -> CertificateChain? {
        try configuration.tls?.read(at: clocks.wallSeconds())
    }

    // MARK: Upkeep

    /// Takes new keys and certificates over when their files change, and tests a disk that refused a write.
    private func watch(_ files: WatchedFiles, _ server: HTTPServer) async {
        var files = files
        while (try? await Task.sleep(for: Self.watchPause)) != nil {  // nil: the server ends
            await store.checkWriting()
            files.takeOver(logging: logger) {
                try service.replaceKeys(try keyFiles.load(at: clocks.wallSeconds()))
                if let chain = try certificate() { try server.replaceCertificate(with: chain) }
            }
        }
    }

    private func removeExpired() async {
        while (try? await Task.sleep(for: Self.expiryPause)) != nil {  // nil: the server ends
            do throws(IdentityStoreError) {
                try await store.expire(at: clocks.wallSeconds())
            } catch {
                logger.error("expired sessions were not removed", metadata: ["error": "\(error)"])
            }
        }
    }

    // MARK: Maintenance

    /// Writes a consistent copy of a data directory's database to a new file, also while the server runs.
    ///
    /// - Throws: ``IdentityStoreError``, ``StorageError``, ``DataDirectoryError``.
    package static func backUp(directory path: String, to copy: String) async throws {
        let directory = try existing(path)
        guard try SystemFileSystem().status(of: copy, followingLink: false) == nil else {
            throw CommandFailure("exists", .cannotCreate, "\(copy) exists: name a file that does not with --to")
        }
        try FileToWrite.checkFolder(of: copy, option: "--to")
        let store = try IdentityStore(path: directory.file(databaseName))
        try await store.backUp(to: copy)
        try store.close()
    }

    /// The data directory of a server that was started before: a mistyped path must not make another one.
    package static func existing(_ path: String) throws -> DataDirectory {
        let database = FilePath.joining(path, databaseName)
        guard try SystemFileSystem().status(of: database, followingLink: false) != nil else {
            throw CommandFailure(
                "no-identity-data",
                .noInput,
                "\(path) is not the data of an identity server: check --data"
            )
        }
        return try DataDirectory(at: path)
    }
}
