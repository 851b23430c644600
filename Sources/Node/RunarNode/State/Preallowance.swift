#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

/// What an invitation gives without a question.
struct Preallowance: Sendable {
    let expiration: Date?
    let label: String?
    /// When nobody can come with the invitation any more, in seconds since 1970.
    let until: UInt64
}
