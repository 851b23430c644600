package import Identity

/// The time as the node sees it; tests put their own here.
package struct NodeClock: Sendable {
    package var now: @Sendable () -> NodeTime
    /// Milliseconds since 1970-01-01 00:00 UTC by the wall clock of ``now``, for times that people see.
    package var wallMilliseconds: @Sendable () -> UInt64
    /// Returns when the monotonic time is reached, or throws when cancelled.
    package var sleep: @Sendable (_ until: Duration) async throws -> Void

    /// Without `wallMilliseconds` the clock shows whole seconds.
    package init(
        now: @escaping @Sendable () -> NodeTime,
        wallMilliseconds: (@Sendable () -> UInt64)? = nil,
        sleep: @escaping @Sendable (_ until: Duration) async throws -> Void
    ) {
        self.now = now
        self.wallMilliseconds = wallMilliseconds ?? { now().wallSeconds * 1_000 }
        self.sleep = sleep
    }
}
