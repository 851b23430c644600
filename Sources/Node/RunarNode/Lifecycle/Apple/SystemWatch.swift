#if canImport(ObjectiveC)
internal import Dispatch
internal import Foundation
internal import Network

/// Passes the system's notifications to a runner, and lets it work until this object is released.
///
/// It is isolated to no actor: any thread can release it, and the main thread can wait for the end.
final class SystemWatch {
    private let runner: LifecycleRunner
    private let work: Task<Void, Never>
    private let network = NWPathMonitor()
    private var sources: [any DispatchSourceProtocol] = []
    private var observers: [(center: NotificationCenter, observer: any NSObjectProtocol)] = []

    /// Watches the network; for the rest see below.
    init(_ runner: LifecycleRunner) {
        self.runner = runner
        work = Task { await runner.run() }
        network.pathUpdateHandler = { path in
            runner.tell(path.status == .satisfied ? .networkAvailable : .networkUnavailable)
        }
        network.start(queue: .main)
    }

    deinit {
        for (center, observer) in observers { center.removeObserver(observer) }
        for source in sources { source.cancel() }
        network.cancel()
        runner.finish()
    }

    /// Watches a notification that always means the same.
    func observe(_ name: Notification.Name, of center: NotificationCenter = .default, _ event: LifecyclePlan.Event) {
        let runner = self.runner
        observe(name, of: center) { runner.tell(event) }
    }

    /// Watches a notification; without a `queue` the poster waits for the handler.
    func observe(
        _ name: Notification.Name,
        of center: NotificationCenter = .default,
        queue: OperationQueue? = .main,
        _ handler: @escaping @Sendable () -> Void
    ) {
        let observer = center.addObserver(forName: name, object: nil, queue: queue) { _ in handler() }
        observers.append((center, observer))
    }

    /// Watches how short of memory the system is.
    func observe(_ pressure: DispatchSource.MemoryPressureEvent, _ event: LifecyclePlan.Event) {
        let runner = self.runner
        let source = DispatchSource.makeMemoryPressureSource(eventMask: pressure, queue: .main)
        source.setEventHandler { runner.tell(event) }
        source.resume()
        sources.append(source)
    }

    /// Observes the notification that precedes the end of the app: the poster waits for operations in flight and for the
    /// node's stop, at most `patience`.
    func observeEnd(_ name: Notification.Name, within patience: DispatchTimeInterval) {
        let (runner, work) = (self.runner, self.work)
        observe(name, queue: nil) {
            Self.end(runner)
            let ended = DispatchSemaphore(value: 0)
            Task {
                await work.value
                ended.signal()
            }
            _ = ended.wait(timeout: .now() + patience)
        }
    }

    /// Finishes operations in flight and stops the node.
    func end() async {
        Self.end(runner)
        await work.value
    }

    private static func end(_ runner: LifecycleRunner) {
        runner.tell(.willTerminate)
        runner.finish()
    }
}
#endif
