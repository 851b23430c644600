/// The measured values: durations in nanoseconds, or numbers of something.
struct Samples {
    private var values: [Int64] = []
    private var isSorted = true

    var count: Int { values.count }

    mutating func add(_ value: Int64) {
        values.append(value)
        isSorted = false
    }

    /// The smallest value that at least `percent` of all values do not exceed (nearest rank); nil without values.
    mutating func percentile(_ percent: Int) -> Int64? {
        guard !values.isEmpty else { return nil }
        if !isSorted {
            values.sort()
            isSorted = true
        }
        let rank = (values.count * percent + 99) / 100
        return values[max(rank, 1) - 1]
    }
}
