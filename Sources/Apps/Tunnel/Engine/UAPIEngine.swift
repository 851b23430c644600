internal import CTunnelShim
internal import Concurrency
internal import Platform

/// An engine in a process of its own, which is configured over a socket: this package's or `wireguard-go`.
///
/// The queues and UDP sockets belong to the caller and outlive the process. Each start listens anew at the path of the
/// socket, because wireguard-go removes it when it ends. This package's engine also ends when this process does, however
/// that happens.
package final class UAPIEngine: TunnelEngine {
    /// The readings without an answer after which a process is ended.
    private static let silenceLimit = 2

    /// A process and its end.
    private struct Running: Sendable {
        let process: Int32
        /// The end of a socket pair by which an engine of this package notices the end of this process.
        let supervision: DescriptorOwner
        let ended = Promise<Void>()
    }

    private let program: EngineProgram
    private let interface: String
    private let queues: [Int32]
    private let sockets: [Int32]
    private let path: String
    private let client: UAPIClient
    private let patience: Duration
    private let turn = AsyncMutex()
    private let running = Locked<Running?>(nil)
    /// The readings without an answer since the last one with it.
    private let silences = Locked(0)

    /// Prepares an engine.
    ///
    /// - Parameters:
    ///   - program: The program to start.
    ///   - interface: The name of the interface.
    ///   - queues: Descriptors of the interface; `wireguard-go` makes an interface of its own without one.
    ///   - sockets: Bound UDP sockets, which `wireguard-go` replaces by its own.
    ///   - path: The path of the configuration socket; `wireguard-go` requires the default.
    ///   - timeLimit: The time that a process may take for an answer.
    ///   - patience: The time that a process may take to end after SIGTERM.
    package init(
        program: EngineProgram,
        interface: String,
        queues: [Int32],
        sockets: [Int32],
        path: String? = nil,
        timeLimit: Duration = .seconds(5),
        patience: Duration = .seconds(2)
    ) {
        self.program = program
        self.interface = interface
        self.queues = queues
        self.sockets = sockets
        self.path = path ?? UAPISocket.path(interface: interface)
        client = UAPIClient(path: self.path, timeLimit: timeLimit)
        self.patience = patience
    }

    deinit { endByForce() }

    private func endByForce() {
        running.withLock { running in
            // The number of a process that has ended may be another one's by now.
            if let running, running.ended.value == nil { Posix.end(running.process, byForce: true) }
        }
    }

    package func start(with configuration: UAPIConfiguration) async throws {
        try await turn.withLock {
            // Under the lock, so that a concurrent start leaves no process behind.
            await stop()
            let started = try launch()
            running.withLock { $0 = started }
            silences.withLock { $0 = 0 }
            let status = SystemThread.start { Self.reap(started) }
            guard status == 0 else {
                Posix.end(started.process, byForce: true)
                Self.reap(started)
                throw TunnelError.deviceFailed(name: interface, code: status)
            }
            // The kernel queues the connection until the process accepts it.
            try await client.apply(configuration)
        }
    }

    package func update(_ change: UAPIConfiguration) async throws { try await client.apply(change) }

    /// Returns the state; an engine that does not answer two readings is ended, so that its supervisor starts another one.
    package func status() async throws -> UAPIDevice {
        do {
            let device = try await client.device()
            silences.withLock { $0 = 0 }
            return device
        } catch UAPIError.timedOut {
            let count = silences.withLock { silences in
                silences += 1
                return silences
            }
            if count >= Self.silenceLimit { endByForce() }
            throw UAPIError.timedOut
        }
    }

    package func waitUntilEnded() async { await running.withLock { $0?.ended }?.waitIgnoringCancellation() }

    package func stop() async {
        guard let running = running.withLock({ $0 }) else { return }
        defer { Posix.unlink(path) }
        guard running.ended.value == nil else { return }
        Posix.end(running.process)
        _ = SystemThread.start { [patience] in
            Posix.waitForEnd(ofGroup: running.process, killingAfter: patience)
        }
        await running.ended.waitIgnoringCancellation()
    }

    /// Waits until a process has ended; its number becomes free only after `ended` is fulfilled.
    private static func reap(_ running: Running) {
        Posix.waitUntilEnded(running.process)
        running.ended.fulfil(())
        _ = Posix.reap(running.process)
    }

    private func launch() throws -> Running {
        let control = DescriptorOwner(try UAPISocket.listen(at: path))
        let (own, inherited) = try supervision()
        let nothing = DescriptorOwner(Posix.openForReading("/dev/null"))
        let isOwn = program == .own(path: program.path)
        let passedSockets = isOwn ? sockets : []
        let protocolSockets = [control] + (isOwn ? [inherited] : [])
        let variables = program.environment(queues: queues.count, sockets: passedSockets.count)
        let process = Posix.spawn(
            program.path,
            program.arguments(interface: interface),
            variables,
            input: nothing.descriptor,
            output: nothing.descriptor,
            errors: 2,
            passing: zip(
                queues + passedSockets + protocolSockets.map(\.descriptor),
                EngineResources.firstDescriptor...
            ).map {
                Posix.PassedDescriptor($0, as: $1)
            }
        )
        withExtendedLifetime((control, inherited, nothing)) {}
        guard let process else { throw TunnelError.engineNotStarted(path: program.path) }
        return Running(process: process, supervision: own)
    }

    /// Returns the ends of a socket pair for this process and for the engine.
    ///
    /// No other program inherits the end of this process, which would hide its closing from the engine.
    private func supervision() throws -> (own: DescriptorOwner, inherited: DescriptorOwner) {
        var ends: [Int32] = [-1, -1]
        let status = unsafe ct_socket_pair(&ends)
        guard status == 0 else { throw TunnelError.deviceFailed(name: interface, code: -status) }
        return (DescriptorOwner(ends[0]), DescriptorOwner(ends[1]))
    }
}
