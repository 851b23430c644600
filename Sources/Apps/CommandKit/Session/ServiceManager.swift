internal import CommandModel
internal import Concurrency
internal import Platform

/// The service manager that started this process and expects notifications of its state: systemd, by its notification
/// protocol (`sd_notify(3)`), over a socket that it names in the environment.
///
/// Without such a socket nothing is sent, so a node that a person started is not affected.
package struct ServiceManager: Sendable {
    /// A notification for the manager.
    package enum Message: Hashable, Sendable {
        /// The node serves.
        case ready
        /// The node ends.
        case stopping
        /// The node is responsive; sent repeatedly, or else the manager restarts it.
        case alive
        /// For people, in `systemctl status`.
        case status(String)

        package var text: String {
            switch self {
            case .ready: "READY=1"
            case .stopping: "STOPPING=1"
            case .alive: "WATCHDOG=1"
            case .status(let text): "STATUS=\(text.map { $0.isNewline ? " " : String($0) }.joined())"
            }
        }
    }

    /// The time in which the manager should have room for a notification; `TimeoutStopSec` of the units includes it.
    package static let patience = Duration.seconds(5)

    private let path: String
    private let patience: Duration
    private let whenFull: @Sendable () -> Void
    /// The time within which the manager expects a sign of life; nil for no limit.
    package let watchdogTime: Duration?

    /// The manager of this process; nil when there is none.
    ///
    /// `whenFull` is called before a wait of at most `patience` for room in its queue.
    package init?(
        environment: (String) -> String? = SystemProcess.environment,
        process: Int32 = SystemProcess.id,
        patience: Duration = ServiceManager.patience,
        whenFull: @escaping @Sendable () -> Void = {}
    ) {
        guard let path = environment("NOTIFY_SOCKET"), path.hasPrefix("/") || path.hasPrefix("@") else { return nil }
        self.path = path
        self.patience = patience
        self.whenFull = whenFull
        // The watchdog must be for this process; without a process id it is.
        let isMeant = environment("WATCHDOG_PID").map { $0 == "\(process)" } ?? true
        let microseconds = environment("WATCHDOG_USEC").flatMap { Int64($0) } ?? 0
        watchdogTime = isMeant && microseconds > 0 ? .microseconds(microseconds) : nil
    }

    /// Sends notifications, and waits a limited time for room in the manager's queue, which signs of life may fill.
    ///
    /// A failure is ignored, because a manager that does not listen is no reason to end.
    package func tell(_ messages: Message...) async {
        let text = messages.map(\.text).joined(separator: "\n")
        let end = Promise<Void>()
        let send: @Sendable () -> Void = {
            _ = UnixSocket.sendDatagram(Array(text.utf8), to: path, waiting: patience, whenFull: whenFull)
            end.fulfil(())
        }
        // Without a thread of its own, the caller's is the only one that is sure to be available.
        if SystemThread.start(send) != 0 { send() }
        await end.waitIgnoringCancellation()
    }

    /// Notifies the manager, at twice its rate, as long as the node is responsive, until the task is cancelled.
    ///
    /// No notification is sent for a node that hangs.
    package func watch(_ isResponsive: () async -> Bool) async {
        guard let watchdogTime else { return }
        while await isResponsive() {
            // A manager whose queue is full has signs of life to read.
            _ = UnixSocket.sendDatagram(Array(Message.alive.text.utf8), to: path)
            guard (try? await Task.sleep(for: watchdogTime / 2)) != nil else { return }  // nil: cancelled
        }
    }
}
