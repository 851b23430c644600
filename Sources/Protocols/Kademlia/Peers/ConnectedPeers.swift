internal import Identity
internal import OrderedCollections

/// A peer that is connected and admitted in the network.
struct ConnectedPeer: Sendable {
    /// The addresses at which others may dial it, perhaps none.
    fileprivate(set) var addresses: [SocketAddress]
    /// The smoothed time from a query to its response; nil before the first response.
    fileprivate(set) var roundTrip: Duration?
    /// Whether nothing that is sent to it is answered; then no lookup waits for it.
    fileprivate(set) var isUnresponsive = false
    /// Queries to it in a row that timed out.
    fileprivate var timeoutCount = 0
    fileprivate var budget: QueryBudget
}

/// The connected peers of one network, in the routing table or not: their round trips and their query budgets.
struct ConnectedPeers: Sendable {
    /// The most budgets of disconnected peers that are remembered: more than can connect and disconnect during one refill.
    private static let spentLimit = 1024
    /// The consecutive timeouts after which a connected peer leaves the routing table.
    private static let timeoutLimit = 3

    private let queryBurst: Int
    private let queriesPerSecond: Int
    private var peers: [PeerId: ConnectedPeer] = [:]
    /// The budgets of peers that disconnected with a partly spent budget, the oldest first: a new connection continues with
    /// the remainder.
    private var spentBudgets: OrderedDictionary<PeerId, QueryBudget> = [:]

    init(limits: Kademlia.Limits) {
        queryBurst = limits.requestBurst
        queriesPerSecond = limits.requestsPerSecond
    }

    subscript(peer: PeerId) -> ConnectedPeer? { peers[peer] }

    var count: Int { peers.count }
    var isEmpty: Bool { peers.isEmpty }

    // MARK: Connections

    /// Adds a peer, or replaces the addresses of a connected one if there are new ones.
    mutating func connect(_ peer: PeerId, _ addresses: [SocketAddress], at now: Duration) {
        if peers[peer] == nil {
            let budget = spentBudgets.removeValue(forKey: peer) ?? QueryBudget(burst: queryBurst, at: now)
            peers[peer] = ConnectedPeer(addresses: addresses, budget: budget)
        } else if !addresses.isEmpty {
            peers[peer]?.addresses = addresses
        }
    }

    /// Removes a peer and remembers its budget; returns whether it was connected.
    mutating func disconnect(_ peer: PeerId) -> Bool {
        guard var budget = peers.removeValue(forKey: peer)?.budget else { return false }
        guard budget.left < queryBurst else { return true }
        if spentBudgets.count >= Self.spentLimit { spentBudgets.removeFirst() }
        budget.forgetDropped()
        spentBudgets[peer] = budget
        return true
    }

    /// Removes a peer that was revoked.
    mutating func remove(_ peer: PeerId) { peers[peer] = nil }

    // MARK: Responsiveness

    /// Marks a peer responsive or unresponsive; returns whether that changed.
    @discardableResult
    mutating func setUnresponsive(_ isUnresponsive: Bool, _ peer: PeerId) -> Bool {
        guard let connected = peers[peer], connected.isUnresponsive != isUnresponsive else { return false }
        peers[peer]?.isUnresponsive = isUnresponsive
        return true
    }

    /// Notes a response, and the round trip where it was measured.
    mutating func noteResponse(of peer: PeerId, roundTrip: Duration?) {
        if let roundTrip {
            let old = peers[peer]?.roundTrip ?? roundTrip
            peers[peer]?.roundTrip = (old * 7 + roundTrip) / 8
        }
        peers[peer]?.timeoutCount = 0
    }

    /// Notes that a query timed out; returns whether the peer has not responded for too long.
    mutating func noteTimeout(of peer: PeerId) -> Bool {
        peers[peer]?.timeoutCount += 1
        return (peers[peer]?.timeoutCount ?? 0) >= Self.timeoutLimit
    }

    // MARK: Queries of peers

    /// Counts a query of a peer against its budget; nil if the peer is not connected.
    mutating func takeQuery(of peer: PeerId, at now: Duration) -> QueryBudget.Verdict? {
        peers[peer]?.budget.take(burst: queryBurst, perSecond: queriesPerSecond, at: now)
    }
}
