/// A manual disconnect from a peer, which is not dialled until its end even if there are reasons to.
package struct ManualDisconnect: Hashable, Sendable {
    /// Whether the person of this device did; else that of the peer, which said so.
    package let isOurs: Bool
    /// The monotonic time at which the two may find each other again.
    package let end: Duration
}
