internal import Concurrency
internal import Identity
internal import Node
internal import OneTimeKeys

// Reports on the relationships.
extension KeyExchangeDriver {
    static func report(_ relationship: Relationship) -> KeyRelationship {
        relationship.state.withLock { $0.report(of: relationship.peer) }
    }

    /// Wakes those that wait for a change of a relationship, and reports it.
    func noteChange(of relationship: Relationship) {
        relationship.state.withLock { state in
            let report = state.report(of: relationship.peer)
            let isNews = state.reported.map { $0 != report } ?? !report.isEmpty
            state.reported = report
            // Under the lock, so that no older report follows a newer one.
            if isNews { reports.send(report) }
        }
        relationship.changed.broadcast()
    }

    /// The relationship when its exchange is completed; nil while the exchange continues.
    ///
    /// An end counts when it is reported: a task that waits for it must not get its report too. Every change of the
    /// state is followed by ``noteChange(of:)``, which also notes what is no news.
    ///
    /// - Throws: ``SealedMessageError/exchangeFailed(_:)``; ``SealedMessageError/notConnected(_:)`` while no node runs
    ///   the exchange; ``SealedMessageError/noKeys(_:)`` if the keys were deleted.
    func outcome(of relationship: Relationship) throws(SealedMessageError) -> KeyRelationship? {
        let (report, isReported, isRemoved) = relationship.state.withLock { state in
            let report = state.report(of: relationship.peer)
            return (report, state.reported?.state == report.state, state.isRemoved)
        }
        guard !isRemoved else { throw .noKeys(relationship.peer) }
        switch report.state {
        case .completed: return isReported ? report : nil
        case .failed(let failure):
            guard isReported else { return nil }
            throw .exchangeFailed(failure)
        case .idle, .requestSent, .offerSent, .ackSent, .commitSent, .commitReceivedWaitingForKeys:
            // The exchange continues after the next start of the node.
            guard hosting.withLock({ $0.driver != nil }) else { throw .notConnected(relationship.peer) }
            return nil
        }
    }
}

extension KeyExchangeDriver.State {
    /// The report on the relationship with `peer`, whose state this is.
    fileprivate func report(of peer: PeerId) -> KeyRelationship {
        KeyRelationship(
            peer: peer,
            state: status.state,
            suite: peerKeys?.suite,
            sendingKeyCount: peerKeys?.availableCount ?? 0,
            sendingKeyCapacity: peerKeys?.capacity ?? 0,
            receivingKeyCount: confirmedPool?.availableCount ?? 0,
            isLow: peerKeys?.isLow ?? false,
            safetyNumber: status.safetyNumber,
            isVerified: verifiedBinding != nil && verifiedBinding == status.binding
        )
    }
}
