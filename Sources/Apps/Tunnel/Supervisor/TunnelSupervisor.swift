internal import Concurrency
package import Platform

/// Keeps an engine running over resources that outlive it: the driver of ``SupervisorState``.
///
/// An engine that was killed is replaced by one with the same descriptors and the same configuration; neither the device
/// nor an address or a route changes meanwhile.
package final class TunnelSupervisor: Sendable {
    /// A fact for a log or a status page.
    package enum Report: Equatable, Sendable {
        case started(restarts: Int)
        case failed(reason: String)
        case ended
    }

    private let resources: TunnelResources
    private let engine: any TunnelEngine
    private let configuration: Locked<UAPIConfiguration>
    private let clocks: Clocks
    private let report: @Sendable (Report) -> Void
    private let stopRequest = Promise<Void>()
    private let finished = Promise<Void>()

    /// Prepares the supervision of an engine that uses the descriptors of `resources`.
    package init(
        resources: TunnelResources,
        engine: any TunnelEngine,
        configuration: UAPIConfiguration,
        clocks: Clocks = .system(),
        report: @escaping @Sendable (Report) -> Void = { _ in }
    ) {
        self.resources = resources
        self.engine = engine
        self.configuration = Locked(configuration)
        self.clocks = clocks
        self.report = report
    }

    /// Starts the engine and restarts it until ``stop()``, then removes addresses, routes and rules.
    ///
    /// Cancellation of the task stops the engine as well.
    package func run() async {
        await withTaskCancellationHandler {
            await supervise()
        } onCancel: {
            stopRequest.fulfil(())
        }
        resources.remove()
        finished.fulfil(())
    }

    /// Stops the engine, and waits until addresses, routes and rules are removed; ``run()`` must have been called.
    package func stop() async {
        stopRequest.fulfil(())
        await finished.waitIgnoringCancellation()
    }

    /// Configures the engine with a change, and each later one with `whole`.
    package func update(_ change: UAPIConfiguration, whole: UAPIConfiguration) async throws {
        configuration.withLock { $0 = whole }
        try await engine.update(change)
    }

    private func supervise() async {
        var state = SupervisorState()
        var input = SupervisorState.Input.start
        while true {
            switch state.handle(input, at: clocks.monotonic()) {
            case .startEngine: input = await start(restarts: state.restartCount)
            case .awaitEnd:
                await unlessStopped { [engine] in await engine.waitUntilEnded() }
                input = .engineEnded
                if stopRequest.value == nil { report(.ended) }
            case .wait(let time):
                let pause = time - clocks.monotonic()
                await unlessStopped { try? await Task.sleep(for: pause) }  // cancelled: the stop follows
                input = .timeReached
            case .stopEngine:
                await engine.stop()
                input = .engineEnded
                continue
            case .finish: return
            }
            if stopRequest.value != nil { input = .stop }
        }
    }

    private func start(restarts: Int) async -> SupervisorState.Input {
        do {
            try await engine.start(with: configuration.withLock { $0 })
            report(.started(restarts: restarts))
            return .engineStarted
        } catch {
            report(.failed(reason: "\(error)"))
            return .startFailed
        }
    }

    /// Waits for `work` or for a request to stop, whichever is first.
    private func unlessStopped(_ work: @escaping @Sendable () async -> Void) async {
        let either = Promise<Void>()
        await withDiscardingTaskGroup { group in
            group.addTask { [stopRequest] in
                _ = try? await stopRequest.wait()  // cancelled: the work was first
                either.fulfil(())
            }
            group.addTask {
                await work()
                either.fulfil(())
            }
            await either.waitIgnoringCancellation()
            if stopRequest.value != nil { await engine.stop() }
            group.cancelAll()
        }
    }
}
