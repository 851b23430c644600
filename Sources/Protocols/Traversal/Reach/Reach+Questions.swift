package import Identity
internal import OrderedCollections

extension Reach {
    /// Whether the peer is admitted on a connection that can be told of ways.
    package func isConnected(to peer: PeerId) -> Bool { self.peers[peer] != nil }

    /// Over whom a channel leads.
    package func relay(of channel: ChannelId) -> PeerId? { self.channels[channel]?.relay }
}
