/// The stored part of a credential that an authentication is verified with.
package struct CredentialRecord: Hashable, Sendable {
    package let id: [UInt8]
    /// The user handle of the account, 1 to 64 bytes.
    package let userHandle: [UInt8]
    /// The public key in COSE.
    package let publicKey: [UInt8]
    package let signCount: UInt32
    package let isBackupEligible: Bool
    package let isBackedUp: Bool

    package init(
        id: [UInt8],
        userHandle: [UInt8],
        publicKey: [UInt8],
        signCount: UInt32,
        isBackupEligible: Bool,
        isBackedUp: Bool
    ) {
        self.id = id
        self.userHandle = userHandle
        self.publicKey = publicKey
        self.signCount = signCount
        self.isBackupEligible = isBackupEligible
        self.isBackedUp = isBackedUp
    }
}
