extension RelyingParty {
    /// Verifies the response to a registration by the steps of section 7.1, in their order.
    ///
    /// The caller has found `challenge` as one that it issued for this account and that no ceremony used, and refuses the
    /// result if any account has a credential of its id. Outputs of extensions are ignored.
    package func verify(
        _ response: RegistrationResponse,
        challenge: [UInt8]
    ) throws(WebAuthnError) -> NewCredential {
        try checkCredential(of: response)
        try checkClientData(response.clientDataJSON, of: .create, challenge: challenge)
        let object = try AttestationObject(response.attestationObject)
        let data = object.authenticatorData
        try checkAuthenticatorData(data)
        guard let credential = data.attestedCredential else { throw .noAttestedCredential }
        let algorithm = credential.publicKey.algorithm
        guard algorithms.contains(algorithm) else { throw .algorithmNotOffered(algorithm.rawValue) }
        let attestation = try AttestationVerifier(
            object: object,
            credential: credential,
            signedBytes: Self.signedBytes(
                authenticatorData: object.authenticatorDataBytes,
                clientDataJSON: response.clientDataJSON
            )
        ).verify()
        guard credential.id == response.rawId else { throw .credentialIdMismatch }
        return NewCredential(
            id: credential.id,
            publicKey: credential.publicKey,
            signCount: data.signCount,
            isBackupEligible: data.flags.contains(.backupEligible),
            isBackedUp: data.flags.contains(.backedUp),
            aaguid: credential.aaguid,
            transports: response.transports,
            attestation: attestation,
            isUserVerified: data.flags.contains(.userVerified),
            isDiscoverable: response.isDiscoverable
        )
    }
}
