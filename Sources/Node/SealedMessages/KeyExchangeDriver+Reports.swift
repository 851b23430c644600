internal import Concurrency
internal import Identity
internal import Node
internal import OneTimeKeys

// Reports on the relationships.
extension KeyExchangeDriver {
    var relationships: [KeyRelationship] {
        relations.withLock { Array($0.values) }.sorted { $0.peer < $1.peer }.map(Self.report)
            .filter { !$0.isEmpty }
    }

    func relationship(with peer: PeerId) -> KeyRelationship? {
        guard let relationship = relations.withLock({ $0[peer] }).map(Self.report), !relationship.isEmpty else {
            return nil
        }
        return relationship
    }

    static func report(_ relationship: Relationship) -> KeyRelationship {
        relationship.state.withLock { state in
            KeyRelationship(
                peer: relationship.peer,
                state: state.exchange.state,
                suite: state.peerKeys?.suite,
                sendingKeyCount: state.peerKeys?.availableCount ?? 0,
                sendingKeyCapacity: state.peerKeys?.capacity ?? 0,
                receivingKeyCount: state.confirmedPool?.availableCount ?? 0,
                isLow: state.peerKeys?.isLow ?? false,
                safetyNumber: state.exchange.safetyNumber,
                isVerified: state.verifiedBinding != nil && state.verifiedBinding == state.exchange.binding
            )
        }
    }

    func changes() -> AsyncStream<KeyRelationship> { reports.listen() }

    /// Wakes those that wait for a change of a relationship, and reports it.
    func noteChange(of relationship: Relationship) {
        relationship.changed.broadcast()
        let report = Self.report(relationship)
        let isNews = relationship.state.withLock { state in
            defer { state.reported = report }
            return state.reported.map { $0 != report } ?? !report.isEmpty
        }
        if isNews { reports.send(report) }
    }
}
