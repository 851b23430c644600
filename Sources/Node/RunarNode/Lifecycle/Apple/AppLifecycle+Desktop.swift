#if os(macOS)
internal import AppKit
internal import Dispatch
internal import Foundation

/// Makes a node follow the lifecycle of its app: keep it as long as the app runs.
///
/// While the app is inactive, the node reduces its operations. Before the machine sleeps, the node leaves its connections
/// alone; on wake it looks for its peers at once. When the app terminates, the main thread is blocked until operations in
/// flight have finished; call ``terminate()`` from `applicationShouldTerminate` to let the app run meanwhile.
/// ``LifecyclePlan`` has the rules.
@MainActor public final class AppLifecycle {
    /// A little longer than ``RunarNode/drainPatience``, for the graceful shutdown.
    private static let endTime = DispatchTimeInterval.seconds(12)

    private let watch: SystemWatch

    /// Follows the app from now on.
    public init(node: RunarNode) {
        let watch = SystemWatch(LifecycleRunner(node: node, plan: LifecyclePlan(system: .desktop)))
        self.watch = watch
        let workspace = NSWorkspace.shared.notificationCenter
        watch.observe(NSApplication.didBecomeActiveNotification, .becameActive)
        watch.observe(NSApplication.didResignActiveNotification, .resignedActive)
        watch.observe(NSWorkspace.willSleepNotification, of: workspace, .willSleep)
        watch.observe(NSWorkspace.didWakeNotification, of: workspace, .didWake)
        watch.observe(.warning, .memoryPressure)
        watch.observe(.critical, .memoryWarning)
        watch.observeEnd(NSApplication.willTerminateNotification, within: Self.endTime)
        // Or else the system may end the app without a word.
        ProcessInfo.processInfo.disableSuddenTermination()
    }

    deinit {
        ProcessInfo.processInfo.enableSuddenTermination()
    }

    /// Finishes operations in flight and stops the node; return `.terminateLater` and reply when this returns.
    public func terminate() async {
        await watch.end()
    }
}
#endif
