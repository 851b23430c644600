/// The resources that the machine and its owner spare for the node.
package struct Conditions: Hashable, Sendable {
    /// Whether the system reports a network.
    package var hasNetwork = true
    /// Whether the node only acts on requests: it announces nothing on the local network, and seeks no peer.
    package var isReduced = false

    package init() {}

    /// Whether peers are dialled without a request for them.
    var allowsSeeking: Bool { hasNetwork && !isReduced }
}
