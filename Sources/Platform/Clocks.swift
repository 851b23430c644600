/// The two clocks of a node: one that only runs forward, one that people set.
///
/// A value of functions, so that a test can turn the hands.
package struct Clocks: Sendable {
    /// Time since this value was made, counting the time asleep.
    ///
    /// Timers use nothing else.
    package var monotonic: @Sendable () -> Duration
    /// Seconds since 1970-01-01 00:00 UTC.
    ///
    /// Expiry uses nothing else.
    package var wallSeconds: @Sendable () -> UInt64

    package init(monotonic: @escaping @Sendable () -> Duration, wallSeconds: @escaping @Sendable () -> UInt64) {
        self.monotonic = monotonic
        self.wallSeconds = wallSeconds
    }

    /// The clocks of this machine.
    ///
    /// The monotonic one is `ContinuousClock`, so `Task.sleep` on that clock agrees.
    package static func system() -> Clocks {
        let start = ContinuousClock.now
        return Clocks(
            monotonic: { start.duration(to: .now) },
            wallSeconds: { SystemProcess.wallSeconds }
        )
    }
}
