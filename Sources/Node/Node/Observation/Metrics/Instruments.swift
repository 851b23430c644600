internal import Concurrency
internal import CoreMetrics

extension Counter {
    convenience init(_ metric: RunarMetric, _ factory: any MetricsFactory, _ dimensions: [(String, String)] = []) {
        self.init(label: metric.rawValue, dimensions: dimensions, factory: factory)
    }
}

extension Meter {
    convenience init(_ metric: RunarMetric, _ factory: any MetricsFactory, _ dimensions: [(String, String)] = []) {
        self.init(label: metric.rawValue, dimensions: dimensions, factory: factory)
    }
}

extension Timer {
    convenience init(_ metric: RunarMetric, _ factory: any MetricsFactory, _ dimensions: [(String, String)] = []) {
        self.init(label: metric.rawValue, dimensions: dimensions, factory: factory)
    }
}

extension Recorder {
    /// A histogram.
    convenience init(_ metric: RunarMetric, _ factory: any MetricsFactory, _ dimensions: [(String, String)] = []) {
        self.init(label: metric.rawValue, dimensions: dimensions, aggregate: true, factory: factory)
    }
}

/// One node's share of a gauge.
final class Level: Sendable {
    private let meter: Meter
    private let value = Locked(0)

    init(_ meter: Meter) {
        self.meter = meter
    }

    func set(to new: Int) {
        let change = value.withLock { value in
            defer { value = new }
            return new - value
        }
        if change != 0 { meter.increment(by: Double(change)) }
    }
}

/// Adds up the amounts of each second.
struct SecondSum: Sendable {
    private var start: Duration
    private var sum: Int

    /// Begins a second at `now`.
    init(_ amount: Int, at now: Duration) {
        start = now
        sum = amount
    }

    /// Adds to the current second; if it has ended, begins a new one and returns the sum of the previous one.
    mutating func add(_ amount: Int, at now: Duration) -> Int? {
        guard now - start >= .seconds(1) else {
            sum += amount
            return nil
        }
        defer { self = SecondSum(amount, at: now) }
        return sum
    }

    /// The sum of the second under way.
    var total: Int { sum }
}

extension Duration {
    /// As instruments want it.
    var inSeconds: Double {
        let parts = components
        return Double(parts.seconds) + Double(parts.attoseconds) * 1e-18
    }
}
