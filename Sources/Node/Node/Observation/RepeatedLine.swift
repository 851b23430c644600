/// A line of the log that unauthenticated peers can cause as often as they like: once a minute it is written, and says
/// how often it was not.
struct RepeatedLine: Sendable {
    private static let pause = Duration.seconds(60)

    private var nextAt: Duration?
    private var leftOut = 0

    /// Counts one more reason for the line; returns how many were left out before it if it is to be written, else nil.
    mutating func note(at now: Duration) -> Int? {
        if let nextAt, now < nextAt {
            self.leftOut += 1
            return nil
        }
        defer { self.leftOut = 0 }
        self.nextAt = now + Self.pause
        return self.leftOut
    }
}
