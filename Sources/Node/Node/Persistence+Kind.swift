package import Identity
internal import Mailbox
internal import NodeCore

// The list of everything that a running node stores. Each kind states the consequence of a failed write, so that a new one
// cannot be treated as stored by mistake.
extension NodeDriver.Persistence {
    /// The kind of a change.
    package enum Kind: CaseIterable, Sendable {
        case revocations
        case peer
        case peersSeen
        case addressFailure
        case revokedHere
        case joinGranted
        case joinAllowed
        case memberSecrets
        case tokenRenewed
        case renewal
        case record
        case recordForgotten
        case heldMail
        case mailDeletion
        case mailProgress
        case mailRelays
        case mailReading
        case mailReception
    }

    /// The handling of a failed write.
    package enum FailurePolicy: Sendable {
        /// The cause is notified and nothing is acknowledged: a caller gets an error, and a member a refusal, so that it
        /// stores elsewhere or tries again. The write is not repeated.
        case report
        /// The write is repeated until it succeeds, because no other node repeats it.
        case retry
        /// The change stores nothing.
        case none
    }

    /// A part of the state; the changes of one are stored in order, and none overtakes an earlier one that failed.
    package enum Lane: Hashable, Sendable {
        case network(NetworkId)
        case revocations
        case peers
        case secrets(NetworkId)
    }

    package var kind: Kind {
        switch self {
        case .revocations: .revocations
        case .peer: .peer
        case .peersSeen: .peersSeen
        case .addressFailed: .addressFailure
        case .revokedHere: .revokedHere
        case .joinGranted: .joinGranted
        case .joinAllowed: .joinAllowed
        case .memberSecrets: .memberSecrets
        case .tokenRenewed: .tokenRenewed
        case .renewalRequested: .renewal
        case .record: .record
        case .recordForgotten: .recordForgotten
        case .mail(_, .hold): .heldMail
        case .mail(_, .delete): .mailDeletion
        case .mail(_, .progressed): .mailProgress
        case .mail(_, .readOutgoing): .mailRelays
        case .mail(_, .readHeld): .mailReading
        case .mail(_, .receive): .mailReception
        }
    }

    /// The part of the state that is changed; nil if nothing is stored or the order does not matter.
    var lane: Lane? {
        switch self {
        case .revocations: .revocations
        case .peer, .peersSeen, .addressFailed: .peers
        case .revokedHere(let network), .record(let network, _), .recordForgotten(let network, _): .network(network)
        case .joinGranted(let grant, _): .network(grant.token.networkId)
        case .tokenRenewed(let token): .network(token.networkId)
        case .memberSecrets(let secrets): .secrets(secrets.networkId)
        case .mail(let network, .hold), .mail(let network, .delete), .mail(let network, .progressed),
            .mail(let network, .readOutgoing):
            .network(network)
        case .joinAllowed, .renewalRequested, .mail(_, .readHeld), .mail(_, .receive): nil
        }
    }
}

extension NodeDriver.Persistence.Kind {
    /// The handling of a failed write.
    package var failurePolicy: NodeDriver.Persistence.FailurePolicy {
        switch self {
        case .joinAllowed, .renewal, .record, .heldMail, .mailRelays: .report
        case .revocations, .peer, .peersSeen, .addressFailure, .revokedHere, .joinGranted, .memberSecrets,
            .tokenRenewed, .recordForgotten, .mailDeletion, .mailProgress:
            .retry
        case .mailReading, .mailReception: .none
        }
    }

    /// Whether a restart without the change does no harm: the node learns or does it again.
    var isLossHarmless: Bool {
        switch self {
        case .peer, .peersSeen, .addressFailure, .recordForgotten, .mailDeletion, .mailProgress: true
        case .revocations, .revokedHere, .joinGranted, .joinAllowed, .memberSecrets, .tokenRenewed, .renewal, .record,
            .heldMail, .mailRelays, .mailReading, .mailReception:
            false
        }
    }

    /// Whether changes that follow each other are stored together, so that the batch waits for the disk once.
    var isBatched: Bool {
        switch self {
        case .record, .recordForgotten, .heldMail: true
        case .revocations, .peer, .peersSeen, .addressFailure, .revokedHere, .joinGranted, .joinAllowed,
            .memberSecrets, .tokenRenewed, .renewal, .mailDeletion, .mailProgress, .mailRelays, .mailReading,
            .mailReception:
            false
        }
    }
}

/// The outcome of a write.
package enum WriteOutcome: Sendable {
    /// The change is durable.
    case stored
    /// Nothing was changed; a later attempt may succeed where the disk or the system was the cause.
    case failed(any Error, canSucceedLater: Bool)

    /// Whether the change is durable.
    package var isStored: Bool {
        if case .stored = self { true } else { false }
    }
}

/// A failure to store a change of a running node.
package struct StorageFailure: Sendable {
    /// The error of the last attempt.
    package let error: any Error
    /// The changes that wait for the next attempt.
    package let waitingCount: Int
}
