package import WebAuthn

/// A client of WebAuthn that makes and uses passkeys: the system's on Apple systems, or a program's own in tests.
///
/// It checks that the relying party of the options may be served from here, as the system does for an app with associated
/// domains. Calls wait for the person, and end with ``PasskeyError/cancelled`` after ``cancel()``.
package protocol PasskeyAuthenticator: Sendable {
    /// Makes a passkey.
    func create(_ options: CredentialCreationOptions) async throws(PasskeyError) -> RegistrationResponse

    /// Signs with a passkey that the person chooses among those that are allowed.
    func get(_ options: CredentialRequestOptions) async throws(PasskeyError) -> AuthenticationResponse

    /// Closes the dialog, so that the call in progress ends with ``PasskeyError/cancelled``.
    func cancel()
}

/// A device without passkeys: a command, whose ceremonies run on a page instead.
package struct NoAuthenticator: PasskeyAuthenticator {
    package init() {}

    package func create(_ options: CredentialCreationOptions) async throws(PasskeyError) -> RegistrationResponse {
        throw .unsupported
    }

    package func get(_ options: CredentialRequestOptions) async throws(PasskeyError) -> AuthenticationResponse {
        throw .unsupported
    }

    package func cancel() {}
}
