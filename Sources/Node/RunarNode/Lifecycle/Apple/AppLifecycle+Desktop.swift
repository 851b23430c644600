#if os(macOS)
internal import AppKit
internal import Dispatch
internal import Network

/// Lets a node follow its app: keep it as long as the app runs.
///
/// Out of use the node does little, in use everything; before the machine sleeps peers are let alone, and after it they are
/// looked for at once. When the app ends, what is under way ends first: call ``terminate()`` from
/// `applicationShouldTerminate`. ``LifecyclePlan`` has the rules.
@MainActor public final class AppLifecycle {
    private let runner: LifecycleRunner
    private let work: Task<Void, Never>
    private let monitor = NWPathMonitor()
    private let memory = DispatchSource.makeMemoryPressureSource(eventMask: [.warning, .critical], queue: .main)
    private var observers: [(center: NotificationCenter, observer: any NSObjectProtocol)] = []

    /// Follows the app from now on.
    public init(node: RunarNode) {
        let runner = LifecycleRunner(node: node, plan: LifecyclePlan(system: .desktop))
        self.runner = runner
        self.work = Task { await runner.run() }
        let (app, workspace) = (NotificationCenter.default, NSWorkspace.shared.notificationCenter)
        self.observe(NSApplication.didBecomeActiveNotification, of: app, .becameActive)
        self.observe(NSApplication.didResignActiveNotification, of: app, .resignedActive)
        self.observe(NSWorkspace.willSleepNotification, of: workspace, .willSleep)
        self.observe(NSWorkspace.didWakeNotification, of: workspace, .didWake)
        let memory = self.memory
        memory.setEventHandler { runner.tell(memory.data.contains(.critical) ? .memoryWarning : .memoryPressure) }
        memory.resume()
        self.monitor.pathUpdateHandler = { path in
            runner.tell(path.status == .satisfied ? .networkAvailable : .networkUnavailable)
        }
        self.monitor.start(queue: .main)
    }

    /// Lets what is under way end, and stops the node; return `.terminateLater` and reply when this returns.
    public func terminate() async {
        self.runner.tell(.willTerminate)
        self.runner.finish()
        await self.work.value
    }

    isolated deinit {
        for (center, observer) in self.observers { center.removeObserver(observer) }
        self.memory.cancel()
        self.monitor.cancel()
        self.runner.finish()
    }

    private func observe(_ name: Notification.Name, of center: NotificationCenter, _ event: LifecyclePlan.Event) {
        let runner = self.runner
        let observer = center.addObserver(forName: name, object: nil, queue: .main) { _ in runner.tell(event) }
        self.observers.append((center, observer))
    }
}
#endif
