internal import Concurrency
internal import Identity
internal import Kademlia
internal import Logging
internal import Mailbox
internal import NodeCore

// The outcomes of writes: only durable changes are acknowledged.
extension NodeDriver {
    /// The failure to store that lasts; nil if everything was stored that could be.
    package var storageFailure: StorageFailure? { persistence.failure }

    var persistenceSurroundings: PersistenceQueue.Surroundings {
        PersistenceQueue.Surroundings(
            store: configuration.persist,
            settle: { change, outcome in
                self.log(outcome, of: change)
                self.state.withLock { self.settle(change, outcome, in: &$0) }
            },
            planAttempt: { pause in self.jobs.add(.storeAgain(after: pause)) }
        )
    }

    private func log(_ outcome: WriteOutcome, of change: Persistence) {
        guard case .failed(let error, let canSucceedLater) = outcome else { return }
        let isRepeated = canSucceedLater && change.kind.failurePolicy == .retry
        configuration.logs[.storage].error(
            "the state could not be stored\(isRepeated ? ", which is tried again" : ""): \(change.kind): \(error)"
        )
    }

    /// Notifies the cause of a change of its outcome.
    private func settle(_ change: Persistence, _ outcome: WriteOutcome, in state: inout State) {
        switch change {
        case .record(let network, let record):
            let id = RecordId(location: Record.location(of: record.key, in: network), writer: record.writer)
            apply(.table(.persisted(network, id, version: record.version, outcome.isStored)), to: &state)
        case .mail(let network, .hold(let mail, _)):
            apply(.mailbox(network, .held(mail.id, outcome.isStored)), to: &state)
        case .joinGranted(let grant, let inviter):
            switch outcome {
            case .stored:
                events.send(.joinGranted(grant.metadata))
                state.pending.endJoin(through: inviter, .success(grant))
            case .failed(let error, _): state.pending.endJoin(through: inviter, .failure(error))
            }
        case .revocations, .peer, .peersSeen, .addressFailed, .revokedHere, .memberSecrets, .tokenRenewed,
            .recordForgotten, .mail(_, .delete), .mail(_, .progressed):
            // Nothing waits for these, and they are repeated.
            break
        case .mail(let network, .readOutgoing(let id, _)):
            if !outcome.isStored { apply(.mailbox(network, .outgoingRead(id, nil)), to: &state) }
        case .mail(let network, .readHeld(_, let owner)):
            if !outcome.isStored { apply(.mailbox(network, .heldRead(for: owner, [])), to: &state) }
        case .joinAllowed, .renewalRequested, .mail(_, .receive):
            // Their outcome is an input of its own.
            break
        }
    }
}
