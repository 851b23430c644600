package import Identity

/// The time as the node sees it; tests put their own here.
package struct NodeClock: Sendable {
    package var now: @Sendable () -> NodeTime
    /// Returns when the monotonic time is reached, or throws when cancelled.
    package var sleep: @Sendable (_ until: Duration) async throws -> Void

    package init(
        now: @escaping @Sendable () -> NodeTime,
        sleep: @escaping @Sendable (_ until: Duration) async throws -> Void
    ) {
        self.now = now
        self.sleep = sleep
    }
}
