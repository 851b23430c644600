extension RelyingParty {
    /// Verifies the response to an authentication by the steps of section 7.2, in their order.
    ///
    /// The caller has found `challenge` as one that it issued and that no ceremony used, and `credential` by the id of the
    /// response. It stores the result with a condition on the counter, so that two responses cannot use the same one.
    ///
    /// `allowedIds` are the ids in the options; if it is empty, every credential is allowed. `requiresUserHandle` is true
    /// if the server has not identified the account by other means, such as a name.
    package func verify(
        _ response: AuthenticationResponse,
        challenge: [UInt8],
        for credential: CredentialRecord,
        allowedIds: [[UInt8]] = [],
        requiresUserHandle: Bool = false
    ) throws(WebAuthnError) -> AssertionResult {
        try checkCredential(of: response)
        guard response.rawId == credential.id, allowedIds.isEmpty || allowedIds.contains(response.rawId) else {
            throw .credentialNotAllowed
        }
        if let userHandle = response.userHandle {
            guard userHandle == credential.userHandle else { throw .userHandleMismatch }
        } else if requiresUserHandle {
            throw .userHandleMissing
        }
        try checkClientData(response.clientDataJSON, of: .get, challenge: challenge)
        let data = try AuthenticatorData(response.authenticatorData)
        try checkAuthenticatorData(data)
        try checkBackupEligibility(data.flags.contains(.backupEligible), stored: credential.isBackupEligible)
        let signedBytes = Self.signedBytes(
            authenticatorData: response.authenticatorData,
            clientDataJSON: response.clientDataJSON
        )
        guard try COSEKey(credential.publicKey).isValidSignature(response.signature, for: signedBytes) else {
            throw .badSignature
        }
        // An authenticator without a counter always sends 0.
        guard data.signCount > credential.signCount || (data.signCount == 0 && credential.signCount == 0) else {
            throw .counterDidNotIncrease(stored: credential.signCount, received: data.signCount)
        }
        return AssertionResult(
            signCount: data.signCount,
            isBackupEligible: data.flags.contains(.backupEligible),
            isBackedUp: data.flags.contains(.backedUp),
            isUserVerified: data.flags.contains(.userVerified)
        )
    }

    private func checkBackupEligibility(_ isEligible: Bool, stored wasEligible: Bool) throws(WebAuthnError) {
        guard isEligible != wasEligible else { return }
        guard isEligible, allowsBackupEligibilityUpgrade else {
            throw .backupEligibilityChanged(isEligible: isEligible)
        }
    }
}
