#if os(iOS)
internal import Dispatch
internal import UIKit

/// Makes a node follow the lifecycle of its app: keep it as long as the app runs.
///
/// In the background the node is stopped inside a background task. If its configuration sets `allowBackgroundAccess` and
/// Background App Refresh is on, it continues with reduced operations until the system's time expires. In the foreground it
/// is available again within a second. An app that the system terminates waits briefly for operations in flight.
/// ``LifecyclePlan`` has the rules.
@MainActor public final class AppLifecycle {
    /// The node's share of the five seconds that the system gives an app at its end.
    private static let endTime = DispatchTimeInterval.seconds(4)

    private let watch: SystemWatch

    /// Follows the app from now on.
    ///
    /// `onStartFailure` is called with each failure to start again, on any thread. The node tries again when the app
    /// becomes active, when there is a network, and when the app enters the foreground; after ``KeychainError/denied`` only
    /// then.
    public init(node: RunarNode, onStartFailure: @escaping @Sendable (any Error) -> Void = { _ in }) {
        let time = BackgroundTime()
        let runner = LifecycleRunner(
            node: node,
            plan: LifecyclePlan(
                system: .phone,
                allowBackgroundAccess: node.config.guarding.allowsBackgroundAccess,
                isBackgroundRefreshAvailable: UIApplication.shared.backgroundRefreshStatus == .available
            ),
            // The node does not wait for the main thread, which may wait for the node when the app ends.
            backgroundTask: .init(
                begin: { Task { @MainActor in time.begin() } },
                end: { Task { @MainActor in time.end() } }
            ),
            onStartFailure: onStartFailure
        )
        time.isOver = { runner.tell(.backgroundTimeEnded) }
        let watch = SystemWatch(runner)
        self.watch = watch
        watch.observe(UIApplication.didEnterBackgroundNotification, .enteredBackground)
        watch.observe(UIApplication.willEnterForegroundNotification, .willEnterForeground)
        watch.observe(UIApplication.didBecomeActiveNotification, .becameActive)
        watch.observe(UIApplication.didReceiveMemoryWarningNotification, .memoryWarning)
        watch.observe(UIApplication.backgroundRefreshStatusDidChangeNotification) {
            MainActor.assumeIsolated {
                let isAvailable = UIApplication.shared.backgroundRefreshStatus == .available
                runner.tell(.backgroundRefreshChanged(isAvailable: isAvailable))
            }
        }
        watch.observeEnd(UIApplication.willTerminateNotification, within: Self.endTime)
    }

    /// The system's permission to run in the background, which is returned before it expires.
    @MainActor private final class BackgroundTime {
        var isOver: @Sendable () -> Void = {}
        private var identifier = UIBackgroundTaskIdentifier.invalid
        private var timer: Task<Void, Never>?

        func begin() {
            guard identifier == .invalid else { return }
            // The system ends an app that has not ended the task by then.
            identifier = UIApplication.shared.beginBackgroundTask(withName: "runar") { self.end() }
            timer = Task {
                guard (try? await Task.sleep(for: LifecyclePlan.backgroundTime)) != nil else { return }  // nil: ended
                isOver()
            }
        }

        func end() {
            timer?.cancel()
            guard identifier != .invalid else { return }
            UIApplication.shared.endBackgroundTask(identifier)
            identifier = .invalid
        }
    }
}
#endif
