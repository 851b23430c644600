internal import Bytes
internal import Identity
internal import RegistrationModel
internal import WebAuthn

// The outcomes of actions.
extension RegistrationFlow {
    mutating func apply(_ outcome: Outcome, of attempt: UInt64) -> [Effect] {
        guard isBusy, attempt == self.attempt else { return applyLate(outcome) }
        let contact = setOffline(isOffline(after: outcome))
        return contact + next(after: outcome)
    }

    /// Takes an outcome that the flow no longer waits for: only the account of this person counts.
    private mutating func applyLate(_ outcome: Outcome) -> [Effect] {
        switch outcome {
        case .signedIn(let signedIn), .ceremonyProgressed(.signedIn(let signedIn)):
            guard let registrant, isAccount(signedIn.account, of: registrant) else { return [.revoke(signedIn.token)] }
            return [.abandon(notice)] + take(signedIn)
        case .didKey, .creationOptions, .passkeyCreated, .requestOptions, .assertion, .ceremonyBegan,
            .ceremonyProgressed, .resolved, .tokenStored, .profileStored, .failed:
            return []
        }
    }

    /// Whether no server was found; outcomes without a request leave it as it was.
    private func isOffline(after outcome: Outcome) -> Bool {
        switch outcome {
        case .creationOptions, .requestOptions, .ceremonyBegan, .ceremonyProgressed, .signedIn, .resolved: false
        case .failed(.service(let error)): error.isOffline
        case .didKey, .passkeyCreated, .assertion, .tokenStored, .profileStored, .failed: isOffline
        }
    }

    private mutating func next(after outcome: Outcome) -> [Effect] {
        switch outcome {
        case .didKey(let did): takeDIDKey(did)
        case .creationOptions(let options): take(options)
        case .passkeyCreated(let response): post(response)
        case .requestOptions(let options): take(options)
        case .assertion(let response): post(response)
        case .ceremonyBegan(let notice): show(notice)
        case .ceremonyProgressed(let progress): take(progress)
        case .signedIn(let signedIn): check(signedIn)
        case .resolved(let owner): settle(owner)
        case .tokenStored: noteTokenStored()
        case .profileStored: noteProfileStored()
        case .failed(let problem): fail(problem)
        }
    }

    // MARK: Registration

    private mutating func takeDIDKey(_ did: DIDKey) -> [Effect] {
        guard case .key(let candidate) = state else { return [] }
        // The key of another DID, which an earlier registration may have, cannot take its place.
        if let former = self.did, former != did {
            self.did = nil
            return returnToHandle(candidate.handle, because: .otherKey(former))
        }
        (self.did, replacedDID) = (did, nil)
        return move(to: .passkey(Registrant(candidate: candidate, did: did), .options))
    }

    private mutating func take(_ options: CredentialCreationOptions) -> [Effect] {
        guard case .passkey(let registrant, .options) = state else { return [] }
        guard options.rp.id == plan.relyingPartyId else { return stop(.otherRelyingParty(options.rp.id)) }
        switch plan.means {
        case .device:
            state = .passkey(registrant, .creation(options))
            return begin(.createPasskey(options))
        case .page:
            isPosted = true
            state = .passkey(registrant, .beginning)
            return [.save] + begin(.beginRegistration(registrant, options))
        }
    }

    private mutating func post(_ response: RegistrationResponse) -> [Effect] {
        guard case .passkey(let registrant, .creation(let options)) = state else { return [] }
        isPosted = true
        state = .passkey(registrant, .posting)
        return [.save] + begin(.register(response, registrant, options))
    }

    private mutating func settle(_ owner: String?) -> [Effect] {
        guard case .confirmation(let registrant, let doubt) = state else { return [] }
        let isOwn = owner == registrant.did.description
        switch (doubt, owner) {
        case (_, .some) where isOwn: return move(to: .signIn(.registrant(registrant), .options))
        // It never arrived. If it does after all, the server has the DID and refuses a second account.
        case (.lostAnswer(nil), nil): return move(to: .passkey(registrant, .options))
        case (.lostAnswer(.some(let reason)), nil):
            state = .passkey(registrant, .options)
            return stop(reason)
        // The names of the servers differ for a while after a registration.
        case (.handleTaken, nil) where isPosted: return move(to: .signIn(.registrant(registrant), .options))
        case (.handleTaken, _), (.lostAnswer, .some):
            let handle = registrant.handle
            return returnToHandle(handle, because: .handleTaken(handle.qualified(by: plan.domain)))
        case (.didTaken, _):
            isPosted = false
            state = .passkey(registrant, .options)
            return [.save] + stop(.didTaken(registrant.did))
        }
    }

    // MARK: Sign-in

    private mutating func take(_ options: CredentialRequestOptions) -> [Effect] {
        guard case .signIn(let target, .options) = state else { return [] }
        guard options.rpId == plan.relyingPartyId else { return stop(.otherRelyingParty(options.rpId)) }
        state = .signIn(target, .assertion(options))
        return begin(.getAssertion(options))
    }

    private mutating func post(_ response: AuthenticationResponse) -> [Effect] {
        guard case .signIn(let target, .assertion) = state else { return [] }
        state = .signIn(target, .posting)
        return begin(.authenticate(response))
    }

    // MARK: Pages

    private mutating func show(_ notice: CeremonyNotice) -> [Effect] {
        switch state {
        case .passkey(let registrant, .beginning): state = .passkey(registrant, .page(notice))
        case .signIn(let target, .beginning): state = .signIn(target, .page(notice))
        case .passkey, .signIn, .agreement, .handle, .key, .confirmation, .token, .profile, .done: return []
        }
        return proceed()
    }

    private mutating func take(_ progress: CeremonyProgress) -> [Effect] {
        guard let notice else { return [] }
        switch progress {
        case .waiting: return poll(notice)
        case .signedIn(let signedIn): return check(signedIn)
        case .failed(let code, let message):
            return endPage() + fail(.service(.refused(by: code, message: message, status: 403)))
        }
    }

    /// Returns from the page to the beginning of the ceremony.
    private mutating func endPage() -> [Effect] {
        switch state {
        case .passkey(let registrant, .page): state = .passkey(registrant, .posting)
        case .signIn(let target, .page): state = .signIn(target, .posting)
        case .passkey, .signIn, .agreement, .handle, .key, .confirmation, .token, .profile, .done: break
        }
        return []
    }

    // MARK: The account

    /// Takes an account only if it is the one that this person asked for.
    private mutating func check(_ signedIn: SignedIn) -> [Effect] {
        let isWanted: Bool
        switch state {
        case .passkey(let registrant, .posting), .passkey(let registrant, .page),
            .signIn(.registrant(let registrant), _):
            isWanted = isAccount(signedIn.account, of: registrant)
        case .signIn(.account(let handle), _):
            isWanted = handle.map { signedIn.account.handle == $0.qualified(by: plan.domain) } ?? true
        case .passkey, .confirmation, .agreement, .handle, .key, .token, .profile, .done:
            isWanted = false
        }
        guard isWanted else {
            let effects: [Effect] = [.revoke(signedIn.token)] + endPage()
            return effects + stop(.otherAccount(signedIn.account.handle))
        }
        return take(signedIn)
    }

    private func isAccount(_ account: ArkavoCredentials, of registrant: Registrant) -> Bool {
        account.did == registrant.did && account.handle == registrant.handle.qualified(by: plan.domain)
    }

    private mutating func take(_ signedIn: SignedIn) -> [Effect] {
        state = .token(signedIn)
        return begin(.store(signedIn))
    }

    private mutating func noteTokenStored() -> [Effect] {
        guard case .token(let signedIn) = state else { return [] }
        isPosted = false
        return move(to: .profile(signedIn.account))
    }

    private mutating func noteProfileStored() -> [Effect] {
        guard case .profile(let account) = state else { return [] }
        return move(to: .done(account))
    }

    // MARK: Failures

    private mutating func fail(_ problem: RegistrationProblem) -> [Effect] {
        switch state {
        case .passkey(let registrant, let phase): return fail(problem, registrant, phase)
        case .signIn(let target, .page):
            // The server no longer has the ceremony.
            if problem.endsPage { state = .signIn(target, .options) }
            return stop(problem)
        case .signIn(let target, _):
            state = .signIn(target, .options)
            return stop(problem)
        case .key, .confirmation, .token, .profile, .agreement, .handle, .done:
            return stop(problem)
        }
    }

    private mutating func fail(
        _ problem: RegistrationProblem,
        _ registrant: Registrant,
        _ phase: PasskeyPhase
    ) -> [Effect] {
        guard case .service(let error) = problem else {
            // Nothing was sent, so the step begins again.
            if case .creation = phase { state = .passkey(registrant, .options) }
            return stop(problem)
        }
        switch (error.refusalCode, phase) {
        case ("handle-taken", _): return confirm(registrant, .handleTaken)
        case ("did-taken", _):
            // An account that this device may have made has the DID that this device alone has.
            return isPosted ? move(to: .signIn(.registrant(registrant), .options)) : confirm(registrant, .didTaken)
        case ("bad-handle", _), ("handle-reserved", _): return returnToHandle(registrant.handle, because: problem)
        case (.some, .options), (nil, .options), (.some, .creation), (nil, .creation): return stop(problem)
        // A proxy may have sent the response twice.
        case ("challenge-used", .posting), ("account-exists", .posting), ("credential-taken", .posting):
            return confirm(registrant, .lostAnswer(problem))
        case (.some, .posting), (.some, .beginning):
            isPosted = false
            state = .passkey(registrant, .options)
            return [.save] + stop(problem)
        // The ceremony ended, perhaps with an account whose token was lost on its way.
        case (.some, .page), (nil, .posting), (nil, .beginning): return confirm(registrant, .lostAnswer(problem))
        // The page is unaffected.
        case (nil, .page): return stop(problem)
        }
    }
}

extension RegistrationProblem {
    /// Whether the ceremony on the page has ended.
    fileprivate var endsPage: Bool {
        guard case .service(let error) = self else { return false }
        return error.refusalCode != nil
    }
}
