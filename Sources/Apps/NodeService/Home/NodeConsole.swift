internal import Bytes
internal import CommandModel
internal import Concurrency
internal import Console
internal import HTTPAPI
internal import Logging
internal import MetricsText
package import NodeModel
package import Platform
internal import RunarNode

/// The console of a running node: for browsers of this machine, and for programs that have its token.
package final class NodeConsole: Sendable {
    /// The file of the token: a process that may read the home has the rights of its person.
    package static let tokenName = HomeFile.consoleToken.rawValue
    private static let tokenByteCount = 32
    private static let tokenFileByteLimit = 256

    /// The registry of the node's metrics.
    let registry: MetricsRegistry
    /// The tap that passes metrics on to the registry.
    package let tap: MetricsTap
    /// The node's log.
    package let logs: LogRing
    let sessions: ConsoleSessions
    /// The console for other devices of the local network.
    package let lan: ConsoleLan
    private let port: UInt16
    /// Whether the person chose the port.
    private let isChosen: Bool
    private let home: DataDirectory
    /// Nil until it serves.
    private let address = Locked<String?>(nil)
    /// The requests that wait for a browser, by the secrets that they gave out.
    private let waiting = Locked<[String: AsyncStream<Void>.Continuation]>([:])

    /// The address; nil until it serves.
    package var currentAddress: String? { address.withLock { $0 } }

    /// Makes it; nil when it is switched off.
    ///
    /// - Throws: ``CommandFailure``, ``FileError`` when the token cannot be kept.
    package init?(settings: Settings, home: DataDirectory) throws {
        let lan = ConsoleLan(settings: settings, home: home)
        guard let setting = settings[.console], let port = try Setting.port(setting.texts.first ?? "") else {
            guard lan.report.values == [SwitchText.off] else {
                throw CommandFailure(
                    "bad-setting",
                    .configuration,
                    "consoleLan needs the console of this machine: give console a port, or switch both off"
                )
            }
            return nil
        }
        self.lan = lan
        self.port = port
        self.home = home
        isChosen = setting.source != .standard
        registry = MetricsRegistry(explanations: RunarMetric.explanations)
        tap = MetricsTap(registry)
        logs = LogRing(levels: try Setting.levels(settings.text(.logLevel) ?? ""))
        sessions = ConsoleSessions(key: try Self.token(in: home))
    }

    /// Serves until the task is cancelled; `onReady` gets the address once the console, and the one for the local network if
    /// it is on, serve.
    ///
    /// - Throws: ``CommandFailure`` when a port is not available.
    package func run(for handler: RequestHandler, onReady: @escaping @Sendable (String) -> Void) async throws {
        ConsoleLink.removeAll(in: home)
        let routes = routes(for: handler)
        let configure = { @Sendable (place: Console.Place) in self.configuration(place, routes) }
        let (beginnings, beginning) = AsyncStream.makeStream(of: String.self)
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask {
                defer { beginning.finish() }
                do {
                    try await Console(configure(.thisMachine(port: self.port))).run { port in
                        // Not `localhost`: browsers try that on ::1 first, where another process may listen.
                        beginning.yield("http://127.0.0.1:\(port)/")
                    }
                } catch let error as ConsoleError {
                    throw CommandFailure("no-console", .cannotCreate, error.description)
                }
            }
            group.addTask { await self.lan.run(configure) }
            for await address in beginnings {
                self.address.withLock { $0 = address }
                try await lan.start()
                onReady(address)
            }
            try await group.next()
            group.cancelAll()
        }
    }

    private func configuration(_ place: Console.Place, _ routes: [Route]) -> Console.Configuration {
        var configuration = Console.Configuration(
            place: place,
            sessions: sessions,
            routes: routes,
            uploads: home.path,
            logger: Logger(label: "runar.console")
        )
        configuration.mayMove = !isChosen
        let home = self.home
        configuration.replaceKey = { try? Self.makeToken(in: home) }  // nil: the caller reports that it was not saved
        configuration.onSignIn = { [weak self] in self?.tellUses() }
        return configuration
    }

    /// Waits until a browser signs in with a secret; false when the secret has expired before.
    func waitForUse(of secret: String) async -> Bool {
        let (uses, use) = AsyncStream.makeStream(of: Void.self)
        waiting.withLock { $0[secret] = use }
        defer { waiting.withLock { _ = $0.removeValue(forKey: secret) } }
        // The browser may have been quicker.
        guard sessions.isWaiting(for: secret) else { return true }
        return await withTaskGroup(of: Bool.self) { group in
            group.addTask {
                for await _ in uses { return true }
                return false
            }
            group.addTask {
                try? await Task.sleep(for: ConsoleSessions.secretLife)  // cancelled: the wait has ended
                return false
            }
            defer { group.cancelAll() }
            return await group.next() ?? false
        }
    }

    private func tellUses() {
        let used = waiting.withLock { waiting in waiting.filter { !sessions.isWaiting(for: $0.key) }.map(\.value) }
        for use in used { use.yield() }
    }

    /// Returns the remark for a person if the address is not at the usual port.
    package func note(on address: String) -> String? {
        guard !isChosen, !address.hasSuffix(":\(port)/") else { return nil }
        return "port \(port) is taken, so the console is at another one until the node starts again"
    }

    private func routes(for handler: RequestHandler) -> [Route] {
        [
            Route(.get, "/metrics") { [registry] _ in
                .text(registry.text(), contentType: MetricsRegistry.contentType)
            }
        ] + NodeAPI(handler, console: self).routes
    }

    /// The token, which persists across restarts so that a program needs it only once.
    private static func token(in home: DataDirectory) throws -> String {
        if let bytes = try AtomicFile.read(home.file(tokenName), limit: tokenFileByteLimit) {
            let token = String(decoding: bytes, as: UTF8.self).split(whereSeparator: \.isWhitespace).first
            if let token { return String(token) }
        }
        return try makeToken(in: home)
    }

    private static func makeToken(in home: DataDirectory) throws -> String {
        var random = SystemRandom()
        let token = Hex.encode(random.bytes(count: tokenByteCount))
        try AtomicFile.write(Array("\(token)\n".utf8), to: home.file(tokenName))
        return token
    }
}
