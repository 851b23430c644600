internal import Identity
internal import OrderedCollections

@testable internal import Traversal

// Two nodes behind NATs, and two public ones with connections to both: the scene of most tests.
extension World {
    static let first = 0
    static let second = 1
    static let helpers = [2, 3]

    /// `kinds` are those of the NATs; nil for a public address.
    convenience init(
        pair kinds: (SiteNAT.Kind?, SiteNAT.Kind?),
        seed: UInt64 = 1,
        loss: Double = 0,
        limits: Reach.Limits = Reach.Limits(),
        helperCount: Int = 2,
        addresses: (first: [String], second: [String]) = ([], [])
    ) throws {
        try self.init(seed: seed, limits: limits)
        let nats = [kinds.0, kinds.1].map { $0.map { self.addNAT($0) } }
        try self.addNode(behind: nats[0], addresses: addresses.first)
        try self.addNode(behind: nats[1], addresses: addresses.second)
        for _ in Self.helpers { try self.addNode() }
        for helper in Self.helpers.prefix(helperCount) {
            self.connect(Self.first, helper)
            self.connect(Self.second, helper)
        }
        self.run(for: .seconds(1))
        self.loss = loss
    }

    /// Makes one node seek another.
    func seek(_ node: Int = World.first, _ other: Int = World.second) {
        self.feed(node, .sought(self.nodes[other].peerId, self.network))
    }

    func link(_ node: Int = World.first, _ other: Int = World.second) -> Link? { self.nodes[node].links[other] }

    func isConnected(_ node: Int = World.first, _ other: Int = World.second) -> Bool {
        self.link(node, other) != nil && self.link(other, node) != nil
    }

    /// Whether both sides are connected without a relay.
    func isDirect(_ node: Int = World.first, _ other: Int = World.second) -> Bool {
        guard let one = self.link(node, other), let two = self.link(other, node) else { return false }
        return ChannelId(address: one.remote) == nil && ChannelId(address: two.remote) == nil
    }

    /// Whether both sides are connected over a relay.
    func isRelayed(_ node: Int = World.first, _ other: Int = World.second) -> Bool {
        guard let one = self.link(node, other), let two = self.link(other, node) else { return false }
        return ChannelId(address: one.remote) != nil && ChannelId(address: two.remote) != nil
    }

    /// Runs until both sides are connected without a relay; returns the time that took.
    func timeToDirect(
        within limit: Duration = .seconds(30),
        _ node: Int = World.first,
        _ other: Int = World.second
    ) -> Duration? {
        let start = self.now
        self.run(until: start + limit) { $0.isDirect(node, other) }
        return self.isDirect(node, other) ? self.now - start : nil
    }

    /// The round trip over the peer that coordinated the two.
    var relayedRoundTrip: Duration {
        var helper = Self.helpers[0]
        for (_, _, event) in self.nodes[Self.first].history {
            if case .introduced(let peer, _, _) = event, let found = self.index(of: peer) { helper = found }
        }
        return (self.nodes[Self.first].delay + self.nodes[helper].delay * 2 + self.nodes[Self.second].delay) * 2
    }

    /// Returns the events that a node recorded about others, for a failed test to show.
    func story(_ node: Int = World.first) -> String {
        self.nodes[node].history.map { "\($0.at): \($0.event)" }.joined(separator: "\n")
    }

    /// Brings a node to another place: behind this NAT, or to a public address.
    ///
    /// The connections that it dialled continue from there, by QUIC's migration; the others wait for ``Reach``.
    func move(_ node: Int, behind nat: Int?) {
        self.nodes[node].nat = nat
        let number = UInt32(self.nats.count + node)
        let ip: IPAddress = nat.map { .v4(0xC0A8_0000 + UInt32($0) << 8 + 200 + number) } ?? .v4(0xC633_64C8 + number)
        self.nodes[node].addresses = [SocketAddress(ip, port: Self.mainPort)]
        self.feed(node, .ownAddressesChanged(self.nodes[node].addresses))
        self.send(from: node)
    }

    /// Sends something on each connection that a node dialled, so that the other side sees its new address.
    func send(from node: Int) {
        for (other, link) in self.nodes[node].links.sorted(by: { $0.key < $1.key })
        where link.isDialler && ChannelId(address: link.remote) == nil {
            self.begin(self.attempt(node, self.nodes[other].peerId, link.remote, link.port, move: link.id))
        }
    }

    /// Notifies a node that a peer is silent.
    func suspect(_ node: Int, _ other: Int, after delay: Duration = .zero) {
        let peer = self.nodes[other].peerId
        self.schedule(after: delay, .run { $0.feed(node, .pathSuspected(peer)) })
    }

    /// Whether no operation is under way, and no state is kept that no connection needs.
    func isAtRest(_ node: Int) -> Bool {
        let reach = self.nodes[node].reach
        return reach.sessions.entries.isEmpty && reach.sessions.byPeer.isEmpty && reach.searchPorts.holder == nil
            && reach.channels.count <= self.limits.standbyChannels + self.nodes[node].links.count
            && reach.broker.sessions.values.allSatisfy { $0.expiry == nil }
    }
}
