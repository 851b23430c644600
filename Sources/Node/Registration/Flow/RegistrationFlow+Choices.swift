internal import CircleModel
internal import Essentials
internal import Identity
internal import RegistrationModel

// The choices of the person.
extension RegistrationFlow {
    mutating func apply(_ choice: Choice, at now: UInt64) -> [Effect] {
        switch choice {
        case .agreement(let version, let isChecked): accept(version, isChecked, at: now)
        case .typedHandle(let text): type(text)
        case .submittedHandle(let text, let displayName): submit(text, displayName)
        case .signIn(let text): chooseSignIn(text)
        case .changeHandle: changeHandle()
        case .renewDID: renewDID()
        case .cancel: cancel()
        case .reconnect: reconnect()
        }
    }

    /// Records the acceptance; without it no other step begins.
    private mutating func accept(_ version: String, _ isChecked: Bool, at now: UInt64) -> [Effect] {
        guard case .agreement = state else { return [] }
        guard version == plan.agreement.version else { return stop(.agreementChanged(version: plan.agreement.version)) }
        guard isChecked else { return stop(.agreementNotAccepted) }
        acceptance = Agreement.Acceptance(version: version, seconds: now)
        let next = continuation ?? plan.firstStep
        continuation = nil
        return move(to: next)
    }

    // MARK: The handle

    private mutating func type(_ text: String) -> [Effect] {
        guard case .handle = state else { return [] }
        do {
            let handle = try Handle(text)
            (state, problem) = (.handle(HandleEntry(text: text, handle: handle)), nil)
            return [.check(handle.qualified(by: plan.domain))]
        } catch {
            state = .handle(HandleEntry(text: text))
            return stop(.handle(error))
        }
    }

    mutating func noteCheck(of handle: QualifiedHandle, _ availability: HandleAvailability) -> [Effect] {
        guard case .handle(var entry) = state, entry.handle?.qualified(by: plan.domain) == handle else { return [] }
        entry.availability = availability
        state = .handle(entry)
        problem = refusal(of: entry)
        return []
    }

    /// The reason why a checked handle cannot be submitted; an unknown result is none.
    private func refusal(of entry: HandleEntry) -> RegistrationProblem? {
        switch entry.availability {
        case .taken: entry.handle.map { .handleTaken($0.qualified(by: plan.domain)) }
        case .invalid(let reason): .service(.refused(by: "bad-handle", message: reason, status: 400))
        case .available, .unknown, nil: nil
        }
    }

    private mutating func submit(_ text: String, _ displayName: String?) -> [Effect] {
        guard case .handle(let entry) = state else { return [] }
        let handle: Handle
        do { handle = try Handle(text) } catch {
            state = .handle(HandleEntry(text: text))
            return stop(.handle(error))
        }
        let typed = entry.handle == handle ? entry : HandleEntry(text: text, handle: handle)
        state = .handle(typed)
        if let refusal = refusal(of: typed) { return stop(refusal) }
        let name = displayName.flatMap { $0.isEmpty ? nil : $0 }
        if let name {
            do { try Profile(id: UUID(version8: []), name: name).check() } catch { return stop(.name(error)) }
        }
        self.displayName = name
        return move(to: .key(Candidate(handle: handle, displayName: name)))
    }

    /// Returns to the choice of a handle, unless an account exists already.
    private mutating func changeHandle() -> [Effect] {
        switch state {
        case .key(let candidate): return returnToHandle(candidate.handle)
        case .passkey(let registrant, _), .confirmation(let registrant, _), .signIn(.registrant(let registrant), _):
            return returnToHandle(registrant.handle)
        case .signIn(.account(let handle), _): return returnToHandle(handle)
        case .agreement, .handle, .token, .profile, .done: return []
        }
    }

    /// Moves to the choice of a handle with the former one, and stops there if there is a reason.
    mutating func returnToHandle(_ handle: Handle?, because reason: RegistrationProblem? = nil) -> [Effect] {
        let abandoned = abandonment()
        isPosted = false
        let availability: HandleAvailability?
        if case .handleTaken = reason { availability = .taken } else { availability = nil }
        let entry = HandleEntry(text: handle?.text ?? "", handle: handle, availability: availability)
        let effects = abandoned + move(to: .handle(entry))
        problem = reason
        return effects
    }

    // MARK: Other ways

    private mutating func chooseSignIn(_ text: String?) -> [Effect] {
        switch state {
        case .handle, .key, .passkey, .confirmation, .signIn, .done: break
        case .agreement: return stop(.agreementNotAccepted)
        case .token, .profile: return []
        }
        let handle: Handle?
        do { handle = try readHandle(text ?? "") } catch { return isBusy ? [] : stop(error) }
        return abandonment() + move(to: .signIn(.account(handle), .options))
    }

    /// Returns the handle of a text with or without the domain of the operator; nil for an empty text.
    private func readHandle(_ text: String) throws(RegistrationProblem) -> Handle? {
        guard !text.isEmpty else { return nil }
        if text.contains(".") {
            let full = try? QualifiedHandle(text)  // nil: a text of another form, which the problem shows
            guard let handle = full.flatMap({ plan.domain.handle(of: $0) }) else { throw .otherDomain(text) }
            return handle
        }
        do { return try Handle(existing: text) } catch { throw .handle(error) }
    }

    /// Makes a new DID for the same handle.
    private mutating func renewDID() -> [Effect] {
        guard !isBusy, let registrant else { return [] }
        replacedDID = registrant.did
        (did, isPosted) = (nil, false)
        return move(to: .key(registrant.candidate))
    }

    private mutating func cancel() -> [Effect] {
        guard isBusy else { return [] }
        switch state {
        // Storing is not interrupted.
        case .token, .profile: return []
        case .agreement, .handle, .key, .passkey, .confirmation, .signIn, .done: break
        }
        let effects = abandonment()
        // The server may have taken the registration meanwhile.
        if let registrant, isPosted, case .passkey = state { state = .confirmation(registrant, .lostAnswer(nil)) }
        if case .signIn(let target, _) = state { state = .signIn(target, .options) }
        switch state {
        case .passkey, .signIn: problem = .passkey(.cancelled)
        case .agreement, .handle, .key, .confirmation, .token, .profile, .done: problem = nil
        }
        return effects
    }

    private mutating func reconnect() -> [Effect] {
        guard !isBusy else { return [] }
        if case .passkey(let registrant, let phase) = state, isPosted {
            switch phase {
            case .page: break
            case .options, .creation, .posting, .beginning: return confirm(registrant, .lostAnswer(nil))
            }
        }
        return proceed()
    }

    /// Ends the action in progress; a late outcome of it counts only if it is the account of this person.
    private mutating func abandonment() -> [Effect] {
        guard isBusy || notice != nil else { return [] }
        attempt += 1
        isBusy = false
        return [.abandon(notice)]
    }
}

extension RegistrationPlan {
    /// The step after the agreement.
    var firstStep: RegistrationState {
        switch purpose {
        case .registration: .handle(HandleEntry())
        case .signIn(let handle): .signIn(.account(handle), .options)
        }
    }
}
