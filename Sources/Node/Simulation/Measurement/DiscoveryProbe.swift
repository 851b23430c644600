internal import Identity

/// How long nodes of a local network take to hear each other.
struct DiscoveryProbe {
    /// Per ordered pair, from the later start.
    var samples = Samples()
    private var pairs: Set<UInt64> = []

    /// Whether a node hears another one for the first time.
    mutating func isFirst(_ node: Int, _ other: Int) -> Bool {
        self.pairs.insert(UInt64(node) << 32 | UInt64(other)).inserted
    }
}

extension World {
    mutating func noteDiscovery(of peer: PeerId, by node: Int) {
        guard let other = self.nodes.number(of: peer) else { return }
        self.digest.mix(0xD15C << 48 | UInt64(node) << 24 | UInt64(other))
        guard self.discoveryProbe.isFirst(node, other) else { return }
        self.discoveryProbe.samples.add(self.queue.now - max(self.nodes[node].startedAt, self.nodes[other].startedAt))
    }
}
