/// The peers that must be connected before a request is useful.
package enum RequiredPeers: Sendable {
    case nobody
    case peer(PeerName)
    /// Some member of the network, or of any.
    case member(NetworkName?)
    /// Some member of the only network or the one named.
    case memberOfOne(NetworkName?)
    /// A member with whom the network's events are exchanged.
    case exchange(NetworkName?)
    /// As many as connect within the time limit.
    case everybody
}
