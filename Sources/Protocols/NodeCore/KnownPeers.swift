internal import DequeModule
internal import Identity
internal import OrderedCollections

/// The peers that this node knows, and their dials: those under way, and those that wait for their turn.
struct KnownPeers: Sendable {
    /// Looked up, and walked only in the order of the keys.
    private var peers: [PeerId: PeerState] = [:]
    /// The number of peers that became known so far.
    private var lastNumber: UInt64 = 0
    /// The number of peers that are being dialled.
    private(set) var dialCount = 0
    /// The peers that wait for their turn to be dialled; those that no longer do are passed over.
    private(set) var dialQueue: Deque<PeerId> = []
    /// The peers whose dial is slow while no member that could coordinate a traversal is connected.
    private var overdueTraversals = OrderedSet<PeerId>()
    private let limits: Limits

    init(limits: Limits) {
        self.limits = limits
    }

    subscript(peer: PeerId) -> PeerState? {
        get { peers[peer] }
        _modify { yield &peers[peer] }
    }

    var isEmpty: Bool { peers.isEmpty }
    var count: Int { peers.count }
    /// Ascending.
    var ids: [PeerId] { peers.keys.sorted() }

    // MARK: Knowing

    /// Makes sure that there is an entry for a peer.
    mutating func know(_ peer: PeerId) {
        guard peers[peer] == nil else { return }
        makeRoom()
        lastNumber += 1
        peers[peer] = PeerState(number: lastNumber)
    }

    /// Forgets an eighth of the peers that are dispensable at present, the oldest first: wanted ones only if there is no
    /// other.
    private mutating func makeRoom() {
        guard peers.count >= limits.knownPeers else { return }
        let idle = peers.filter {
            $0.value.connections.isEmpty && $0.value.dial.state != .dialling && !$0.value.reasons.isInviter
        }
        let unwanted = idle.filter { !$0.value.reasons.isWanted }
        let oldest = (unwanted.isEmpty ? idle : unwanted).sorted { $0.value.number < $1.value.number }
        for (peer, _) in oldest.prefix(max(1, limits.knownPeers / 8)) { peers.removeValue(forKey: peer) }
    }

    /// Forgets a peer unless something is lost with it.
    mutating func forgetIfDispensable(_ peer: PeerId) {
        if peers[peer]?.isDispensable == true { peers.removeValue(forKey: peer) }
    }

    /// Drops the evidence that a peer is in a network, and every requirement to reach it with the last one.
    mutating func forget(_ network: NetworkId, of peer: PeerId) {
        peers[peer]?.networks.removeAll { $0 == network }
        guard peers[peer]?.networks.isEmpty == true else { return }
        peers[peer]?.unwant()
    }

    /// Drops the evidence that any peer is in a network.
    mutating func forget(_ network: NetworkId) {
        for peer in Array(peers.keys) { forget(network, of: peer) }
    }

    /// The peers of a network that there is a reason to dial, ascending.
    func reachedFor(in network: NetworkId) -> [PeerId] {
        peers.filter { $0.value.isReachedFor && $0.value.networks.contains(network) }.keys.sorted()
    }

    /// Puts addresses of a peer before those already known.
    mutating func prefer(_ addresses: [SocketAddress], of peer: PeerId) {
        peers[peer]?.prefer(addresses, limit: limits.addressesPerPeer)
    }

    /// Puts the address from which a peer dialled behind those already known.
    mutating func add(_ address: SocketAddress, of peer: PeerId) {
        peers[peer]?.add(address, limit: limits.addressesPerPeer)
    }

    /// Counts a failed dial of a peer at an address; returns whether the address was forgotten as stale.
    mutating func noteFailedDial(of peer: PeerId, at address: SocketAddress) -> Bool {
        peers[peer]?.noteFailedDial(at: address, limits) ?? false
    }

    /// Notes the address of a peer, and returns the addresses that were forgotten as stale for that reason.
    mutating func noteAnswer(of peer: PeerId, at address: SocketAddress) -> [SocketAddress] {
        peers[peer]?.noteAnswer(at: address, limits) ?? []
    }

    // MARK: Dials

    /// Whether another dial may begin.
    var hasRoomForDial: Bool { dialCount < limits.dials }

    /// Notes the state of a peer's dial.
    mutating func setDialState(_ state: PeerDial.State, of peer: PeerId) {
        guard let before = peers[peer]?.dial.state else { return }
        if before == .dialling { dialCount -= 1 }
        if state == .dialling { dialCount += 1 }
        peers[peer]?.dial.state = state
    }

    /// Cancels a dial that waits for its time, or its turn.
    mutating func stopWaiting(for peer: PeerId) {
        if peers[peer]?.dial.state != .dialling { setDialState(.idle, of: peer) }
    }

    /// Begins a dial and returns the addresses for it.
    mutating func beginDial(of peer: PeerId) -> [SocketAddress] {
        let addresses = peers[peer]?.addresses ?? []
        setDialState(.dialling, of: peer)
        peers[peer]?.dial.begin(at: addresses)
        return addresses
    }

    /// Begins another dial and returns the addresses for it, which became known since the one under way began.
    ///
    /// Returns nil if there are none, or enough dials of the peer are under way.
    mutating func beginFurtherDial(of peer: PeerId) -> [SocketAddress]? {
        guard let known = peers[peer], known.dial.underWay < limits.dialsPerPeer else { return nil }
        let untried = known.untriedAddresses
        guard !untried.isEmpty else { return nil }
        peers[peer]?.dial.beginFurther(at: untried)
        return untried
    }

    /// Queues a peer to be dialled; returns false if the queue is full.
    mutating func enqueue(_ peer: PeerId) -> Bool {
        guard dialQueue.count < limits.queuedDials else { return false }
        dialQueue.append(peer)
        setDialState(.queued, of: peer)
        return true
    }

    /// Removes and returns the next queued peer.
    mutating func takeQueued() -> PeerId? {
        while let peer = dialQueue.popFirst() {
            guard peers[peer]?.dial.state == .queued else { continue }
            setDialState(.idle, of: peer)
            return peer
        }
        return nil
    }

    // MARK: Traversal

    /// The peers whose dial is slow, in the order in which that was noted.
    var overdue: [PeerId] { Array(overdueTraversals) }

    /// Notes that the dial of a peer takes long.
    mutating func addOverdue(_ peer: PeerId) {
        if overdueTraversals.count < limits.dials { overdueTraversals.append(peer) }
    }

    mutating func removeOverdue(_ peer: PeerId) { overdueTraversals.remove(peer) }
}
