/// Named numbers, the unit last in each name.
struct Figures {
    private(set) var values: [String: Double] = [:]

    subscript(name: String) -> Double? {
        get { values[name] }
        set { values[name] = newValue }
    }

    /// Adds median, 90th and 99th percentile and maximum in milliseconds, and how many values there are.
    mutating func add(_ name: String, _ samples: Samples) {
        var samples = samples
        values[name + "Count"] = Double(samples.count)
        for (suffix, percent) in [("P50", 50), ("P90", 90), ("P99", 99), ("Max", 100)] {
            guard let value = samples.percentile(percent) else { continue }
            values[name + suffix + "Milliseconds"] = Duration.milliseconds(ofNanoseconds: value)
        }
    }

    /// Adds the median and the end at which numbers of something are bad.
    mutating func add(counts name: String, _ samples: Samples, badIsLow: Bool = false) {
        var samples = samples
        let bad = badIsLow ? [("Min", 0), ("P10", 10)] : [("P90", 90), ("Max", 100)]
        for (suffix, percent) in [("P50", 50)] + bad {
            guard let value = samples.percentile(percent) else { continue }
            values[name + suffix] = Double(value)
        }
    }
}
