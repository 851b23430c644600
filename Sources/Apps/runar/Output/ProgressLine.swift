internal import Concurrency
internal import NodeService

/// A line on a terminal's standard error that shows how far something has come; elsewhere it shows nothing.
final class ProgressLine: Sendable {
    private struct State: Sendable {
        var lastShown: ContinuousClock.Instant?
        var isOpen = false
    }

    /// Quick work shows no line at all.
    private static let patience = Duration.seconds(1)
    private static let interval = Duration.milliseconds(100)

    private let isShown: Bool
    private let started = ContinuousClock.now
    private let state = Locked(State())

    init(isShown: Bool = Output.errorsAreTerminal) {
        self.isShown = isShown
    }

    /// Shows `text` unless the work is young or another text was just shown.
    func show(_ text: @autoclosure () -> String) {
        guard isShown else { return }
        let now = ContinuousClock.now
        guard started.duration(to: now) >= Self.patience else { return }
        let isDue = state.withLock { state in
            if let last = state.lastShown, last.duration(to: now) < Self.interval { return false }
            state.lastShown = now
            state.isOpen = true
            return true
        }
        if isDue { Output.status(text()) }
    }

    /// Shows how many of `total` bytes are there, with the speed.
    func show(_ what: String, _ count: UInt64, of total: UInt64) {
        let seconds = started.duration(to: .now).seconds
        let percent = total == 0 ? 100 : Int(Double(count) / Double(total) * 100)
        show("\(what): \(percent)%, \(ByteCountText.text(of: Double(count) / max(seconds, 0.001)))/s")
    }

    /// Takes the line away.
    func finish() {
        let wasOpen = state.withLock { state in
            defer { state.isOpen = false }
            return state.isOpen
        }
        if wasOpen { Output.status("") }
    }
}
