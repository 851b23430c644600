/// A manual disconnect from a peer, which is not dialled until its end even if there are reasons to.
package struct ManualDisconnect: Hashable, Sendable {
    /// Whether the user of this device disconnected; else the peer reported that its user did.
    package let isOurs: Bool
    /// The monotonic time at which the two may connect again.
    package let end: Duration
}
