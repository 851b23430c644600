/// The resources that the machine and its owner spare for the node.
package struct Conditions: Hashable, Sendable {
    /// Whether there is a network at all, as far as the system knows.
    package var hasNetwork = true
    /// Whether the node only does what a person asked for: it is silent on the local network, and seeks no peer.
    package var isReduced = false

    package init() {}

    /// Whether peers are dialled without a request for them.
    var allowsSeeking: Bool { self.hasNetwork && !self.isReduced }
}
