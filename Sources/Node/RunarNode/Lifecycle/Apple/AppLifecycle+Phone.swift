#if os(iOS)
internal import Network
internal import UIKit

/// Lets a node follow its app: keep it as long as the app runs.
///
/// Out of sight the node is stopped inside a background task, or, where its configuration sets `allowBackgroundAccess` and
/// Background App Refresh is on, goes on with little for as long as the system gives time. Seen again it is there within a second.
/// ``LifecyclePlan`` has the rules.
@MainActor public final class AppLifecycle {
    /// Of the half minute that the system gives, enough is left to say goodbye.
    private static let backgroundTime = Duration.seconds(20)

    private let runner: LifecycleRunner
    private let work: Task<Void, Never>
    private let monitor = NWPathMonitor()
    private var observers: [any NSObjectProtocol] = []

    /// Follows the app from now on.
    public init(node: RunarNode) {
        let time = BackgroundTime()
        let runner = LifecycleRunner(
            node: node,
            plan: LifecyclePlan(
                system: .phone,
                allowBackgroundAccess: node.config.guarding.allowsBackgroundAccess,
                isBackgroundRefreshAvailable: UIApplication.shared.backgroundRefreshStatus == .available
            ),
            backgroundTask: .init(begin: { await time.begin() }, end: { await time.end() })
        )
        time.isOver = { runner.tell(.backgroundTimeEnded) }
        self.runner = runner
        self.work = Task { await runner.run() }
        self.observe(UIApplication.didEnterBackgroundNotification) { .enteredBackground }
        self.observe(UIApplication.willEnterForegroundNotification) { .willEnterForeground }
        self.observe(UIApplication.didReceiveMemoryWarningNotification) { .memoryWarning }
        self.observe(UIApplication.willTerminateNotification) { .willTerminate }
        self.observe(UIApplication.backgroundRefreshStatusDidChangeNotification) {
            .backgroundRefreshChanged(isAvailable: UIApplication.shared.backgroundRefreshStatus == .available)
        }
        self.monitor.pathUpdateHandler = { path in
            runner.tell(path.status == .satisfied ? .networkAvailable : .networkUnavailable)
        }
        self.monitor.start(queue: .main)
    }

    isolated deinit {
        for observer in self.observers { NotificationCenter.default.removeObserver(observer) }
        self.monitor.cancel()
        self.runner.finish()
    }

    private func observe(_ name: Notification.Name, _ event: @escaping @MainActor @Sendable () -> LifecyclePlan.Event) {
        let runner = self.runner
        self.observers.append(
            NotificationCenter.default.addObserver(forName: name, object: nil, queue: .main) { _ in
                MainActor.assumeIsolated { runner.tell(event()) }
            }
        )
    }

    /// The system's permission to go on, which is given back in time.
    @MainActor private final class BackgroundTime {
        var isOver: @Sendable () -> Void = {}
        private var identifier = UIBackgroundTaskIdentifier.invalid
        private var timer: Task<Void, Never>?

        func begin() {
            guard self.identifier == .invalid else { return }
            // Whoever has not ended it by then is ended by the system.
            self.identifier = UIApplication.shared.beginBackgroundTask(withName: "runar") { self.end() }
            self.timer = Task {
                guard (try? await Task.sleep(for: AppLifecycle.backgroundTime)) != nil else { return }  // nil: ended
                self.isOver()
            }
        }

        func end() {
            self.timer?.cancel()
            guard self.identifier != .invalid else { return }
            UIApplication.shared.endBackgroundTask(self.identifier)
            self.identifier = .invalid
        }
    }
}
#endif
