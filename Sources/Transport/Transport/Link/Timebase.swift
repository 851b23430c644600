/// The time since a network began, and sleep until a moment of it.
struct Timebase: Sendable {
    private let elapsed: @Sendable () -> Duration
    private let sleeper: @Sendable (Duration) async throws -> Void

    /// Begins to count now, with any clock.
    init(_ clock: some Clock<Duration>) {
        let start = clock.now
        elapsed = { start.duration(to: clock.now) }
        sleeper = { try await clock.sleep(until: start.advanced(by: $0), tolerance: nil) }
    }

    /// The time since the beginning.
    var now: Duration { elapsed() }

    /// Returns at `moment`, or throws when cancelled.
    func sleep(until moment: Duration) async throws {
        try await sleeper(moment)
    }
}
