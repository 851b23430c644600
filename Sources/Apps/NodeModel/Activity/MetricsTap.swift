internal import Concurrency
package import CoreMetrics
internal import RunarNode

/// Passes measurements on to a collector, and adds up those of the last second for the plots.
package final class MetricsTap: MetricsFactory {
    /// The values measured since they were taken last.
    struct Sums: Sendable {
        var sentBytes = 0
        var receivedBytes = 0
        var sentMessages = 0
        var receivedMessages = 0
        /// The durations of requests and messages.
        var milliseconds: [Double] = []
    }

    /// Durations that are kept of a second.
    private static let durationLimit = 64

    private let collector: any MetricsFactory
    private let sums = Locked(Sums())

    package init(_ collector: any MetricsFactory) { self.collector = collector }

    /// Returns the sums since the last call, and resets them.
    func take() -> Sums {
        sums.withLock { sums in
            defer { sums = Sums() }
            return sums
        }
    }

    package func makeCounter(label: String, dimensions: [(String, String)]) -> any CounterHandler {
        let counter = collector.makeCounter(label: label, dimensions: dimensions)
        switch RunarMetric(rawValue: label) {
        case .bytesSent: return TappedCounter(counter) { amount in self.sums.withLock { $0.sentBytes += amount } }
        case .bytesReceived:
            return TappedCounter(counter) { amount in self.sums.withLock { $0.receivedBytes += amount } }
        case .messagesSent: return TappedCounter(counter) { amount in self.sums.withLock { $0.sentMessages += amount } }
        case .messagesReceived:
            return TappedCounter(counter) { amount in self.sums.withLock { $0.receivedMessages += amount } }
        default: return counter
        }
    }

    package func makeTimer(label: String, dimensions: [(String, String)]) -> any TimerHandler {
        let timer = collector.makeTimer(label: label, dimensions: dimensions)
        guard label == RunarMetric.peerLatencies.rawValue else { return timer }
        return TappedTimer(timer) { nanoseconds in
            self.sums.withLock { sums in
                guard sums.milliseconds.count < Self.durationLimit else { return }
                sums.milliseconds.append(Double(nanoseconds / 1000) / 1000)
            }
        }
    }

    package func makeFloatingPointCounter(
        label: String,
        dimensions: [(String, String)]
    ) -> any FloatingPointCounterHandler {
        collector.makeFloatingPointCounter(label: label, dimensions: dimensions)
    }

    package func makeMeter(label: String, dimensions: [(String, String)]) -> any MeterHandler {
        collector.makeMeter(label: label, dimensions: dimensions)
    }

    package func makeRecorder(label: String, dimensions: [(String, String)], aggregate: Bool) -> any RecorderHandler {
        collector.makeRecorder(label: label, dimensions: dimensions, aggregate: aggregate)
    }

    package func destroyCounter(_ handler: any CounterHandler) {
        collector.destroyCounter((handler as? TappedCounter)?.counter ?? handler)
    }

    package func destroyTimer(_ handler: any TimerHandler) {
        collector.destroyTimer((handler as? TappedTimer)?.timer ?? handler)
    }

    package func destroyFloatingPointCounter(_ handler: any FloatingPointCounterHandler) {
        collector.destroyFloatingPointCounter(handler)
    }

    package func destroyMeter(_ handler: any MeterHandler) { collector.destroyMeter(handler) }

    package func destroyRecorder(_ handler: any RecorderHandler) { collector.destroyRecorder(handler) }
}

private final class TappedCounter: CounterHandler {
    let counter: any CounterHandler
    private let note: @Sendable (Int) -> Void

    init(_ counter: any CounterHandler, _ note: @escaping @Sendable (Int) -> Void) {
        self.counter = counter
        self.note = note
    }

    func increment(by amount: Int64) {
        counter.increment(by: amount)
        note(Int(amount))
    }

    func reset() { counter.reset() }
}

private final class TappedTimer: TimerHandler {
    let timer: any TimerHandler
    private let note: @Sendable (Int64) -> Void

    init(_ timer: any TimerHandler, _ note: @escaping @Sendable (Int64) -> Void) {
        self.timer = timer
        self.note = note
    }

    func recordNanoseconds(_ duration: Int64) {
        timer.recordNanoseconds(duration)
        note(duration)
    }

    func preferDisplayUnit(_ unit: TimeUnit) { timer.preferDisplayUnit(unit) }
}
