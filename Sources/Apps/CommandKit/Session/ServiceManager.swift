internal import CommandModel
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

    private let path: String
    /// The time within which the manager expects a sign of life; nil for no limit.
    package let watchdogTime: Duration?

    /// The manager of this process; nil when there is none.
    package init?(environment: (String) -> String? = SystemProcess.environment, process: Int32 = SystemProcess.id) {
        guard let path = environment("NOTIFY_SOCKET"), path.hasPrefix("/") || path.hasPrefix("@") else { return nil }
        self.path = path
        // The watchdog must be for this process; without a process id it is.
        let isMeant = environment("WATCHDOG_PID").map { $0 == "\(process)" } ?? true
        let microseconds = environment("WATCHDOG_USEC").flatMap { Int64($0) } ?? 0
        watchdogTime = isMeant && microseconds > 0 ? .microseconds(microseconds) : nil
    }

    /// Sends notifications; a failure is ignored, because a manager that does not listen is no reason to end.
    package func tell(_ messages: Message...) {
        let text = messages.map(\.text).joined(separator: "\n")
        _ = UnixSocket.sendDatagram(Array(text.utf8), to: path)
    }

    /// Notifies the manager, at twice its rate, as long as the node is responsive, until the task is cancelled.
    ///
    /// No notification is sent for a node that hangs.
    package func watch(_ isResponsive: () async -> Bool) async {
        guard let watchdogTime else { return }
        while await isResponsive() {
            tell(.alive)
            guard (try? await Task.sleep(for: watchdogTime / 2)) != nil else { return }  // nil: cancelled
        }
    }
}
