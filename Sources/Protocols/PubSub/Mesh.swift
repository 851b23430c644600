internal import Bytes
internal import Identity
internal import OrderedCollections

/// A member with which events are exchanged without a request.
private struct Neighbour: Sendable {
    /// Whether it gets batches; otherwise it gets announcements of them.
    var isEager = true
    /// Whether it reads too slowly at the moment to get batches.
    var isCongested = false

    var getsBatches: Bool { self.isEager && !self.isCongested }
}

/// The admitted members, and the few of them that are neighbours: this node's links of the tree.
///
/// A member is a candidate, was requested to be a neighbour and has not answered, or is one: never two of these.
struct Mesh: Sendable {
    private let target: Int
    private let limit: Int
    /// The admitted members, in order.
    private(set) var members = OrderedSet<PeerId>()
    private var links: OrderedDictionary<PeerId, Neighbour> = [:]
    /// The members that were requested to be neighbours and have not answered.
    private var requested = OrderedSet<PeerId>()
    /// The number of members that declined since the last acceptance.
    private var declines = 0
    /// Whether the last report stated that no neighbour is left.
    private var isReportedIsolated = true

    init(limits: PubSub.Limits) {
        self.target = limits.neighbours
        self.limit = limits.neighbourLimit
    }

    var neighbours: OrderedSet<PeerId> { self.links.keys }
    var isIsolated: Bool { self.links.isEmpty }

    func isNeighbour(_ peer: PeerId) -> Bool { self.links[peer] != nil }

    /// Returns whether the node is isolated if that changed since the last call.
    mutating func takeIsolationChange() -> Bool? {
        guard self.isIsolated != self.isReportedIsolated else { return nil }
        self.isReportedIsolated = self.isIsolated
        return self.isIsolated
    }

    // MARK: Members

    /// Adds a member; returns whether it is needed as a neighbour.
    mutating func add(_ peer: PeerId) -> Bool {
        self.members.append(peer).inserted && self.links.count + self.requested.count < self.target
    }

    /// Removes a member; returns whether it was a neighbour.
    mutating func remove(_ peer: PeerId) -> Bool {
        self.members.remove(peer)
        self.requested.remove(peer)
        return self.removeNeighbour(peer)
    }

    /// Returns at most `count` random members that are not neighbours.
    func others(_ count: Int, using random: inout SeededGenerator) -> ArraySlice<PeerId> {
        self.members.elements.filter { self.links[$0] == nil }.shuffled(using: &random).prefix(count)
    }

    // MARK: Requests

    private var candidates: [PeerId] {
        self.members.elements.filter { self.links[$0] == nil && !self.requested.contains($0) }
    }

    /// Returns as many candidates as neighbours are missing, at random.
    func candidatesForVacancies(using random: inout SeededGenerator) -> ArraySlice<PeerId> {
        let missing = self.target - self.links.count - self.requested.count
        return missing > 0 ? self.candidates.shuffled(using: &random).prefix(missing) : []
    }

    /// Returns another candidate instead of one that declined.
    ///
    /// The attempts are bounded: when all others are full, anti-entropy still serves this node.
    mutating func alternative(to declined: PeerId, using random: inout SeededGenerator) -> PeerId? {
        guard self.links.count < self.target else { return nil }
        let others = self.candidates.filter { $0 != declined }
        guard self.declines < self.limit, let other = others.randomElement(using: &random) else { return nil }
        self.declines += 1
        return other
    }

    /// Notes a request to be a neighbour; returns false if the peer is one, or was requested before.
    mutating func request(_ peer: PeerId) -> Bool {
        self.links[peer] == nil && self.requested.append(peer).inserted
    }

    /// Notes the answer to a request; returns false if no request was sent.
    mutating func endRequest(to peer: PeerId) -> Bool { self.requested.remove(peer) != nil }

    /// Whether a request of a member is granted: there is room, it has no neighbour, or this node requested it too.
    func grants(_ peer: PeerId, isUrgent: Bool) -> Bool {
        self.links[peer] != nil || self.links.count < self.limit || isUrgent || self.requested.contains(peer)
    }

    // MARK: Neighbours

    /// Makes a member a neighbour; returns false if it is one already.
    mutating func addNeighbour(_ peer: PeerId) -> Bool {
        guard self.links[peer] == nil else { return false }
        self.requested.remove(peer)
        self.links[peer] = Neighbour()
        self.declines = 0
        return true
    }

    /// Makes a neighbour a candidate; returns false if it is none.
    mutating func removeNeighbour(_ peer: PeerId) -> Bool { self.links.removeValue(forKey: peer) != nil }

    func isEager(_ peer: PeerId) -> Bool { self.links[peer]?.isEager == true }

    mutating func setEager(_ isEager: Bool, _ peer: PeerId) { self.links[peer]?.isEager = isEager }

    /// Notes whether a peer reads too slowly; returns false if it is not a neighbour.
    mutating func setCongested(_ isCongested: Bool, _ peer: PeerId) -> Bool {
        self.links[peer]?.isCongested = isCongested
        return self.links[peer] != nil
    }

    /// The peers that get batches.
    ///
    /// A requested member counts as a neighbour until it declines, so that nothing published meanwhile is late.
    var batchReceivers: [PeerId] {
        self.links.filter { $0.value.getsBatches }.keys.elements + self.requested.elements
    }

    /// The neighbours that get announcements instead.
    var announcementReceivers: OrderedSet<PeerId> { self.links.filter { !$0.value.getsBatches }.keys }
}
