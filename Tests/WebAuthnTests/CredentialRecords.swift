internal import WebAuthn

extension NewCredential {
    /// The record to store for the account with this user handle.
    func record(userHandle: [UInt8]) -> CredentialRecord {
        CredentialRecord(
            id: id,
            userHandle: userHandle,
            publicKey: publicKey.encoded,
            signCount: signCount,
            isBackupEligible: isBackupEligible,
            isBackedUp: isBackedUp
        )
    }
}

extension CredentialRecord {
    /// The record after an authentication.
    func updated(by result: AssertionResult) -> CredentialRecord {
        CredentialRecord(
            id: id,
            userHandle: userHandle,
            publicKey: publicKey,
            signCount: result.signCount,
            isBackupEligible: result.isBackupEligible,
            isBackedUp: result.isBackedUp
        )
    }
}
