/// The rate of a token bucket: units per second in the long run, and units at once.
package struct RateLimit: Sendable {
    /// The time in which one unit is earned.
    package let interval: Duration
    /// The time in which everything that is allowed at once is earned.
    package let window: Duration

    package init(perSecond: Int, atOnce: Int) {
        self.init(every: .seconds(1) / perSecond, atOnce: atOnce)
    }

    package init(every interval: Duration, atOnce: Int) {
        self.interval = interval
        window = interval * atOnce
    }
}

/// A token bucket, kept as the time at which all used units will have been earned back.
package struct TokenBucket: Sendable {
    private var paidOff = Duration.zero

    package init() {}

    /// Whether `count` more units may be begun.
    package func hasRoom(for count: Int = 1, under rate: RateLimit, at now: Duration) -> Bool {
        max(paidOff - now, .zero) <= rate.window - rate.interval * count
    }

    /// Whether all used units have been earned back: the bucket is as a new one.
    package func isFull(at now: Duration) -> Bool { paidOff <= now }

    /// Uses `count` units, which may be more than there is room for: the debt is paid off first.
    package mutating func charge(_ count: Int = 1, under rate: RateLimit, at now: Duration) {
        paidOff = max(paidOff, now) + rate.interval * count
    }

    /// Returns a used unit.
    package mutating func refund(under rate: RateLimit) {
        paidOff -= rate.interval
    }

    /// Takes the debt of another one if that is larger.
    package mutating func merge(_ other: TokenBucket) {
        paidOff = max(paidOff, other.paidOff)
    }

    /// Uses one unit if there is room for it.
    package mutating func take(under rate: RateLimit, at now: Duration) -> Bool {
        guard hasRoom(under: rate, at: now) else { return false }
        charge(under: rate, at: now)
        return true
    }
}
