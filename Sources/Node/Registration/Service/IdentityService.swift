package import Bytes
package import Identity
package import RegistrationModel
package import WebAuthn

/// The calls of an identity server that a client makes, each of which may wait for the network.
package protocol IdentityService: Sendable {
    // MARK: Handles

    /// Returns the DID of a handle, or nil if the server answered with the status 404, so that no account has it.
    func resolve(_ handle: QualifiedHandle) async throws(IdentityServiceError) -> String?

    // MARK: Registration and sign-in

    /// Returns the options of a registration.
    func creationOptions(handle: Handle, did: DIDKey) async throws(IdentityServiceError) -> CredentialCreationOptions

    /// Creates the account. Unless ``IdentityServiceError/isRefusal`` is true, the account may exist after an error.
    func register(_ form: RegisterForm) async throws(IdentityServiceError) -> SignedIn

    /// Returns the options of a sign-in with a handle, or with any passkey.
    func requestOptions(handle: Handle?) async throws(IdentityServiceError) -> CredentialRequestOptions

    /// Signs in.
    func authenticate(_ form: AuthenticateForm) async throws(IdentityServiceError) -> SignedIn

    // MARK: Ceremonies on a page

    /// Begins a ceremony.
    func beginCeremony(_ form: BeginCeremonyForm) async throws(IdentityServiceError) -> CeremonyNotice

    /// Waits for a change of a ceremony, for less than half a minute.
    func poll(_ ceremony: CeremonyNotice) async throws(IdentityServiceError) -> CeremonyProgress

    /// Ends a ceremony.
    func cancel(_ ceremony: CeremonyNotice) async throws(IdentityServiceError)

    // MARK: With a token

    /// Returns a new token of the same session.
    func refresh(_ token: SecretBytes) async throws(IdentityServiceError) -> SignedIn

    /// Ends the session of the token, or all sessions of the account.
    func revoke(_ token: SecretBytes, everywhere: Bool) async throws(IdentityServiceError)

    /// Returns the account.
    func account(_ token: SecretBytes) async throws(IdentityServiceError) -> AccountReport

    /// Returns the passkeys of the account.
    func passkeys(_ token: SecretBytes) async throws(IdentityServiceError) -> PasskeysReport

    /// Returns the options of the assertion that confirms an action.
    func confirmationOptions(
        for action: ConfirmedAction,
        _ token: SecretBytes
    ) async throws(IdentityServiceError) -> CredentialRequestOptions

    /// Returns the options of a further passkey, after an assertion for ``ConfirmedAction/add``.
    func passkeyOptions(
        _ assertion: AuthenticationResponse,
        _ token: SecretBytes
    ) async throws(IdentityServiceError) -> CredentialCreationOptions

    /// Adds a passkey with a name, and returns all.
    func addPasskey(
        _ response: RegistrationResponse,
        label: String?,
        _ token: SecretBytes
    ) async throws(IdentityServiceError) -> PasskeysReport

    /// Removes a passkey, and returns the others.
    func removePasskey(
        _ form: RemovePasskeyForm,
        _ token: SecretBytes
    ) async throws(IdentityServiceError) -> PasskeysReport

    /// Deletes the account.
    func deleteAccount(_ form: DeleteAccountForm, _ token: SecretBytes) async throws(IdentityServiceError)
}

/// An action that an assertion by a passkey of the account confirms.
package enum ConfirmedAction: String, CaseIterable, Sendable {
    /// A further passkey.
    case add
    /// The removal of a passkey.
    case remove
    /// The deletion of the account.
    case delete
}

extension IdentityService {
    /// Looks up whether a handle is free: available only after the status 404.
    package func availability(of handle: QualifiedHandle) async -> HandleAvailability {
        do {
            return try await resolve(handle) == nil ? .available : .taken
        } catch .refused(_, let message, 400) {
            return .invalid(reason: message)
        } catch {
            return .unknown(reason: "\(error)")
        }
    }
}

extension SignedIn {
    /// Takes over the report of a server.
    package init(_ report: SignedInReport) {
        self.init(
            account: ArkavoCredentials(handle: report.handle, did: report.did, userId: report.userId),
            token: SecretBytes(copying: Array(report.token.utf8)),
            expires: report.expires
        )
    }
}
