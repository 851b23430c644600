/// What the node's machine and its owner have to spare for it.
package struct Conditions: Hashable, Sendable {
    /// Whether there is a network at all, as far as the system knows.
    package var hasNetwork = true
    /// Whether only what somebody asked for is done: nothing is said on the local network, and nobody is sought.
    package var isReduced = false

    package init() {}

    /// Whether peers are dialled that nobody asked for.
    var allowsSeeking: Bool { self.hasNetwork && !self.isReduced }
}
