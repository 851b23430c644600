// The bodies of requests for the account at an identity server.

/// The server to ask for its agreement.
package struct IdentityServerQuery: Codable, Sendable {
    /// The URL of the server; absent for the one of the settings.
    package let server: String?

    package init(server: String?) {
        self.server = server
    }
}

/// The names of a new account.
package struct RegisterAccountForm: Codable, Sendable {
    /// The handle without its domain.
    package let handle: String
    /// The name on the profile; absent for that of the present profile or the handle.
    package let name: String?
    /// The version of the agreement that the person accepts.
    package let agreement: String?
    /// The URL of the server; absent for the one of the settings.
    package let server: String?

    package init(handle: String, name: String?, agreement: String?, server: String?) {
        self.handle = handle
        self.name = name
        self.agreement = agreement
        self.server = server
    }
}

/// The account to sign in to.
package struct LoginForm: Codable, Sendable {
    /// The handle with or without its domain; absent for the account of the passkey that the person chooses.
    package let handle: String?
    /// The version of the agreement that the person accepts.
    package let agreement: String?
    /// The URL of the server; absent for the one of the settings.
    package let server: String?

    package init(handle: String?, agreement: String?, server: String?) {
        self.handle = handle
        self.agreement = agreement
        self.server = server
    }
}

/// The continuation of a registration.
package struct ReconnectForm: Codable, Sendable {
    /// The version of the agreement that the person accepts.
    package let agreement: String?

    package init(agreement: String?) {
        self.agreement = agreement
    }
}

/// The end of a session.
package struct LogoutForm: Codable, Sendable {
    /// Whether all sessions of the account end.
    package let everywhere: Bool?

    package init(everywhere: Bool) {
        self.everywhere = everywhere
    }
}

/// The removal of the account from this device.
package struct ForgetAccountForm: Codable, Sendable {
    /// Whether the key of the DID is removed too.
    package let key: Bool
    /// Whether the server is not asked if the account was deleted there.
    package let local: Bool

    package init(key: Bool, local: Bool) {
        self.key = key
        self.local = local
    }
}
