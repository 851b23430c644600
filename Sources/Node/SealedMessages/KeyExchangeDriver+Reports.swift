internal import Concurrency
internal import Identity
internal import Node
internal import OneTimeKeys

// Reports on the relationships.
extension KeyExchangeDriver {
    static func report(_ relationship: Relationship) -> KeyRelationship {
        relationship.state.withLock { state in
            KeyRelationship(
                peer: relationship.peer,
                state: state.status.state,
                suite: state.peerKeys?.suite,
                sendingKeyCount: state.peerKeys?.availableCount ?? 0,
                sendingKeyCapacity: state.peerKeys?.capacity ?? 0,
                receivingKeyCount: state.confirmedPool?.availableCount ?? 0,
                isLow: state.peerKeys?.isLow ?? false,
                safetyNumber: state.status.safetyNumber,
                isVerified: state.verifiedBinding != nil && state.verifiedBinding == state.status.binding
            )
        }
    }

    /// Wakes those that wait for a change of a relationship, and reports it.
    func noteChange(of relationship: Relationship) {
        // A task that waits for this change must not get its report too.
        defer { relationship.changed.broadcast() }
        let report = Self.report(relationship)
        let isNews = relationship.state.withLock { state in
            defer { state.reported = report }
            return state.reported.map { $0 != report } ?? !report.isEmpty
        }
        if isNews { reports.send(report) }
    }
}
