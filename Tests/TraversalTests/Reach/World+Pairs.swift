internal import Identity

@testable internal import Traversal

// Two nodes behind NATs, and two public ones that both know: the scene of most tests.
extension World {
    static let first = 0
    static let second = 1
    static let helpers = [2, 3]

    /// `kinds` are those of the NATs; nil stands for a public address.
    convenience init(
        pair kinds: (SiteNAT.Kind?, SiteNAT.Kind?),
        seed: UInt64 = 1,
        loss: Double = 0,
        limits: Reach.Limits = Reach.Limits(),
        addresses: (first: [String], second: [String]) = ([], [])
    ) throws {
        try self.init(seed: seed, limits: limits)
        let nats = [kinds.0, kinds.1].map { $0.map { self.addNAT($0) } }
        try self.addNode(behind: nats[0], addresses: addresses.first)
        try self.addNode(behind: nats[1], addresses: addresses.second)
        for _ in Self.helpers { try self.addNode() }
        for helper in Self.helpers {
            self.connect(Self.first, helper)
            self.connect(Self.second, helper)
        }
        self.run(for: .seconds(1))
        self.loss = loss
    }

    /// Lets one node seek another.
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

    /// Goes on until both sides are connected without a relay; returns how long that took.
    func timeToDirect(
        within limit: Duration = .seconds(30),
        _ node: Int = World.first,
        _ other: Int = World.second
    ) -> Duration? {
        let start = self.now
        self.run(until: start + limit) { $0.isDirect(node, other) }
        return self.isDirect(node, other) ? self.now - start : nil
    }

    /// There and back over the peer that brought the two together.
    var relayedRoundTrip: Duration {
        var helper = Self.helpers[0]
        for (_, _, event) in self.nodes[Self.first].history {
            if case .introduced(let peer, _, _) = event, let found = self.index(of: peer) { helper = found }
        }
        return (self.nodes[Self.first].delay + self.nodes[helper].delay * 2 + self.nodes[Self.second].delay) * 2
    }

    /// What a node noted about another, for a failed test to show.
    func story(_ node: Int = World.first) -> String {
        self.nodes[node].history.map { "\($0.at): \($0.event)" }.joined(separator: "\n")
    }
}
