internal import Concurrency
internal import CoreMetrics

/// One series: the values of one instrument with its labels.
final class Series: Sendable {
    /// The kind of the instrument.
    enum Kind: Hashable, Sendable {
        case counter
        case gauge
        case histogram(Buckets)

        var word: String {
            switch self {
            case .counter: "counter"
            case .gauge: "gauge"
            case .histogram: "histogram"
            }
        }
    }

    /// The upper bounds of a histogram's buckets.
    enum Buckets: Hashable, Sendable {
        /// From 100 us, the duration of a request on this machine, to 30 s, the time limit of callers.
        case seconds
        /// Powers of four, from 1 to 16 Mi: bytes, peers, messages.
        case amounts

        var bounds: [Double] {
            switch self {
            case .seconds:
                [0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30]
            case .amounts: (0...12).map { Double(1 << (2 * $0)) }
            }
        }
    }

    private struct Value: Sendable {
        /// The total of a counter, the height of a gauge, the sum of a histogram.
        var number = 0.0
        /// The number of values in each bucket, and beyond all.
        var counts: [UInt64] = []
    }

    let kind: Kind
    private let bounds: [Double]
    private let value: Locked<Value>

    init(_ kind: Kind) {
        self.kind = kind
        if case .histogram(let buckets) = kind { bounds = buckets.bounds } else { bounds = [] }
        value = Locked(Value(counts: bounds.isEmpty ? [] : Array(repeating: 0, count: bounds.count + 1)))
    }

    /// Writes the series' lines.
    func write(as name: String, _ labels: SeriesLabels, to text: inout String) {
        let value = self.value.withLock { $0 }
        guard case .histogram = kind else {
            text += "\(name)\(labels.braced()) \(Self.text(value.number))\n"
            return
        }
        var count: UInt64 = 0
        for (bound, further) in zip(bounds + [.infinity], value.counts) {
            count += further
            text += "\(name)_bucket\(labels.braced("le=\"\(Self.text(bound))\"")) \(count)\n"
        }
        text += "\(name)_sum\(labels.braced()) \(Self.text(value.number))\n"
        text += "\(name)_count\(labels.braced()) \(count)\n"
    }

    /// Whole numbers without a point.
    private static func text(_ number: Double) -> String {
        if number == .infinity { return "+Inf" }
        if number == -.infinity { return "-Inf" }
        if number.isNaN { return "NaN" }
        return Int64(exactly: number).map(String.init) ?? "\(number)"
    }

    private func change(_ body: (inout Double) -> Void) {
        value.withLock { body(&$0.number) }
    }

    private func take(_ number: Double) {
        guard case .histogram = kind else { return change { $0 = number } }
        let position = bounds.firstIndex { number <= $0 } ?? bounds.count
        value.withLock { value in
            value.number += number
            value.counts[position] += 1
        }
    }
}

// MARK: - Updates

extension Series: CounterHandler, FloatingPointCounterHandler {
    func increment(by amount: Int64) { change { $0 += Double(max(0, amount)) } }

    /// Adds to a counter or a gauge.
    func increment(by amount: Double) {
        guard amount.isFinite, kind == .gauge || amount > 0 else { return }
        change { $0 += amount }
    }

    func reset() { change { $0 = 0 } }
}

extension Series: MeterHandler {
    func set(_ value: Int64) { take(Double(value)) }

    func set(_ value: Double) { take(value) }

    func decrement(by amount: Double) {
        guard amount.isFinite else { return }
        change { $0 -= amount }
    }
}

extension Series: RecorderHandler {
    func record(_ value: Int64) { take(Double(value)) }

    func record(_ value: Double) {
        guard !value.isNaN else { return }
        take(value)
    }
}

extension Series: TimerHandler {
    func recordNanoseconds(_ duration: Int64) { take(Double(duration) / 1_000_000_000) }
}
