/// The times that nodes of a local network take to discover each other.
struct DiscoveryProbe {
    /// Per ordered pair, from the later start.
    var samples = Samples()
    private var pairs: Set<UInt64> = []

    /// Whether a node discovers another one for the first time.
    mutating func isFirst(_ node: Int, _ other: Int) -> Bool {
        pairs.insert(UInt64(node) << 32 | UInt64(other)).inserted
    }
}
