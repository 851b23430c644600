package import Discovery
package import Identity
package import Kademlia
package import PubSub
package import Traversal

/// What the driver must do next.
package enum Effect: Hashable, Sendable {
    /// Write a control frame.
    case send(ConnectionId, Frame)
    /// Close the connection.
    case close(ConnectionId, CloseCode)
    /// The peer was admitted on the connection for the first time: grant it the limits of a member.
    case admitted(ConnectionId)
    /// Open no more streams, and close with `superseded` once those under way have ended.
    case drain(ConnectionId)
    /// What is sent on the connection stays unanswered: let somebody else do what can be done twice.
    case moveRequests(from: ConnectionId)
    /// Reset every stream of this network on this connection.
    case resetStreams(ConnectionId, NetworkId, CloseCode)
    /// Dial the peer at these addresses, the most promising first.
    case dial(PeerId, [SocketAddress])
    /// No way leads to the peer at present, with the last failure in words; whoever waits for it hears so.
    case unreachable(PeerId, reason: String)
    /// Feed `timeReached` at this monotonic time; replaces an earlier wake.
    case wake(at: Duration)

    /// Send a datagram to the discovery group, on every interface.
    case multicast([UInt8])

    /// Dial the peer at this one address, or that of a channel, from the node's own port (nil) or one of `openPorts`.
    case dialPath(PeerId, SocketAddress, port: UInt16?)
    /// Move a connection that this node dialled to this address once the peer answers there.
    case migrate(ConnectionId, SocketAddress, port: UInt16?)
    /// Send a datagram of STUN from the node's own port (nil) or one of `openPorts`.
    case sendProbe([UInt8], to: SocketAddress, port: UInt16?)
    /// Open so many ports beside the node's own, and feed `portsOpened`.
    case openPorts(Int)
    /// Close these, except for those over which a connection runs.
    case closePorts([UInt16])
    /// The channel leads over this connection from now on.
    case openChannel(ChannelId, over: ConnectionId)
    /// It leads nowhere any more.
    case closeChannel(ChannelId)
    /// Forward between these two channels of these two connections.
    case relay(RelaySide, RelaySide)
    /// Forward neither from nor to this channel any more, nor its other side.
    case stopRelaying(ChannelId)
    /// Whom this device's NAT lets in, as far as it could be found out.
    case filteringFound(FilteringBehaviour)
    /// Something happened on the way to a peer.
    case reachEvent(PeerId, Reach.Event)

    /// Store newly learnt revocations; they were verified.
    case persistRevocations([Revocation])
    /// Store that the peer is a member of the network and answered at this address (nil when it dialled us).
    case persistPeer(PeerId, NetworkId, SocketAddress?)

    /// Keep a network's member secrets where keys are kept, in place of those kept before.
    case persistMemberSecrets(MemberSecrets)
    /// This device's token was renewed: store it; the node already uses it.
    case tokenRenewed(AccessToken)
    /// Keep the record of a network over restarts, in place of an older one of the same id.
    case persistRecord(NetworkId, Record)
    /// The record need no longer be kept.
    case forgetRecord(NetworkId, RecordId)

    /// The peer and this node are admitted to each other in the network.
    case peerJoined(PeerId, NetworkId)
    /// The last admission of the peer in the network ended; nil when the connection just broke.
    case peerLeft(PeerId, NetworkId, CloseCode?)
    /// This node refused the peer; the network is nil when it named none that this node knows.
    case refused(PeerId, NetworkId?, Refusal)
    /// The peer refused this node.
    case refusedByPeer(PeerId, NetworkId?, CloseCode)
    /// This node's own membership ended: for good when it was revoked, until a new token comes when its token expired.
    case membershipEnded(NetworkId, CloseCode)
    /// The same device key runs in two places.
    case deviceKeyUsedTwice(PeerId)

    /// This device's token ends in so many seconds; told from seven days before, once a day.
    case tokenExpiring(NetworkId, seconds: UInt64)
    /// A member asks for a new token in place of this one, which is good: answer with `renewalDecided`.
    case renewalRequested(ConnectionId, PeerId, NetworkId, AccessToken)
    /// A member is heard on the local network and can be dialled at these addresses, now or at new ones.
    case peerDiscovered(PeerId, NetworkId, [SocketAddress])
    /// A member is not heard any more.
    case peerLost(PeerId, NetworkId)
    /// Datagrams from a source were ignored for a reason, so many since it was last told.
    case datagramsIgnored(Discovery.Reason, from: SocketAddress, count: Int)
    /// A request to a hash table ended.
    case dhtFinished(Kademlia.RequestId, Kademlia.Outcome, Kademlia.Effort)

    /// Hand a network's events to the application: in order for each publisher, each once; with the time of their
    /// publication by the monotonic clock, rather too late than too early, and the hops that they took.
    case eventsReceived(NetworkId, EventBatch, publishedAt: Duration, hops: UInt8)
    /// So many events of a publisher are lost: nobody had them any more.
    case eventsMissed(NetworkId, StreamId, count: UInt64)
    /// Whether there is nobody with whom to exchange events.
    case eventsIsolated(NetworkId, Bool)
    /// The peer offers other services in the network than before.
    case servicesChanged(PeerId, NetworkId)

    /// A joiner knows the secret of an open invitation, which is used up by that.
    case joinRequested(ConnectionId, JoinQuestion)
    /// A joiner that waited for consent does so no more, without a token.
    case joinRequestEnded(ConnectionId, PeerId, NetworkId, JoinFailure)
    /// An invitation of this node ended before anybody used it.
    case invitationEnded(Invitation.ID, NetworkId, JoinFailure)
    /// This device's join waits for the inviter; both screens show `digits`.
    case joinPending(PeerId, NetworkId, digits: String)
    /// This inviter granted this device a token, which the node already uses.
    case joinGranted(PeerId, JoinGrant)
    /// A join of this device through this inviter came to nothing.
    case joinFailed(PeerId, NetworkId, JoinFailure)
    /// This machine's clock is so many seconds behind a time that the network's owner signed.
    case clockBehind(NetworkId, seconds: UInt64)
}

/// One side of what this node forwards.
package struct RelaySide: Hashable, Sendable {
    package var connection: ConnectionId
    package var channel: ChannelId
}

/// Who wants to join what, by which invitation.
package struct JoinQuestion: Hashable, Sendable {
    package var invitation: Invitation.ID
    package var peer: PeerId
    package var network: NetworkId
    /// The six digits that both screens show.
    package var digits: String
    /// Whether consent was given with the invitation.
    package var isPreallowed: Bool
}

/// Why this node refused a peer; the exact reason stays here, the peer is told less (``CloseCode``).
package enum Refusal: Hashable, Sendable {
    /// It showed no token at all.
    case noToken
    /// It showed one that is no good.
    case token(TokenProblem)
    /// It said nothing in time.
    case helloTimeout
    /// It broke the protocol.
    case protocolViolation(String)
    /// Its proof for an invitation was wrong or came too late.
    case invitation(String)
    /// There is no room for it.
    case tooManyPeers
    /// This device's person disconnected from it.
    case parted
}
