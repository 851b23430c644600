/// The two times of one input, both given by the caller.
package struct Moment: Hashable, Sendable {
    /// The time since an arbitrary start, which never goes backwards.
    package var monotonic: Duration
    /// The wall time since 1970-01-01 00:00 UTC, for the timestamps of initiations; it may jump.
    package var wall: Duration

    /// Puts the two readings together.
    package init(monotonic: Duration, wall: Duration) {
        self.monotonic = monotonic
        self.wall = wall
    }
}

/// The time that the timers and the ages of sessions use: it advances with the faster of the two clocks.
///
/// The monotonic clock of some systems stops while the machine sleeps. The wall clock does not: when it advances further
/// than the monotonic one, the difference is counted as time that passed. A session is therefore never older than it
/// seems. Steps of the wall clock backwards have no effect.
struct ElapsedTime: Sendable {
    /// The smallest difference between the advances of both clocks that counts: less is a correction of the wall clock.
    static let tolerance = Duration.seconds(2)

    private var last: Moment?
    /// The time that the monotonic clock missed.
    private(set) var missed = Duration.zero
    /// The largest reading so far.
    private var reading = Duration.zero

    /// Returns the time at `moment`, which is never less than an earlier result.
    mutating func advance(to moment: Moment) -> Duration {
        if let last {
            let skipped = (moment.wall - last.wall) - (moment.monotonic - last.monotonic)
            if skipped > Self.tolerance {
                missed += skipped
                self.last = moment
            } else if skipped < .zero || moment.monotonic - last.monotonic > .seconds(60) {
                // A slow drift of the wall clock must not add up to a jump.
                self.last = moment
            }
        } else {
            last = moment
        }
        reading = max(reading, moment.monotonic + missed)
        return reading
    }

    /// Converts a time of this clock to the caller's monotonic time.
    func monotonic(of time: Duration) -> Duration { time - missed }
}
