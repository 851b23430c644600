internal import Bytes
internal import Identity
internal import OrderedCollections

/// A member with which events are exchanged without a request.
private struct Neighbour: Sendable {
    /// Whether it gets batches; otherwise it gets announcements of them.
    var isEager = true
    /// Whether it reads too slowly at the moment to get batches.
    var isCongested = false

    var getsBatches: Bool { isEager && !isCongested }
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
        target = limits.neighbours
        limit = limits.neighbourLimit
    }

    var neighbours: OrderedSet<PeerId> { links.keys }
    var isIsolated: Bool { links.isEmpty }

    func isNeighbour(_ peer: PeerId) -> Bool { links[peer] != nil }

    /// Returns whether the node is isolated if that changed since the last call.
    mutating func takeIsolationChange() -> Bool? {
        guard isIsolated != isReportedIsolated else { return nil }
        isReportedIsolated = isIsolated
        return isIsolated
    }

    // MARK: Members

    /// Adds a member; returns whether it is needed as a neighbour.
    mutating func add(_ peer: PeerId) -> Bool {
        members.append(peer).inserted && links.count + requested.count < target
    }

    /// Removes a member; returns whether it was a neighbour.
    mutating func remove(_ peer: PeerId) -> Bool {
        members.remove(peer)
        requested.remove(peer)
        return removeNeighbour(peer)
    }

    /// Returns at most `count` random members that are not neighbours.
    func others(_ count: Int, using random: inout SeededGenerator) -> ArraySlice<PeerId> {
        members.elements.filter { links[$0] == nil }.shuffled(using: &random).prefix(count)
    }

    // MARK: Requests

    private var candidates: [PeerId] {
        members.elements.filter { links[$0] == nil && !requested.contains($0) }
    }

    /// Returns as many candidates as neighbours are missing, at random.
    func candidatesForVacancies(using random: inout SeededGenerator) -> ArraySlice<PeerId> {
        let missing = target - links.count - requested.count
        return missing > 0 ? candidates.shuffled(using: &random).prefix(missing) : []
    }

    /// Returns another candidate instead of one that declined.
    ///
    /// The attempts are bounded: when all others are full, anti-entropy still serves this node.
    mutating func alternative(to declined: PeerId, using random: inout SeededGenerator) -> PeerId? {
        guard links.count < target else { return nil }
        let others = candidates.filter { $0 != declined }
        guard declines < limit, let other = others.randomElement(using: &random) else { return nil }
        declines += 1
        return other
    }

    /// Notes a request to be a neighbour; returns false if the peer is one, or was requested before.
    mutating func request(_ peer: PeerId) -> Bool {
        links[peer] == nil && requested.append(peer).inserted
    }

    /// Notes the answer to a request; returns false if no request was sent.
    mutating func endRequest(to peer: PeerId) -> Bool { requested.remove(peer) != nil }

    /// Whether a request of a member is granted: there is room, it has no neighbour, or this node requested it too.
    func grants(_ peer: PeerId, isUrgent: Bool) -> Bool {
        links[peer] != nil || links.count < limit || isUrgent || requested.contains(peer)
    }

    // MARK: Neighbours

    /// Makes a member a neighbour; returns false if it is one already.
    mutating func addNeighbour(_ peer: PeerId) -> Bool {
        guard links[peer] == nil else { return false }
        requested.remove(peer)
        links[peer] = Neighbour()
        declines = 0
        return true
    }

    /// Makes a neighbour a candidate; returns false if it is none.
    mutating func removeNeighbour(_ peer: PeerId) -> Bool { links.removeValue(forKey: peer) != nil }

    func isEager(_ peer: PeerId) -> Bool { links[peer]?.isEager == true }

    mutating func setEager(_ isEager: Bool, _ peer: PeerId) { links[peer]?.isEager = isEager }

    /// Notes whether a peer reads too slowly; returns false if it is not a neighbour.
    mutating func setCongested(_ isCongested: Bool, _ peer: PeerId) -> Bool {
        links[peer]?.isCongested = isCongested
        return links[peer] != nil
    }

    /// The peers that get batches.
    ///
    /// A requested member counts as a neighbour until it declines, so that nothing published meanwhile is late.
    var batchReceivers: [PeerId] {
        links.filter { $0.value.getsBatches }.keys.elements + requested.elements
    }

    /// The neighbours that get announcements instead.
    var announcementReceivers: OrderedSet<PeerId> { links.filter { !$0.value.getsBatches }.keys }
}
