internal import Identity

/// Why a node closes a connection or resets a stream: the application error codes of the protocol.
package enum CloseCode: UInt64, Sendable, CaseIterable {
    /// The node stops; its peers may dial again later.
    case shutdown = 0x100
    /// No valid token was shown. The code does not reveal the closer's networks.
    case notAdmitted = 0x101
    /// The peer's own, genuine token has expired.
    case tokenExpired = 0x102
    /// The peer was revoked in the last network that both shared.
    case revoked = 0x103
    /// No hello arrived in time.
    case helloTimeout = 0x104
    /// The peer violated the protocol.
    case protocolViolation = 0x105
    /// Another connection of the same pair is kept instead.
    case superseded = 0x106
    /// The closer is no longer a member of the last network that both shared.
    case leftNetwork = 0x107
    /// The proof matches no invitation that the closer remembers.
    case joinRefused = 0x108
    /// The closer holds as many connections as it may.
    case tooManyPeers = 0x109
    /// The stream names a network in which the two are not admitted.
    case networkNotShared = 0x10A
    /// The receiver does not want the stream: no task listens for it, or the user declined.
    case declined = 0x10B
    /// The receiver's bound was exceeded.
    case tooLarge = 0x10C
    /// The connection was idle and the closer has more than it keeps; the peer may dial again when it needs one.
    case surplus = 0x10D
    /// The invitation has expired.
    case invitationExpired = 0x10E
    /// The invitation was used before.
    case invitationUsed = 0x10F
    /// The invitation ended after five wrong proofs.
    case invitationBurnt = 0x110
    /// The inviter withdrew the invitation.
    case invitationWithdrawn = 0x111
    /// The inviter's user declined the join.
    case joinDeclined = 0x112
    /// The inviter's user did not decide in time.
    case joinUndecided = 0x113
    /// The requester cancelled the request.
    case requestCancelled = 0x114
    /// The request timed out.
    case requestOverdue = 0x115
    /// A user disconnected the closer from the peer, which must not dial on its own for a while.
    case manuallyDisconnected = 0x116
    /// The receiver's disk has no room for the file.
    case noRoom = 0x117
    /// The receiver cannot write the file.
    case notStored = 0x118
    /// The receiver has too many open offers, or another transfer of the same file.
    case receiverBusy = 0x119
    /// The sender cannot send the offered content: the file has changed.
    case offerWithdrawn = 0x11A
    /// Another running node uses the peer's device key, too.
    case deviceKeyUsedTwice = 0x11B
    /// The receiver's user did not decide about the file in time.
    case offerUnanswered = 0x11C
    /// The receiver has no user or program that decides about files.
    case offerUnattended = 0x11D

    /// The reason in plain words, with the next step for the other side.
    package var explanation: String {
        switch self {
        case .shutdown: "the peer stopped"
        case .notAdmitted: "not admitted: no valid access token for a network of this peer was shown"
        case .tokenExpired: "the access token has expired: ask the network's owner for a new one"
        case .revoked: "revoked by the network's owner"
        case .helloTimeout: "no hello within the time limit"
        case .protocolViolation: "the protocol was violated: both sides may need the same version of Runar"
        case .superseded: "another connection between the two is used instead"
        case .leftNetwork: "the peer left the network"
        case .joinRefused: "no invitation with this proof is known here: ask for a new one"
        case .tooManyPeers: "the peer has no room for another connection: try again later"
        case .networkNotShared: "the two are not admitted to each other in that network"
        case .declined: "the receiver declined"
        case .tooLarge: "larger than the receiver takes"
        case .surplus: "the connection was idle, and the peer has reached its limit of connections"
        case .invitationExpired: "the invitation has expired: ask for a new one"
        case .invitationUsed: "the invitation was used before: ask for a new one"
        case .invitationBurnt: "the invitation ended after five wrong proofs: ask for a new one"
        case .invitationWithdrawn: "the inviter withdrew the invitation: ask for a new one"
        case .joinDeclined: "the inviter declined"
        case .requestCancelled: "the request was cancelled"
        case .requestOverdue: "the request timed out"
        case .manuallyDisconnected: "disconnected by a person: ask for the connection again, or wait ten minutes"
        case .joinUndecided: "the inviter did not decide in time: ask for a new invitation"
        case .noRoom: "the receiver has no room for the file"
        case .notStored: "the receiver cannot store the file"
        case .receiverBusy: "the receiver has too many open offers, or receives the same file already"
        case .offerWithdrawn: "the file has changed at the sender"
        case .offerUnanswered: "the user of the receiver did not answer in time"
        case .offerUnattended: "the receiver has no user or program that decides about files"
        case .deviceKeyUsedTwice: "the device's key is used in two places: another running node has a copy of it"
        }
    }

    /// Whether dialling again soon is pointless because a person must act first.
    package var isFinal: Bool {
        switch self {
        case .notAdmitted, .tokenExpired, .revoked, .leftNetwork, .joinRefused, .protocolViolation,
            .invitationExpired, .invitationUsed, .invitationBurnt, .invitationWithdrawn, .joinDeclined, .joinUndecided,
            .manuallyDisconnected:
            true
        case .shutdown, .helloTimeout, .superseded, .tooManyPeers, .networkNotShared, .declined, .tooLarge, .surplus,
            .requestCancelled, .requestOverdue, .noRoom, .notStored, .receiverBusy, .offerWithdrawn,
            .offerUnanswered, .offerUnattended,
            .deviceKeyUsedTwice:
            false
        }
    }

    /// Creates the code that the holder of a token with `problem` receives.
    ///
    /// Only a holder that proved the key that a genuine token names learns more than "not admitted"; an unauthenticated
    /// connection must not find out which networks this node knows.
    init(telling problem: TokenProblem, toGenuineHolder isGenuine: Bool) {
        guard isGenuine else {
            self = .notAdmitted
            return
        }
        switch problem {
        case .expired: self = .tokenExpired
        case .revoked: self = .revoked
        default: self = .notAdmitted
        }
    }
}

extension TokenProblem {
    /// Whether the holder of a genuine token learns of it.
    var isToldToHolder: Bool { CloseCode(telling: self, toGenuineHolder: true) != .notAdmitted }
}
