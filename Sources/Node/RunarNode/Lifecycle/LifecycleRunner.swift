internal import Concurrency
internal import Logging

/// Passes the events of an app to a ``LifecyclePlan`` and performs the returned actions on its node, one at a time.
///
/// A stop in progress when the app enters the foreground is finished first; then the node starts. The system's background
/// task lasts until the stop in it is done, or until its time limit.
package final class LifecycleRunner: Sendable {
    /// The system's permission to run for a while after the app entered the background.
    package struct BackgroundTask: Sendable {
        package var begin: @Sendable () async -> Void
        package var end: @Sendable () async -> Void

        package init(begin: @escaping @Sendable () async -> Void, end: @escaping @Sendable () async -> Void) {
            self.begin = begin
            self.end = end
        }

        /// The permission on a system that needs none.
        package static let none = BackgroundTask(begin: {}, end: {})
    }

    private let node: RunarNode
    private let backgroundTask: BackgroundTask
    private let onStartFailure: @Sendable (any Error) -> Void
    private let plan: Locked<LifecyclePlan>
    private let events: AsyncStream<LifecyclePlan.Event>
    private let queue: AsyncStream<LifecyclePlan.Event>.Continuation

    package init(
        node: RunarNode,
        plan: LifecyclePlan,
        backgroundTask: BackgroundTask = .none,
        onStartFailure: @escaping @Sendable (any Error) -> Void = { _ in }
    ) {
        self.node = node
        self.backgroundTask = backgroundTask
        self.onStartFailure = onStartFailure
        self.plan = Locked(plan)
        (events, queue) = AsyncStream.makeStream(of: LifecyclePlan.Event.self)
    }

    /// Queues an event, which ``run()`` handles.
    package func tell(_ event: LifecyclePlan.Event) {
        queue.yield(event)
    }

    /// Nothing more will happen.
    package func finish() {
        queue.finish()
    }

    /// Handles events until ``finish()``.
    package func run() async {
        for await event in events {
            let isRunning = node.isRunning || node.isStarting
            for action in plan.withLock({ $0.handle(event, isRunning: isRunning) }) { await perform(action) }
        }
    }

    private func perform(_ action: LifecyclePlan.Action) async {
        switch action {
        case .beginBackgroundTask: await backgroundTask.begin()
        case .endBackgroundTask: await backgroundTask.end()
        case .stop(let patience): await node.stop(within: patience)
        case .drain(let patience): await node.drain(within: patience)
        case .start:
            do {
                try await node.start()
            } catch NodeError.notRunning {
                // The app stopped the node meanwhile, which is no failure: it stays stopped.
            } catch {
                node.logs[.lifecycle].error("the node could not start again: \(error)")
                let wasDenied = error as? KeychainError == .denied
                _ = plan.withLock { $0.handle(.startFailed(wasDenied: wasDenied), isRunning: false) }
                onStartFailure(error)
            }
        case .reduceOperations: node.reduceOperations()
        case .resumeOperations: node.resumeOperations()
        case .handleMemoryWarning: node.handleMemoryWarning()
        case .optimizeMemoryUsage: node.optimizeMemoryUsage()
        case .networkAvailable: node.networkAvailable()
        case .networkUnavailable: node.networkUnavailable()
        }
    }
}
