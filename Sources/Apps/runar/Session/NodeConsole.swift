internal import Bytes
internal import Console
internal import Logging
internal import MetricsText
internal import Platform
internal import RunarNode

/// What a running node shows of itself to programs of this machine, if its person wants that.
struct NodeConsole: Sendable {
    /// Where the token is: whoever may read the home may read the metrics.
    static let tokenName = "console.token"
    private static let tokenByteCount = 32

    /// What the node measures.
    let registry: MetricsRegistry
    private let console: Console

    /// Makes it; nil when it is switched off.
    ///
    /// - Throws: ``CommandFailure``, ``FileError`` when the token cannot be kept.
    init?(settings: Settings, home: HomeDirectory) throws {
        guard let port = try settings.text(.metrics).flatMap({ try Settings.metricsPort($0) }) else { return nil }
        let registry = MetricsRegistry(explanations: RunarMetric.explanations)
        self.registry = registry
        self.console = Console(
            Console.Configuration(
                port: port,
                token: try Self.token(in: home),
                metrics: { (registry.text(), MetricsRegistry.contentType) },
                logger: Logger(label: "runar.console")
            )
        )
    }

    /// Serves until the task is cancelled; `onReady` gets the address of the metrics.
    ///
    /// - Throws: ``CommandFailure`` when the port cannot be had.
    func run(onReady: @escaping @Sendable (String) -> Void) async throws {
        do {
            try await console.run { onReady("http://127.0.0.1:\($0)\(Console.metricsPath)") }
        } catch let error as ConsoleError {
            throw CommandFailure("no-console", .cannotCreate, error.description)
        }
    }

    /// The token, which outlives a restart so that a collector can be told it once.
    private static func token(in home: HomeDirectory) throws -> String {
        let path = home.file(tokenName)
        if let bytes = try AtomicFile.read(path, limit: 256) {
            let token = String(decoding: bytes, as: UTF8.self).split(whereSeparator: \.isWhitespace).first
            if let token { return String(token) }
        }
        var random = SystemRandom()
        let token = Hex.encode(random.bytes(count: tokenByteCount))
        try AtomicFile.write(Array("\(token)\n".utf8), to: path)
        return token
    }
}
