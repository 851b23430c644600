internal import Certificates
internal import CommandModel
internal import Concurrency
internal import Console
internal import Foundation
internal import Identity
internal import NodeModel
internal import Platform

/// The console for other devices of the local network, which is switched on and off while the node runs.
package final class ConsoleLan: Sendable {
    /// The port and the certificate with which it serves.
    package struct Place: Sendable {
        let port: UInt16
        /// The fingerprint of its certificate, as browsers show it.
        package let fingerprint: String
        /// The last second of its certificate since 1970.
        let endSeconds: UInt64
    }

    /// A request to move it to another port, or to switch it off.
    private final class PortChange: Sendable {
        /// Nil for off.
        let port: UInt16?
        private let outcome: Promise<Result<Void, CommandFailure>>

        init(port: UInt16?, _ outcome: Promise<Result<Void, CommandFailure>>) {
            self.port = port
            self.outcome = outcome
        }

        deinit { settle(.failure(Self.stopping)) }

        static var stopping: CommandFailure { CommandFailure("stopping", .unavailable, "the node is about to end") }

        /// Answers; only the first answer counts.
        func settle(_ result: Result<Void, CommandFailure>) { outcome.fulfil(result) }
    }

    /// The default port.
    static let standardPort: UInt16 = 4281

    private let home: DataDirectory
    private let setting: Locked<SettingValue>
    private let place = Locked<Place?>(nil)
    private let portChanges: AsyncStream<PortChange>
    private let portChangeContinuation: AsyncStream<PortChange>.Continuation

    /// The port and the certificate in use; nil while it is off.
    package var currentPlace: Place? { place.withLock { $0 } }

    /// The setting in effect.
    var report: SettingReport {
        SettingReport(.consoleLan, setting.withLock { $0 })
    }

    /// The port of the setting in effect.
    private var chosenPort: UInt16? {
        (try? Setting.port(report.values.first ?? SwitchText.off)) ?? nil  // it was checked when it was read
    }

    /// The port at which it is switched on unless a request names another.
    var usualPort: UInt16 { chosenPort ?? Self.standardPort }

    init(settings: Settings, home: DataDirectory) {
        let off = SettingValue(texts: [SwitchText.off], source: .standard)
        setting = Locked(settings[.consoleLan] ?? off)
        self.home = home
        (portChanges, portChangeContinuation) = AsyncStream.makeStream(of: PortChange.self)
    }

    /// Serves whenever it is on, until the task is cancelled, with the configuration that `configure` makes.
    func run(_ configure: @escaping @Sendable (Console.Place) -> Console.Configuration) async {
        var portChange = await next()
        while let current = portChange {
            if let port = current.port {
                portChange = await serve(on: port, current, configure)
            } else {
                current.settle(.success(()))
                portChange = await next()
            }
        }
        // Pending requests fail when they are dropped.
        portChangeContinuation.finish()
        for await _ in portChanges {}
    }

    /// Switches it on if the settings give a port.
    ///
    /// - Throws: ``CommandFailure``.
    func start() async throws(CommandFailure) {
        if let chosenPort { try await set(chosenPort) }
    }

    /// Switches it on at a port, or off, and keeps that in the home's file.
    ///
    /// - Throws: ``CommandFailure`` when a flag or a variable has precedence, or the port is not available; ``FileError``.
    func change(to port: UInt16?) async throws {
        try report.source.checkChange(of: .consoleLan)
        if let port, let current = currentPlace {
            if current.port == port { return }
            throw CommandFailure("is-on", .cannotCreate, "it is on at port \(current.port): switch it off first")
        }
        try await set(port)
        let text = port.map(String.init) ?? SwitchText.off
        do {
            try ConfigurationFile.set(.consoleLan, to: [text], in: home.path)
        } catch {
            // The setting was not saved, so the port must not stay open.
            if port != nil { try await set(nil) }
            throw error
        }
        setting.withLock { $0 = SettingValue(texts: [text], source: .file) }
    }

    /// Returns once it is at this port, or off: then the port is closed and so is every connection.
    ///
    /// - Throws: ``CommandFailure`` when the port is not available; it is off then.
    private func set(_ port: UInt16?) async throws(CommandFailure) {
        let outcome = Promise<Result<Void, CommandFailure>>()
        portChangeContinuation.yield(PortChange(port: port, outcome))
        try await outcome.waitIgnoringCancellation().get()
    }

    private func next() async -> PortChange? {
        for await portChange in portChanges { return portChange }
        return nil
    }

    /// Serves until another port change is requested, and returns that when the port is closed.
    private func serve(
        on port: UInt16,
        _ portChange: PortChange,
        _ configure: @escaping @Sendable (Console.Place) -> Console.Configuration
    ) async -> PortChange? {
        await withTaskGroup(of: PortChange?.self) { group in
            group.addTask {
                do {
                    try await self.listen(on: port, portChange, configure)
                } catch {
                    portChange.settle(.failure(CommandFailure("no-console-lan", .cannotCreate, Self.words(error))))
                }
                portChange.settle(.failure(PortChange.stopping))
                self.place.withLock { $0 = nil }
                return nil
            }
            group.addTask { await self.next() }
            var following: PortChange?
            while let end = await group.next() {
                guard let end else { continue }
                following = end
                group.cancelAll()
            }
            return following
        }
    }

    private func listen(
        on port: UInt16,
        _ portChange: PortChange,
        _ configure: @Sendable (Console.Place) -> Console.Configuration
    ) async throws {
        let certificate = try ConsoleCertificate.load(
            from: home.file(ConsoleCertificate.name),
            addresses: ThisMachine.addresses(),
            hostName: ProcessInfo.processInfo.hostName
        )
        try await Console(configure(.network(port: port, certificate))).run { port in
            let place = Place(port: port, fingerprint: certificate.fingerprint, endSeconds: certificate.endSeconds)
            self.place.withLock { $0 = place }
            portChange.settle(.success(()))
        }
    }

    private static func words(_ error: any Error) -> String {
        (error as? ConsoleError)?.description ?? (error as? ConsoleCertificateError)?.description
            ?? CommandFailure(error).message
    }
}

extension ConsoleLan.Place {
    /// The addresses at which devices of the network find it, the likeliest first.
    ///
    /// Link-local IPv6 addresses mean nothing to a browser, and this machine's own are of use only without others.
    package var addresses: [String] {
        let bound = [IPAddress.v4(0), .v6(high: 0, low: 0, scope: 0)].map { SocketAddress($0, port: port) }
        return OwnAddresses.dialable(bound: bound, interfaces: NetworkInterface.all() ?? [])
            .filter { !($0.isIPv6 && $0.isLinkLocal) }
            .map { "https://\($0)/" }
    }
}
