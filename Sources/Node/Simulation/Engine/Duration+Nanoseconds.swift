extension Duration {
    /// Whole nanoseconds, rounded down; simulations count time in 64 bits because they compare it so often.
    var nanoseconds: Int64 {
        let (seconds, attoseconds) = components
        return seconds * 1_000_000_000 + attoseconds / 1_000_000_000
    }

    /// Whole nanoseconds, rounded up: a wake must not be earlier than its time.
    var nanosecondsRoundedUp: Int64 {
        let (seconds, attoseconds) = components
        return seconds * 1_000_000_000 + (attoseconds + 999_999_999) / 1_000_000_000
    }

    /// Returns a number of nanoseconds in milliseconds, for figures.
    static func milliseconds(ofNanoseconds nanoseconds: Int64) -> Double { Double(nanoseconds) / 1e6 }
}
