internal import BlindTokens
internal import CommandModel
internal import Concurrency
internal import HTTPAPI
internal import IssuerStore
internal import Logging
internal import Platform
internal import TestSupport

@testable internal import TokenIssuer

/// The HTTP server of a token issuer with its files, which records all that it sees.
///
/// It is made of the parts of ``TokenIssuer``; only the tasks of upkeep are missing.
final class ObservedIssuer: Sendable {
    static let name = "localhost"

    let directory: TemporaryDirectory
    let transcript: Transcript
    private let service: IssuerService
    private let api: IssuerAPI
    private let logger: Logger

    init(key: TokenPrivateKey, clock: Locked<UInt64>, logger: Logger) throws {
        directory = try TemporaryDirectory()
        transcript = Transcript(clock: clock)
        self.logger = logger
        let data = try DataDirectory(at: directory.path)
        service = IssuerService(
            store: try IssuerStore(path: data.file(TokenIssuer.databaseName)),
            keys: IssuerKeys(entries: [IssuerKeys.Entry(key: key, notBefore: 0, until: nil)]),
            secret: try IssuerSecret(in: data),
            purchaseRules: nil,
            threads: WorkThreads(threadCount: 2),
            clocks: Clocks(monotonic: { .zero }, wallSeconds: { clock.withLock { $0 } })
        )
        let settings = try SettingValues<IssuerSetting>(
            flags: [.issuerName: [Self.name], .port: ["0"], .requestLimits: ["off"]],
            environment: { _ in nil },
            file: [:],
            named: "issuer.json"
        )
        api = IssuerAPI(
            service,
            try TokenIssuerConfiguration(settings),
            metrics: IssuerMetrics(),
            limits: SourceLimits(nil)
        )
    }

    func run(onReady: @escaping @Sendable (UInt16) -> Void) async throws {
        try await transcript.serve(api.routes(), nil, in: directory, logger, onReady: onReady)
        try service.store.close()
    }

    func vouchers(_ count: Int, allowance: Int, expires: UInt64) throws -> [String] {
        try TokenIssuer.vouchers(count, allowance: UInt16(allowance), expires: expires, directory: directory.path)
    }

    /// The files of an issuer that has issued nothing.
    static func emptyFiles() throws -> [[UInt8]] {
        let directory = try TemporaryDirectory()
        let store = try IssuerStore(path: directory.file(TokenIssuer.databaseName))
        defer { withExtendedLifetime(store) {} }
        return try directory.names().map(directory.bytes)
    }
}
