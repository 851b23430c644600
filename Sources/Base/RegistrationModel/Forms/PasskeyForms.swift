package import WebAuthn

/// A passkey of an account.
package struct PasskeyReport: Codable, Hashable, Sendable {
    package let id: CredentialId
    /// The name that its owner gave it.
    package let label: String
    /// The second since 1970 of its registration.
    package let created: UInt64
    /// The second since 1970 of the last sign-in with it.
    package let lastUsed: UInt64?
    /// The ways in which a client can reach its authenticator.
    package let transports: [String]
    /// Whether a copy of it exists outside its authenticator.
    package let isBackedUp: Bool
    /// Whether its authenticator can copy it to other devices.
    package let isBackupEligible: Bool
    /// The model of its authenticator: a UUID of zeros if that is withheld.
    package let aaguid: UniqueId

    package init(
        id: CredentialId,
        label: String,
        created: UInt64,
        lastUsed: UInt64?,
        transports: [String],
        isBackedUp: Bool,
        isBackupEligible: Bool,
        aaguid: UniqueId
    ) {
        self.id = id
        self.label = label
        self.created = created
        self.lastUsed = lastUsed
        self.transports = transports
        self.isBackedUp = isBackedUp
        self.isBackupEligible = isBackupEligible
        self.aaguid = aaguid
    }
}

/// The passkeys of an account, the oldest first.
package struct PasskeysReport: Codable, Hashable, Sendable {
    package let passkeys: [PasskeyReport]

    package init(passkeys: [PasskeyReport]) {
        self.passkeys = passkeys
    }
}

/// The form that removes a passkey, with a new assertion by any passkey of the account.
package struct RemovePasskeyForm: Codable, Hashable, Sendable {
    package let id: CredentialId
    package let assertion: AuthenticationResponse

    package init(id: CredentialId, assertion: AuthenticationResponse) {
        self.id = id
        self.assertion = assertion
    }
}

/// The form that deletes the account, with a new assertion by any of its passkeys.
package struct DeleteAccountForm: Codable, Hashable, Sendable {
    package let assertion: AuthenticationResponse

    package init(assertion: AuthenticationResponse) {
        self.assertion = assertion
    }
}
