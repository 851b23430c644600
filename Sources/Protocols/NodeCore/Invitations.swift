internal import DequeModule
internal import Identity
internal import OrderedCollections

/// An invitation that this node shows.
struct OpenInvitation: Sendable {
    let invitation: Invitation
    let isPreallowed: Bool
    var wrongProofs = 0
}

/// An invitation that this node took, on the way to its inviter or waiting there.
struct TakenInvitation: Sendable {
    let invitation: Invitation
    /// The join fails at this time unless the inviter was reached.
    let deadline: Duration
    /// Why the last dial failed.
    var lastFailure = ""
    /// Whether the join was requested, which uses the invitation up.
    var isRequested = false
}

/// The invitations that this node shows, those that it showed, and those that it took.
struct Invitations: Sendable {
    /// An invitation of this node that no longer admits a joiner.
    struct Ended: Sendable {
        let invitation: Invitation
        /// The reason that is sent to a joiner with its secret.
        let failure: JoinFailure
        /// Forgotten at this monotonic time.
        let end: Duration
    }

    /// By network, the oldest first.
    private(set) var open: OrderedDictionary<NetworkId, [OpenInvitation]> = [:]
    /// The ended invitations, in the order of their ends.
    private(set) var ended: Deque<Ended> = []
    /// By inviter.
    private(set) var taken: OrderedDictionary<PeerId, TakenInvitation> = [:]
    private let limits: Limits

    init(limits: Limits) {
        self.limits = limits
    }

    // MARK: Shown

    /// Whether this node shows an invitation.
    var isAnyOpen: Bool { self.open.values.contains { !$0.isEmpty } }

    /// Adds an invitation that this node shows; of too many the oldest one ends.
    mutating func add(_ invitation: Invitation, isPreallowed: Bool, _ turn: inout Turn) {
        expire(&turn)
        let network = invitation.networkId
        let open = self.open[network] ?? []
        if open.count >= limits.openInvitations, let oldest = open.first { end(oldest.invitation, .withdrawn, &turn) }
        self.open[network, default: []].append(OpenInvitation(invitation: invitation, isPreallowed: isPreallowed))
    }

    mutating func withdraw(_ invitation: Invitation.ID, _ turn: inout Turn) {
        for open in self.open.values.joined() where open.invitation.id == invitation {
            end(open.invitation, .withdrawn, &turn)
        }
    }

    mutating func withdrawAll(to network: NetworkId, _ turn: inout Turn) {
        for open in self.open.removeValue(forKey: network) ?? [] { end(open.invitation, .withdrawn, &turn) }
    }

    /// Ends expired invitations, and forgets those that ended long ago.
    mutating func expire(_ turn: inout Turn) {
        for open in self.open.values.joined() where open.invitation.isExpired(at: turn.now.wallSeconds) {
            end(open.invitation, .expired, &turn)
        }
        while let first = ended.first, first.end <= turn.now.monotonic { ended.removeFirst() }
    }

    /// Ends the invitation that `proof` matches as used, and returns it.
    mutating func use(_ proof: [UInt8], from link: Link, _ turn: inout Turn) -> OpenInvitation? {
        let match = self.open.values.joined().first {
            $0.invitation.isValidProof(proof, exporter: link.exporter, joiner: link.peer)
        }
        if let match { end(match.invitation, .used, &turn) }
        return match
    }

    /// Returns the network of the ended invitation that `proof` fits, and why it ended.
    func failure(of proof: [UInt8], from link: Link) -> (network: NetworkId, failure: JoinFailure)? {
        let ended = self.ended.first {
            $0.invitation.isValidProof(proof, exporter: link.exporter, joiner: link.peer)
        }
        return ended.map { ($0.invitation.networkId, $0.failure) }
    }

    /// Counts a proof that matches no invitation against every open one, since the intended one is unknown.
    mutating func countWrongProof(_ turn: inout Turn) {
        for network in Array(self.open.keys) {
            let indices = self.open[network]?.indices ?? 0..<0
            for index in indices { self.open[network]?[index].wrongProofs += 1 }
        }
        for open in self.open.values.joined() where open.wrongProofs >= limits.wrongProofs {
            end(open.invitation, .burnt, &turn)
        }
    }

    /// Ends an open invitation, and remembers for a while why it ended.
    private mutating func end(_ invitation: Invitation, _ failure: JoinFailure, _ turn: inout Turn) {
        self.open[invitation.networkId]?.removeAll { $0.invitation.id == invitation.id }
        while ended.count >= limits.endedInvitations { ended.removeFirst() }
        let end = turn.now.monotonic + .seconds(Int64(Invitation.memorySeconds))
        ended.append(Ended(invitation: invitation, failure: failure, end: end))
        if failure != .used {
            turn.emit(.join(.invitationEnded(invitation.id, invitation.networkId, failure)))
        }
    }

    // MARK: Taken

    /// Whether another invitation may be taken.
    var hasRoomForTaken: Bool { taken.count < limits.joins }

    mutating func take(_ invitation: Invitation, until deadline: Duration) {
        taken[invitation.inviter] = TakenInvitation(invitation: invitation, deadline: deadline)
    }

    mutating func noteRequested(_ inviter: PeerId) { taken[inviter]?.isRequested = true }

    mutating func noteDialFailure(of inviter: PeerId, _ reason: String) { taken[inviter]?.lastFailure = reason }

    mutating func forgetTaken(from inviter: PeerId) { taken.removeValue(forKey: inviter) }
}
