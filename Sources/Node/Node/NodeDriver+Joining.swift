internal import Concurrency
package import Identity
internal import Logging
package import NodeCore

// Joining by invitation, for somebody who waits for what comes of it.
extension NodeDriver {
    /// Dials the inviter, asks, and returns what it granted; `onPending` gets the digits that both screens show.
    ///
    /// It is called under the lock of this driver, and asks it nothing.
    ///
    /// Whoever is cancelled has abandoned the join.
    ///
    /// - Throws: ``JoinFailure``, ``NodeError/notRunning``; `CancellationError` when cancelled.
    package func join(
        by invitation: Invitation,
        onPending: @escaping @Sendable (_ digits: String) -> Void
    ) async throws -> JoinGrant {
        let inviter = invitation.inviter
        try Task.checkCancellation()
        let outcome = try self.state.withLock { state in
            guard !state.lifecycle.isStopped else { throw NodeError.notRunning }
            guard let outcome = state.pending.addJoin(through: inviter, onPending: onPending) else {
                throw JoinFailure.underWay
            }
            self.apply(.join(.wanted(invitation)), to: &state)
            return outcome
        }
        return try await outcome.get {
            self.state.withLock { state in
                // First, so that the core's effects do not end the join with another error.
                guard state.pending.removeJoin(through: inviter, outcome) else { return }
                self.apply(.join(.abandoned(inviter)), to: &state)
            }
        }
    }

    func carryOut(_ effect: JoinEffect, in state: inout State) {
        switch effect {
        case .requested(let id, let question):
            let request = JoinRequest(
                invitation: question.invitation,
                peer: question.peer,
                network: question.network,
                digits: question.digits,
                isPreallowed: question.isPreallowed,
                connection: id.number
            )
            self.events.send(.joinRequested(request))
            if question.isPreallowed { self.persistence.add(.joinAllowed(request)) }
        case .requestEnded(_, let peer, let network, let failure):
            self.events.send(.joinRequestEnded(peer, network, reason: failure))
        case .invitationEnded(let invitation, let network, let failure):
            self.events.send(.invitationEnded(invitation, network, reason: failure))
        case .pending(let inviter, let network, let digits):
            state.pending.noteJoinPending(through: inviter, digits: digits)
            self.events.send(.joinPending(inviter, network, digits: digits))
        case .granted(let inviter, let grant):
            self.persistence.add(.joinGranted(grant))
            self.events.send(.joinGranted(grant.metadata))
            state.pending.endJoin(through: inviter, .success(grant))
        case .failed(let inviter, let network, let failure):
            self.configuration.logs[.membership].info("the join through \(inviter.short) came to nothing: \(failure)")
            self.events.send(.joinFailed(inviter, network, reason: failure))
            state.pending.endJoin(through: inviter, .failure(failure))
        }
    }
}
