/// A log line that unauthenticated peers can trigger at any rate: it is written at most once a minute, with the number of
/// suppressed ones.
struct RepeatedLine: Sendable {
    private static let pause = Duration.seconds(60)

    private var nextAt: Duration?
    private var leftOut = 0

    /// Counts one more occurrence; returns nil, or the number of suppressed lines before it when a line is due.
    mutating func note(at now: Duration) -> Int? {
        if let nextAt, now < nextAt {
            leftOut += 1
            return nil
        }
        defer { leftOut = 0 }
        nextAt = now + Self.pause
        return leftOut
    }
}
