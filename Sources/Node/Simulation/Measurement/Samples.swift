/// The measured values: durations in nanoseconds, or numbers of something.
struct Samples {
    private var values: [Int64] = []
    private var isSorted = true

    var count: Int { self.values.count }

    mutating func add(_ value: Int64) {
        self.values.append(value)
        self.isSorted = false
    }

    /// The smallest value that at least `percent` of all values do not exceed (nearest rank); nil without values.
    mutating func percentile(_ percent: Int) -> Int64? {
        guard !self.values.isEmpty else { return nil }
        if !self.isSorted {
            self.values.sort()
            self.isSorted = true
        }
        let rank = (self.values.count * percent + 99) / 100
        return self.values[max(rank, 1) - 1]
    }
}
