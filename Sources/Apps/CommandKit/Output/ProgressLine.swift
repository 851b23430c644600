internal import Bytes
internal import CommandModel
internal import Concurrency

/// A line on a terminal's standard error with the progress of an operation; elsewhere it shows nothing.
package final class ProgressLine: Sendable {
    private struct State: Sendable {
        var lastShown: ContinuousClock.Instant?
        var isOpen = false
        /// The time of the first byte, before which a person may have had to decide.
        var firstByte: ContinuousClock.Instant?
    }

    /// Quick work shows no line at all.
    private static let patience = Duration.seconds(1)
    private static let interval = Duration.milliseconds(100)

    private let isShown: Bool
    private let started = ContinuousClock.now
    private let state = Locked(State())

    package init(isShown: Bool = Output.errorsAreTerminal) {
        self.isShown = isShown
    }

    /// Shows `text` unless the work is young or another text was just shown.
    package func show(_ text: @autoclosure () -> String) {
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

    /// Shows how many of `total` bytes were transferred, with the speed since the first byte and the time that is left.
    package func show(_ what: String, _ count: UInt64, of total: UInt64) {
        guard count > 0 || total == 0 else { return }
        let now = ContinuousClock.now
        let began = state.withLock { state in
            state.firstByte = state.firstByte ?? now
            return state.firstByte ?? now
        }
        show(Self.text(what, count, of: total, after: began.duration(to: now)))
    }

    /// The line for a part of a transfer that took `time`.
    package static func text(_ what: String, _ count: UInt64, of total: UInt64, after time: Duration) -> String {
        let share = total == 0 ? 1 : Double(count) / Double(total)
        let speed = Double(count) / max(time.seconds, 0.001)
        let left = total > count && speed > 0 ? Double(total - count) / speed : 0
        let rest = left < 1 ? "" : ", \(DurationText.text(of: .seconds(Int(min(left, 1e6))))) left"
        return "\(what): \(Int(share * 100))%, \(ByteCountText.text(of: speed))/s\(rest)"
    }

    /// Shows `text` and the rest of `limit` once a second until the transfer begins.
    package func showWhileWaiting(_ text: String, atMost limit: Duration) async throws {
        try await Task.sleep(for: Self.patience + Self.interval)
        while state.withLock({ $0.firstByte == nil }) {
            show(Self.text(text, waitingFor: started.duration(to: .now), of: limit))
            try await Task.sleep(for: .seconds(1))
        }
    }

    /// The line for a wait of at most `limit` that has lasted for `time`; the other side may have another limit.
    package static func text(_ what: String, waitingFor time: Duration, of limit: Duration) -> String {
        let left = limit.seconds - time.seconds
        return left > 0 ? "\(what), \(DurationText.text(of: .seconds(Int(left.rounded(.up))))) left" : what
    }

    /// Takes the line away.
    package func finish() {
        let wasOpen = state.withLock { state in
            defer { state.isOpen = false }
            return state.isOpen
        }
        if wasOpen { Output.status("") }
    }
}
