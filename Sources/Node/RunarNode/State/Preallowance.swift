internal import Essentials

/// The terms that an invitation gives without a question.
struct Preallowance: Sendable {
    let expiration: Date?
    let label: String?
    /// The time after which no joiner can use the invitation, in seconds since 1970.
    let until: UInt64
}
