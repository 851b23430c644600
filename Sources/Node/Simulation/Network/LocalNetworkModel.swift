internal import Transport

/// Local networks of neighbouring nodes, in which datagrams to the discovery group reach all, with losses.
struct LocalNetworkModel: Sendable, Hashable {
    /// The number of nodes in one network; the last network may have fewer.
    var size: Int
    var link: LinkModel
    var knows = Knowledge.secret

    /// The knowledge that nodes have of their network before their first start, in addition to their token.
    enum Knowledge: String, Sendable, CaseIterable {
        /// The member secret, as after an earlier admission.
        case secret
        /// The key to which they can call, as from a text.
        case rendezvous
    }

    /// Returns the nodes that are in one network with `node`, itself included.
    func neighbours(of node: Int, nodeCount: Int) -> Range<Int> {
        let first = node / size * size
        return first..<min(first + size, nodeCount)
    }
}
