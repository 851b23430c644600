/// The two times of one moment: timers use only the monotonic one, expiry only the wall clock.
package struct NodeTime: Hashable, Sendable {
    /// The time since an arbitrary start, which never goes backwards.
    package var monotonic: Duration
    /// Seconds since 1970-01-01 00:00 UTC, which people and networks may set to anything.
    package var wallSeconds: UInt64

    package init(monotonic: Duration, wallSeconds: UInt64) {
        self.monotonic = monotonic
        self.wallSeconds = wallSeconds
    }
}
