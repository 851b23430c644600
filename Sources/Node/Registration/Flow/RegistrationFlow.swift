internal import Bytes
internal import CircleModel
internal import Essentials
internal import Identity
internal import RegistrationModel
internal import WebAuthn

/// The registration of a person at an identity server, or the sign-in, as a value without I/O.
///
/// It follows the steps of the Arkavo guide: agreement, handle, key of the DID, passkey, token, profile. A failure leaves
/// the step with its ``problem``, and ``Choice/reconnect`` tries it again. A ``RegistrationSnapshot`` restores the flow after
/// a restart, without any secret.
///
/// The answer to a registration can be lost. The flow then resolves the handle: the DID of this device means that the
/// account exists, and the person signs in. So one person never gets two accounts by trying again.
package struct RegistrationFlow: Sendable {
    /// The most polls of one page: a server holds each for up to 25 seconds, and a page lasts ten minutes.
    private static let pollLimit = 1_000

    /// The step.
    package internal(set) var state: RegistrationState
    /// The reason why the step stopped, or nil while it is in progress or waits for the person.
    package internal(set) var problem: RegistrationProblem?
    /// Whether an action is in progress.
    package internal(set) var isBusy = false
    /// Whether the last request found no server.
    package internal(set) var isOffline = false

    let plan: RegistrationPlan
    /// The name of the profile until the person has an account.
    let localName: String
    var acceptance: Agreement.Acceptance?
    /// The name that the person chose for the profile.
    var displayName: String?
    /// The DID with which an account was or will be registered here.
    var did: DIDKey?
    /// Whether the server may have an account of this flow that was not confirmed.
    var isPosted = false
    /// The step to continue with after a new version of the agreement is accepted.
    var continuation: RegistrationState?
    /// The number of the action in progress, or of the last one.
    var attempt: UInt64 = 0
    /// The number of polls of the page since the person's last choice.
    private var polls = 0
    /// The key that ``Choice/renewDID`` replaces.
    var replacedDID: DIDKey?

    /// Begins a flow; `localName` comes from ``LocalName/make(using:)``.
    package init(plan: RegistrationPlan, localName: String) {
        self.plan = plan
        self.localName = localName
        state = .agreement
    }

    /// Applies an input at the time `now`, in seconds since 1970, and returns the effects to perform in order.
    package mutating func handle(_ input: Input, at now: UInt64) -> [Effect] {
        switch input {
        case .person(let choice): apply(choice, at: now)
        case .checked(let handle, let availability): noteCheck(of: handle, availability)
        case .outcome(let outcome, let attempt): apply(outcome, of: attempt)
        case .saveFailed(let reason): stopUnsaved(reason)
        }
    }

    // MARK: Steps

    /// Begins an action.
    mutating func begin(_ action: Action) -> [Effect] {
        attempt += 1
        isBusy = true
        problem = nil
        return [.perform(action, attempt: attempt)]
    }

    /// Stops the step with its reason.
    mutating func stop(_ reason: RegistrationProblem) -> [Effect] {
        isBusy = false
        problem = reason
        return []
    }

    private mutating func stopUnsaved(_ reason: String) -> [Effect] {
        attempt += 1
        return stop(.notSaved(reason: reason))
    }

    /// Moves to a step, stores it, and begins it.
    mutating func move(to next: RegistrationState) -> [Effect] {
        state = next
        return [.save] + proceed()
    }

    /// Begins the present step from its start.
    ///
    /// A registration that may have arrived is confirmed before another one begins.
    mutating func proceed() -> [Effect] {
        switch state {
        case .agreement, .handle, .done:
            isBusy = false
            problem = nil
            return []
        case .key:
            return begin(.provideDIDKey(replacing: replacedDID))
        case .passkey(_, .page(let notice)), .signIn(_, .page(let notice)):
            polls = 0
            return poll(notice)
        case .passkey(let registrant, .options), .passkey(let registrant, .creation),
            .passkey(let registrant, .posting), .passkey(let registrant, .beginning):
            state = .passkey(registrant, .options)
            return begin(.fetchCreationOptions(registrant))
        case .confirmation(let registrant, _):
            return begin(.resolve(registrant.handle.qualified(by: plan.domain)))
        case .signIn(let target, .options), .signIn(let target, .assertion), .signIn(let target, .posting),
            .signIn(let target, .beginning):
            return beginSignIn(target)
        case .token(let signedIn):
            return begin(.store(signedIn))
        case .profile(let account):
            let names = ProfileNames(account: account, displayName: displayName, localName: localName)
            return begin(.setProfile(names))
        }
    }

    /// Waits for the person on the page, unless a server that does not wait makes that a loop.
    mutating func poll(_ notice: CeremonyNotice) -> [Effect] {
        polls += 1
        guard polls <= Self.pollLimit else { return stop(.service(.timedOut)) }
        return begin(.poll(notice))
    }

    private mutating func beginSignIn(_ target: SignInTarget) -> [Effect] {
        switch plan.means {
        case .device:
            state = .signIn(target, .options)
            return begin(.fetchRequestOptions(target.handle))
        case .page:
            state = .signIn(target, .beginning)
            return begin(.beginSignIn(target.handle))
        }
    }

    /// Resolves the handle of a registration to find out whose it is.
    mutating func confirm(_ registrant: Registrant, _ doubt: Doubt) -> [Effect] {
        move(to: .confirmation(registrant, doubt))
    }

    /// Notes whether the server is reachable, and returns the effects of a change.
    mutating func setOffline(_ isOffline: Bool) -> [Effect] {
        guard isOffline != self.isOffline else { return [] }
        self.isOffline = isOffline
        return [.setOffline(isOffline)] + (isOffline ? [.makeLocalProfile(name: localName)] : [])
    }

    /// The page of a ceremony in progress.
    var notice: CeremonyNotice? {
        switch state {
        case .passkey(_, .page(let notice)), .signIn(_, .page(let notice)): notice
        case .passkey, .signIn, .agreement, .handle, .key, .confirmation, .token, .profile, .done: nil
        }
    }

    /// The account that is being registered.
    var registrant: Registrant? {
        switch state {
        case .passkey(let registrant, _), .confirmation(let registrant, _), .signIn(.registrant(let registrant), _):
            registrant
        case .signIn(.account, _), .agreement, .handle, .key, .token, .profile, .done: nil
        }
    }
}
