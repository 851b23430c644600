internal import Identity
internal import RegistrationModel

// The stored form of the flow.
extension RegistrationFlow {
    /// The form to store.
    package var snapshot: RegistrationSnapshot {
        let handle: Handle?
        let step: RegistrationSnapshot.Step
        var account: ArkavoCredentials?
        switch state {
        case .agreement:
            guard let continuation else { return snapshot(.agreement, handle: nil) }
            // The acceptance is of a former version, so a later process asks again.
            var flow = self
            (flow.state, flow.continuation) = (continuation, nil)
            return flow.snapshot
        case .handle(let entry): (step, handle) = (.handle, entry.handle)
        case .key(let candidate): (step, handle) = (.key, candidate.handle)
        case .passkey(let registrant, _), .confirmation(let registrant, _), .signIn(.registrant(let registrant), _):
            (step, handle) = (.passkey, registrant.handle)
        case .signIn(.account(let target), _): (step, handle) = (.signIn, target)
        // The token is lost with the process: a sign-in brings another one.
        case .token(let signedIn): (step, handle) = (.signIn, plan.domain.handle(of: signedIn.account.handle))
        case .profile(let stored): (step, handle, account) = (.profile, nil, stored)
        case .done(let stored): (step, handle, account) = (.done, nil, stored)
        }
        return snapshot(step, handle: handle, account: account)
    }

    private func snapshot(
        _ step: RegistrationSnapshot.Step,
        handle: Handle?,
        account: ArkavoCredentials? = nil
    ) -> RegistrationSnapshot {
        RegistrationSnapshot(
            step: step,
            acceptance: acceptance,
            localName: localName,
            handle: handle,
            displayName: displayName,
            did: did,
            isPosted: isPosted,
            account: account
        )
    }

    /// Continues a stored flow; ``Choice/reconnect`` begins its step.
    ///
    /// A new version of the agreement is accepted first, unless the registration is complete.
    package init(plan: RegistrationPlan, snapshot: RegistrationSnapshot) {
        self.init(plan: plan, localName: snapshot.localName)
        acceptance = snapshot.acceptance
        displayName = snapshot.displayName
        did = snapshot.did
        isPosted = snapshot.isPosted
        let step = Self.state(of: snapshot, plan)
        if case .done = step {
            state = step
        } else if acceptance?.version == plan.agreement.version {
            state = step
        } else if snapshot.step != .agreement {
            continuation = step
        }
    }

    /// Returns the step of a snapshot that was checked; one without the values of its step begins after the agreement.
    private static func state(of snapshot: RegistrationSnapshot, _ plan: RegistrationPlan) -> RegistrationState {
        switch (snapshot.step, snapshot.handle, snapshot.did, snapshot.account) {
        case (.key, .some(let handle), _, _):
            return .key(Candidate(handle: handle, displayName: snapshot.displayName))
        case (.passkey, .some(let handle), .some(let did), _):
            let candidate = Candidate(handle: handle, displayName: snapshot.displayName)
            let registrant = Registrant(candidate: candidate, did: did)
            return snapshot.isPosted ? .confirmation(registrant, .lostAnswer(nil)) : .passkey(registrant, .options)
        case (.signIn, let handle, _, _): return .signIn(.account(handle), .options)
        case (.profile, _, _, .some(let account)): return .profile(account)
        case (.done, _, _, .some(let account)): return .done(account)
        case (.handle, let handle, _, _): return .handle(HandleEntry(text: handle?.text ?? "", handle: handle))
        case (.agreement, _, _, _), (.key, nil, _, _), (.passkey, _, _, _), (.profile, _, _, nil), (.done, _, _, nil):
            return plan.firstStep
        }
    }
}
