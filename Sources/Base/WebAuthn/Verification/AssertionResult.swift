/// The verified result of an authentication, which replaces the fields of the record.
package struct AssertionResult: Hashable, Sendable {
    package let signCount: UInt32
    package let isBackupEligible: Bool
    package let isBackedUp: Bool
    /// Whether the authenticator verified the person.
    package let isUserVerified: Bool
}
