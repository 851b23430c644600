internal import Identity

/// The indexes that stand for networks on one connection, for its whole life.
///
/// Both sides choose from their own half, so that simultaneous hellos cannot collide.
struct NetworkIndexes: Sendable {
    private let isDialler: Bool
    private var networks = Pairs<UInt8, NetworkId>()
    /// The index of our half that stands for each network.
    private var ours = Pairs<NetworkId, UInt8>()

    init(isDialler: Bool) {
        self.isDialler = isDialler
    }

    var isEmpty: Bool { networks.isEmpty }

    /// The network behind an index.
    subscript(index: UInt8) -> NetworkId? { networks[index] }

    func isOurs(_ index: UInt8) -> Bool { (index % 2 == 0) == isDialler }

    /// Returns an index of our half for `network`: the one it had before, or the next; nil when they are used up.
    mutating func choose(for network: NetworkId) -> UInt8? {
        if let index = ours[network] { return index }
        guard let index = UInt8(exactly: 2 * ours.count + (isDialler ? 0 : 1)) else { return nil }
        ours[network] = index
        networks[index] = network
        return index
    }

    /// Whether the peer may put `network` under `index`.
    func mayPeerUse(_ index: UInt8, for network: NetworkId) -> Bool {
        !isOurs(index) && networks[index] ?? network == network
    }

    /// Notes the index that the peer chose for `network`.
    mutating func note(_ index: UInt8, of network: NetworkId) { networks[index] = network }
}
