package import Identity
package import RegistrationModel
package import WebAuthn

/// The step of a registration with all that was reached.
package enum RegistrationState: Equatable, Sendable {
    /// The person reads the agreement. Can transition to `handle`, to `signIn` if the person has an account, or to the step
    /// at which an earlier process ended.
    case agreement
    /// The person chooses a handle. Can transition to `key`, or to `signIn`.
    case handle(HandleEntry)
    /// The key of the DID is read or made. Can transition to `passkey`, `handle` or `signIn`.
    case key(Candidate)
    /// The passkey is made and registered. Can transition to `token`; to `confirmation` if the answer was lost or the names
    /// are taken; to `signIn`, `handle`, or to `key` for a new DID.
    case passkey(Registrant, PasskeyPhase)
    /// The handle is resolved to find the owner. Can transition to `signIn` if that is this person, to `passkey` if the
    /// registration never arrived, or to `handle` if it is another person.
    case confirmation(Registrant, Doubt)
    /// The person signs in. Can transition to `token`, `handle` or `key`.
    case signIn(SignInTarget, SignInPhase)
    /// The token is stored. Can transition to `profile`.
    case token(SignedIn)
    /// The profile, the account and the streams are made. Can transition to `done`.
    case profile(ArkavoCredentials)
    /// Everything is stored. Can transition to `signIn` when the token has expired.
    case done(ArkavoCredentials)
}

/// A handle that a person types.
package struct HandleEntry: Hashable, Sendable {
    /// The text as it was typed.
    package var text: String
    /// The handle, or nil if the text breaks a rule.
    package var handle: Handle?
    /// The result of the last check of ``handle``, or nil while there is none.
    package var availability: HandleAvailability?

    package init(text: String = "", handle: Handle? = nil, availability: HandleAvailability? = nil) {
        self.text = text
        self.handle = handle
        self.availability = availability
    }
}

/// The names that a person chose.
package struct Candidate: Hashable, Sendable {
    package let handle: Handle
    /// The name for the profile, or nil for that of the present profile or the handle.
    package let displayName: String?

    package init(handle: Handle, displayName: String?) {
        self.handle = handle
        self.displayName = displayName
    }
}

/// The names of an account that is being registered.
package struct Registrant: Hashable, Sendable {
    package let candidate: Candidate
    package let did: DIDKey

    package init(candidate: Candidate, did: DIDKey) {
        self.candidate = candidate
        self.did = did
    }

    package var handle: Handle { candidate.handle }
}

/// The part of a registration that is in progress.
package enum PasskeyPhase: Equatable, Sendable {
    /// The challenge is fetched. Can transition to `creation` or `page`.
    case options
    /// The authenticator makes the passkey. Can transition to `posting`.
    case creation(CredentialCreationOptions)
    /// The response is sent. The server may have the account from here on.
    case posting
    /// A ceremony is begun on a page. The server may have the account from here on. Can transition to `page`.
    case beginning
    /// The person uses the page.
    case page(CeremonyNotice)
}

/// The reason to resolve a handle in the middle of a registration.
package enum Doubt: Hashable, Sendable {
    /// The answer to the registration was lost. If no account has the handle, the registration begins again, or stops for the
    /// reason of the loss.
    case lostAnswer(RegistrationProblem?)
    /// The server has the handle.
    case handleTaken
    /// The server has the DID.
    case didTaken
}

/// The account that a sign-in must lead to.
package enum SignInTarget: Hashable, Sendable {
    /// The account whose registration was not confirmed.
    case registrant(Registrant)
    /// The account with a handle, or any account.
    case account(Handle?)

    package var handle: Handle? {
        switch self {
        case .registrant(let registrant): registrant.handle
        case .account(let handle): handle
        }
    }
}

/// The part of a sign-in that is in progress.
package enum SignInPhase: Equatable, Sendable {
    /// The challenge is fetched. Can transition to `assertion`.
    case options
    /// The authenticator signs. Can transition to `posting`.
    case assertion(CredentialRequestOptions)
    /// The response is sent.
    case posting
    /// A ceremony is begun on a page. Can transition to `page`.
    case beginning
    /// The person uses the page.
    case page(CeremonyNotice)
}
