package import Bytes
package import Identity
package import RegistrationModel
package import WebAuthn

extension RegistrationFlow {
    /// An event that the flow handles.
    package enum Input: Sendable {
        /// A choice of the person.
        case person(Choice)
        /// The result of a check of a handle; one of a former handle is ignored.
        case checked(QualifiedHandle, HandleAvailability)
        /// The result of the action with this number.
        case outcome(Outcome, attempt: UInt64)
        /// The snapshot was not stored, so the action after it did not begin.
        case saveFailed(reason: String)
    }

    /// A choice of the person.
    package enum Choice: Sendable {
        /// The agreement of a version, with the state of its checkbox.
        case agreement(version: String, isChecked: Bool)
        /// A change of the typed handle.
        case typedHandle(String)
        /// The typed handle, with a name for the profile.
        case submittedHandle(String, displayName: String?)
        /// To sign in to an account, whose handle may have its domain or be absent.
        case signIn(handle: String?)
        /// To choose another handle.
        case changeHandle
        /// To make a new DID, whose key replaces the stored one.
        case renewDID
        /// To stop the step in progress.
        case cancel
        /// To try the step again, also after a restart (the button "Try to Reconnect").
        case reconnect
    }

    /// The result of an ``Action``.
    package enum Outcome: Sendable {
        case didKey(DIDKey)
        case creationOptions(CredentialCreationOptions)
        case passkeyCreated(RegistrationResponse)
        case requestOptions(CredentialRequestOptions)
        case assertion(AuthenticationResponse)
        case ceremonyBegan(CeremonyNotice)
        case ceremonyProgressed(CeremonyProgress)
        case signedIn(SignedIn)
        /// The DID of the handle, or nil if no account has the handle.
        case resolved(String?)
        case tokenStored
        case profileStored
        case failed(RegistrationProblem)
    }

    /// An action for the driver, in order.
    package enum Effect: Equatable, Sendable {
        /// Store ``RegistrationFlow/snapshot`` durably. If that fails, the effects after it are dropped.
        case save
        /// Check whether a handle is free.
        case check(QualifiedHandle)
        /// Perform an action, and return its outcome with the number.
        case perform(Action, attempt: UInt64)
        /// End the action in progress: close the dialog, and cancel a ceremony.
        case abandon(CeremonyNotice?)
        /// Revoke a token of an account that this person did not ask for.
        case revoke(SecretBytes)
        /// Set ``SharedState/isOfflineMode``.
        case setOffline(Bool)
        /// Make a profile with this name, unless one exists.
        case makeLocalProfile(name: String)
    }

    /// An action with one outcome.
    package enum Action: Equatable, Sendable {
        /// Return the DID of this device, making its key if it is missing or to be replaced.
        case provideDIDKey(replacing: DIDKey?)
        case fetchCreationOptions(Registrant)
        case createPasskey(CredentialCreationOptions)
        /// Register the passkey, with the proof of the DID for the challenge of the options.
        case register(RegistrationResponse, Registrant, CredentialCreationOptions)
        /// Begin a registration on a page, with the proof of the DID for the challenge of the options.
        case beginRegistration(Registrant, CredentialCreationOptions)
        /// Begin a sign-in on a page.
        case beginSignIn(Handle?)
        case poll(CeremonyNotice)
        case resolve(QualifiedHandle)
        case fetchRequestOptions(Handle?)
        case getAssertion(CredentialRequestOptions)
        case authenticate(AuthenticationResponse)
        /// Store the token and the names of the account.
        case store(SignedIn)
        /// Put the names on the profile, and ensure that account and streams exist.
        case setProfile(ProfileNames)
    }
}

/// The names for the profile of a registered person.
package struct ProfileNames: Hashable, Sendable {
    package let account: ArkavoCredentials
    /// The name that the person chose, or nil for that of the present profile.
    package let displayName: String?
    /// The generated name, which the first label of the handle replaces.
    package let localName: String

    package init(account: ArkavoCredentials, displayName: String?, localName: String) {
        self.account = account
        self.displayName = displayName
        self.localName = localName
    }
}
