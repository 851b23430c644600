package import Discovery
package import Identity
package import Kademlia
package import Mailbox
package import OneTimeKeys
package import PubSub
package import Services
package import Traversal

/// An action for the driver of a node, by subsystem.
///
/// An action that only concerns a sub-protocol and the driver is the sub-protocol's own, passed on unchanged.
package enum Effect: Hashable, Sendable {
    case connection(ConnectionEffect)
    case peer(PeerEffect)
    case membership(MembershipEffect)
    case join(JoinEffect)
    case paths(Reach.HostEffect)
    case discovery(Discovery.HostEffect)
    case table(NetworkId, Kademlia.HostEffect)
    case events(NetworkId, PubSub.HostEffect)
    case services(NetworkId, Services.HostEffect)
    case mailbox(NetworkId, Mailbox.HostEffect)
    case keys(PeerId, KeyExchanges.HostEffect)
    /// Feed `timeReached` at this monotonic time; replaces an earlier wake.
    case wake(at: Duration)
}

/// An input of a node in progress.
typealias Turn = Identity.Turn<NodeTime, Effect>

/// An action on one connection, or between two.
package enum ConnectionEffect: Hashable, Sendable {
    /// Write a control frame.
    case send(ConnectionId, Frame)
    /// Close the connection; if it `lingers`, once the frames sent just before had a moment to arrive.
    ///
    /// A connection lingers when a frame was sent on it while the same input was handled: a revocation to the revoked
    /// peer, for example.
    case close(ConnectionId, CloseCode, lingers: Bool)
    /// The peer was admitted on the connection for the first time: grant it the limits of a member.
    case admitted(ConnectionId)
    /// Open no more streams, and close with `superseded` once the open ones have ended.
    case drain(ConnectionId)
    /// Packets sent on the connection stay unanswered: let other members answer the requests that may be repeated.
    case moveRequests(from: ConnectionId)
    /// Reset every stream of this network on this connection.
    case resetStreams(ConnectionId, NetworkId, CloseCode)
    /// Move a connection that this node dialled to this address once the peer answers there.
    case migrate(ConnectionId, SocketAddress, port: UInt16?)
    /// Lead the channel over this connection from now on.
    case openChannel(ChannelId, over: ConnectionId)
    /// Forward between these two channels of these two connections.
    case relay(RelaySide, RelaySide)
}

/// An action that concerns one peer.
package enum PeerEffect: Hashable, Sendable {
    /// Dial the peer at these addresses, the most promising first.
    case dial(PeerId, [SocketAddress])
    /// Dial the peer at this one address, or that of a channel, from the node's own port (nil) or one of `openPorts`.
    case dialPath(PeerId, SocketAddress, port: UInt16?)
    /// Report to those that wait for the peer that no way leads to it at present, with the last failure in words.
    case unreachable(PeerId, reason: String)
    /// Report to those that wait for the peer that this device's person banned it.
    case banned(PeerId)

    /// The peer and this node are admitted to each other in the network.
    case joined(PeerId, NetworkId)
    /// The last admission of the peer in the network ended; nil when the connection just broke.
    case left(PeerId, NetworkId, CloseCode?)
    /// This node refused the peer; the network is nil when it named none that this node is a member of.
    case refused(PeerId, NetworkId?, Refusal)
    /// The peer refused this node.
    case refusedByPeer(PeerId, NetworkId?, CloseCode)
    /// Store that the peer is a member of the network, and where it is; nil if it is connected over a relay.
    case persist(PeerId, NetworkId, ObservedAddress?)
    /// Store that the peer did not answer at this address, or forget the address if it is stale.
    case persistFailure(PeerId, SocketAddress, isStale: Bool)
    /// Store that these peers are connected.
    case persistSeen([PeerId])

    /// A member was discovered on the local network and can be dialled at these addresses.
    case discovered(PeerId, NetworkId, [SocketAddress])
    /// A member was lost on the local network.
    case lost(PeerId, NetworkId)
}

/// An action that concerns this device's memberships.
package enum MembershipEffect: Hashable, Sendable {
    /// Store newly learnt revocations; they were verified.
    case persistRevocations([Revocation])
    /// Keep a network's member secrets where keys are kept, in place of those kept before.
    case persistSecrets(MemberSecrets)
    /// This device's token was renewed: store it; the node already uses it.
    case tokenRenewed(AccessToken)
    /// This device's token ends in this number of seconds; reported from seven days before, once a day.
    case tokenExpiring(NetworkId, seconds: UInt64)
    /// A member requests a new token in place of this one, which is good: answer with `renewalDecided`.
    case renewalRequested(ConnectionId, PeerId, NetworkId, AccessToken)
    /// This node's own membership ended: permanently if it was revoked, until a new token arrives if its token expired.
    case ended(NetworkId, CloseCode)
    /// Two running nodes use one device key; reported once for each record of ``NodeCore/keysUsedTwice(at:)``.
    case deviceKeyUsedTwice(PeerId)
    /// This machine's clock is this number of seconds behind a time that the network's owner signed.
    case clockBehind(NetworkId, seconds: UInt64)
}

/// An action that concerns an invitation or a join.
package enum JoinEffect: Hashable, Sendable {
    /// A joiner proved that it has the secret of an open invitation, which is used up by that: answer with `decided`.
    case requested(ConnectionId, PendingJoinRequest)
    /// A joiner no longer waits for consent; it got no token.
    case requestEnded(ConnectionId, PeerId, NetworkId, JoinFailure)
    /// An invitation of this node ended unused.
    case invitationEnded(Invitation.ID, NetworkId, JoinFailure)
    /// This device's join waits for the inviter; both screens show `digits`.
    case pending(PeerId, NetworkId, digits: String)
    /// This inviter granted this device a token, which the node already uses.
    case granted(PeerId, JoinGrant)
    /// A join of this device through this inviter failed.
    case failed(PeerId, NetworkId, JoinFailure)
}

/// One side of a channel that this node relays.
package struct RelaySide: Hashable, Sendable {
    package var connection: ConnectionId
    package var channel: ChannelId
}

/// The request of a joiner that waits for consent: its invitation, its PeerId and the network.
package struct PendingJoinRequest: Hashable, Sendable {
    package var invitation: Invitation.ID
    package var peer: PeerId
    package var network: NetworkId
    /// The six digits that both screens show.
    package var digits: String
    /// Whether consent was given with the invitation.
    package var isPreallowed: Bool
}

/// The exact reason for which this node refused a peer; it stays here, the peer receives less (``CloseCode``).
package enum Refusal: Hashable, Sendable {
    /// It showed no token at all.
    case noToken
    /// It showed an invalid token.
    case token(TokenProblem)
    /// It sent no hello in time.
    case helloTimeout
    /// It violated the protocol.
    case protocolViolation(String)
    /// It has another version of the protocol.
    case unsupportedVersion(found: UInt8, supported: UInt8)
    /// Its proof for an invitation was wrong or late.
    case invitation(String)
    /// There is no room for it.
    case tooManyPeers
    /// This device's person disconnected from it.
    case manuallyDisconnected
    /// This device's person banned it.
    case banned
    /// Another running node uses its key, and is connected.
    case deviceKeyUsedTwice
}
