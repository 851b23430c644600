internal import Concurrency
internal import Database
internal import Essentials
internal import Identity
internal import Kademlia
internal import Logging
internal import Mailbox
internal import Node
internal import NodeCore
internal import NodeStore
internal import Platform

// The writes of a running node, and the decisions that depend on its store.
extension RunarNode {
    /// The error of the disk or the key storage that keeps this node from storing its state; nil if there is none.
    ///
    /// After a failure this writes a little to the disk, to notice whether it works again.
    package func storageProblem() -> String? {
        if let failure = store.database.checkWriting() { return "\(failure)" }
        return phases.driver?.storageFailure.map { "\($0.error)" }
    }

    /// Stores changes of one kind together, all of them or none, and returns the outcome of each.
    func store(_ changes: [NodeDriver.Persistence]) -> [WriteOutcome] {
        guard let kind = changes.first?.kind else { return [] }
        switch kind {
        case .record:
            let records = changes.compactMap { change in
                if case .record(let network, let record) = change { (network, record) } else { nil }
            }
            let outcome = attempt { try store.keep(records.map { StoredRecord($1, in: $0) }) }
            let now = clock.now()
            if outcome.isStored {
                for (network, record) in records { tables.refresh(with: record, in: network, at: now) }
            }
            return changes.map { _ in outcome }
        case .recordForgotten:
            let records = changes.compactMap { change -> StoredRecord? in
                guard case .recordForgotten(let network, let id) = change else { return nil }
                return StoredRecord(forgetting: id, in: network)
            }
            let outcome = attempt { try store.keep(records) }
            return changes.map { _ in outcome }
        case .heldMail:
            let mails = changes.compactMap { change -> (network: NetworkId, mail: Mail, description: HeldMail)? in
                guard case .mail(let network, .hold(let mail, let description)) = change else { return nil }
                return (network, mail, description)
            }
            let outcome = attempt { try mailService.hold(mails) }
            return changes.map { _ in outcome }
        case .revocations, .peer, .peersSeen, .addressFailure, .revokedHere, .joinGranted, .joinAllowed,
            .memberSecrets, .tokenRenewed, .renewal, .mailDeletion, .mailProgress, .mailRelays, .mailReading,
            .mailReception:
            return changes.map { change in attempt { try store(change) } }
        }
    }

    private func attempt(_ body: () throws -> Void) -> WriteOutcome {
        do {
            try body()
            return .stored
        } catch {
            return .failed(error, canSucceedLater: Self.isTransient(error))
        }
    }

    /// Whether the disk or the key storage is the cause of an error, and not the change itself.
    private static func isTransient(_ error: any Error) -> Bool {
        switch error {
        case StorageError.invalid: false
        case is StorageError: true
        case KeychainError.unableToStore, KeychainError.unableToRead, KeychainError.denied: true
        default: false
        }
    }

    private func store(_ change: NodeDriver.Persistence) throws {
        switch change {
        case .joinAllowed(let request): try allow(request)
        case .memberSecrets(let secrets): try save(secrets)
        case .renewalRequested(let request): try decide(request)
        case .joinGranted, .revokedHere:
            try store.persist(change, at: wallSeconds)
            networksChanged()
        case .revocations(let entries):
            for entry in entries { tables.removeRecords(of: entry.peerId, in: entry.networkId) }
            try store.persist(change, at: wallSeconds)
        case .mail(let network, let effect): try performMail(effect, in: network)
        case .peer(let peer, let network, _):
            try store.persist(change, at: wallSeconds)
            try noteAdmission(of: peer, in: network)
        case .peersSeen, .addressFailed, .tokenRenewed, .record, .recordForgotten:
            try store.persist(change, at: wallSeconds)
        }
    }

    /// Gives a member a token that lasts as long as the last one that this device signed for it, if this device holds the
    /// network's key and never stated that it was the last.
    ///
    /// A member that gets no answer, because the token could not be stored, asks again.
    private func decide(_ request: RenewalRequest) throws {
        let driver = try running()
        let issued = try store.issuedToken(of: request.peer, in: request.network)
        // A device that was given the network's key, or restored its root key, does not know the tokens signed elsewhere,
        // nor whether one of them was the last.
        guard let issued else {
            logs[.connections].notice(
                "\(request.peer.short) wants a new token and its last one was not issued here: issue one to renew it again"
            )
            return driver.renew(request, with: nil)
        }
        let isOwner = try store.network(request.network)?.derivationIndex != nil
        guard config.grantsRenewals, issued.isRenewable,
            try isOwner || holdsNetworkKey(of: request.network)
        else { return driver.renew(request, with: nil) }
        // The last one may be later than the one shown, when it was signed but never arrived.
        let life = issued.expiration.map { $0 > issued.issuedAt ? $0 - issued.issuedAt : 0 }
        let end = wallSeconds + max(life ?? Self.standardLifeSeconds, Self.shortestLifeSeconds)
        let token = try issueToken(for: request.peer, in: request.network, expiration: UnixTime.date(end))
        driver.renew(request, with: token)
    }

    /// The life of a token whose predecessor has no end: 30 days.
    private static let standardLifeSeconds: UInt64 = 30 * 86_400
    private static let shortestLifeSeconds: UInt64 = 60
}
