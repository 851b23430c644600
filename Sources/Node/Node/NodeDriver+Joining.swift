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
        let outcome = Promise<Result<JoinGrant, any Error>>()
        try self.state.withLock { state in
            guard !state.lifecycle.isStopped else { throw NodeError.notRunning }
            guard state.joiners[inviter] == nil else { throw JoinFailure.underWay }
            state.joiners[inviter] = Joiner(onPending: onPending, outcome: outcome)
            self.apply(.join(.wanted(invitation)), to: &state)
        }
        return try await outcome.get {
            self.state.withLock { state in
                guard state.joiners[inviter]?.outcome === outcome else { return }
                // First, so that the effects of giving up do not tell the task of a failure.
                state.joiners[inviter] = nil
                self.apply(.join(.abandoned(inviter)), to: &state)
            }
        }
    }

    static func endJoin(through inviter: PeerId, _ result: Result<JoinGrant, any Error>, in state: inout State) {
        state.joiners.removeValue(forKey: inviter)?.outcome.fulfil(result)
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
            state.joiners[inviter]?.onPending(digits)
            self.events.send(.joinPending(inviter, network, digits: digits))
        case .granted(let inviter, let grant):
            self.persistence.add(.joinGranted(grant))
            self.events.send(.joinGranted(grant.metadata))
            Self.endJoin(through: inviter, .success(grant), in: &state)
        case .failed(let inviter, let network, let failure):
            self.configuration.logs[.membership].info("the join through \(inviter.short) came to nothing: \(failure)")
            self.events.send(.joinFailed(inviter, network, reason: failure))
            Self.endJoin(through: inviter, .failure(failure), in: &state)
        }
    }
}

/// A task that waits for the end of a join.
struct Joiner: Sendable {
    let onPending: @Sendable (_ digits: String) -> Void
    let outcome: Promise<Result<JoinGrant, any Error>>
}
