/// The times at which the interfaces are listed.
struct ListingSchedule {
    /// The least time between two listings, however often the interfaces change.
    private static let pause = Duration.milliseconds(100)
    /// The time to the next listing after one that did not succeed, or where the system reports no changes.
    private static let interval = Duration.seconds(5)

    private var last: ContinuousClock.Instant?
    private var next: ContinuousClock.Instant?

    /// Begins a listing, after which another one is due by itself unless the system reports changes.
    mutating func begin(at now: ContinuousClock.Instant, systemReportsChanges: Bool) {
        last = now
        next = systemReportsChanges ? nil : now + Self.interval
    }

    /// Plans a listing for a change that the system reported.
    mutating func follow(changeAt now: ContinuousClock.Instant) {
        plan((last ?? now) + Self.pause)
    }

    /// Plans a listing for a failure.
    ///
    /// Not at once: a socket that breaks again and again must not keep the thread busy.
    mutating func retry(failedAt now: ContinuousClock.Instant) {
        plan(now + Self.interval)
    }

    /// Whether a listing is due.
    func isDue(at now: ContinuousClock.Instant) -> Bool {
        next.map { $0 <= now } ?? false
    }

    /// Returns how long to wait for something to happen, in milliseconds; -1 without a limit.
    func patience(atMost bound: Int32?) -> Int32 {
        guard let next else { return bound ?? -1 }
        let (seconds, attoseconds) = (next - .now).components
        guard seconds >= 0, attoseconds >= 0 else { return 0 }
        return min(bound ?? .max, Int32(clamping: seconds * 1000 + attoseconds / 1_000_000_000_000_000 + 1))
    }

    private mutating func plan(_ moment: ContinuousClock.Instant) {
        next = min(next ?? moment, moment)
    }
}
