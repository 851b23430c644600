public import Failures

/// An event that is longer than any may be.
public struct EventTooLarge: Error, CodedError, Hashable, Sendable, CustomStringConvertible {
    /// In bytes.
    public let limit: Int
    /// In bytes.
    public let found: Int

    /// The size of the event and the limit, with a remedy.
    public var description: String {
        "an event has at most \(limit) bytes, this one has \(found): store it and publish where it is"
    }

    package var failureCode: FailureCode { FailureCode("too-large", .tooLarge, .data) }
}
