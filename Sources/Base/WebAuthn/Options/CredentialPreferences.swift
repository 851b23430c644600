/// Whether the authenticator verifies the person by PIN, fingerprint or face.
package enum UserVerification: String, Codable, Sendable {
    case required
    case preferred
    case discouraged
}

/// Whether the client passes on a statement about the authenticator's model.
package enum AttestationPreference: String, Codable, Sendable {
    case none
    case direct
}

/// The authenticators that may make a credential: those that store it, so that it signs in without a name.
package struct AuthenticatorSelection: Codable, Hashable, Sendable {
    package let residentKey: String
    /// Whether the credential must be stored, for clients of Level 1.
    package let requireResidentKey: Bool
    package let userVerification: UserVerification

    package init(userVerification: UserVerification) {
        residentKey = "required"
        requireResidentKey = true
        self.userVerification = userVerification
    }
}

/// The extensions that the server asks for.
package struct RequestedExtensions: Codable, Hashable, Sendable {
    /// Whether the client reports if the credential is discoverable.
    package let credProps: Bool
}
