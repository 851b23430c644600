/// The time in which one answer of a person releases all keys that a node needs.
///
/// A value, so that it can be tried on a machine that has no sensor. It bounds how long an answer counts: a launch with its
/// reads, and the return to an app that was left for a moment.
package struct AnswerWindow: Hashable, Sendable {
    /// The longest time for which an answer counts; Apple's systems allow 5 minutes.
    package static let duration = Duration.seconds(120)

    private var end: Duration?

    /// A window without an answer.
    package init() {}

    /// Whether an earlier answer counts at the monotonic time `now`.
    package func isOpen(at now: Duration) -> Bool { end.map { now < $0 } ?? false }

    /// Notes that the person answered at `now`.
    package mutating func open(at now: Duration) { end = now + Self.duration }

    /// Discards the answer.
    package mutating func close() { end = nil }
}
