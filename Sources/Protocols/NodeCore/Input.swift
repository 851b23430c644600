package import Identity
package import Kademlia
package import Services
package import Traversal

/// What can happen to a node.
package enum Input: Sendable {
    /// A connection whose peer TLS has proved is up, in either direction.
    case connectionUp(ConnectionId, Link)
    /// A connection is gone, with the application error code if one was given.
    case connectionDown(ConnectionId, code: UInt64?)
    /// A whole control frame arrived.
    case frameReceived(ConnectionId, [UInt8])
    /// No address of the peer answered; with the last failure in words.
    case dialFailed(PeerId, reason: String = "")
    /// The one address of a `dialPath` effect did not.
    case pathDialFailed(PeerId)
    /// A connection's packets go to another address now, or to that of a channel.
    case pathChanged(ConnectionId, SocketAddress)
    /// The peer did not answer where a `migrate` effect led.
    case pathRefused(ConnectionId, SocketAddress)
    /// What was sent on a connection stays unanswered.
    case pathSuspected(ConnectionId)
    /// The peer is heard again after that.
    case pathAnswered(ConnectionId)
    /// A datagram of STUN came to the node's own port (nil) or to one of `openPorts`.
    case probeReceived([UInt8], from: SocketAddress, port: UInt16?)
    /// The ports that an `openPorts` effect asked for, as many as could be had.
    case portsOpened([UInt16])
    /// Whom this device's NAT lets in is to be found out; a `filteringFound` effect answers.
    case filteringAsked
    /// A STUN server sees this node's socket at that address.
    case addressObserved(SocketAddress, by: SocketAddress)
    /// The time of the last `wake` effect came.
    case timeReached

    /// This device got a token (already checked with ``NodeCore/problem(with:at:)``), or a renewed one; and when, by
    /// the wall clock.
    case membershipAdded(AccessToken, obtainedSeconds: UInt64, RevocationSet)
    /// This device made a member secret as the network's owner, or knew it before; it was verified.
    case memberSecretAdded(MemberSecret)
    /// A text told to which key a device without the member secret can call.
    case rendezvousLearnt(NetworkId, RendezvousKey)
    /// The owner's answer to `renewalRequested`: a new token, or nil for no.
    case renewalDecided(ConnectionId, NetworkId, AccessToken?)
    /// This device leaves the network.
    case membershipRemoved(NetworkId)
    /// The network's owner revoked peers on this device, or an old set was loaded.
    case revocationsAdded([Revocation])
    /// There is evidence that `peer` is a member of `networks` (a text given by the user, an earlier admission).
    case peerRemembered(PeerId, networks: [NetworkId], addresses: [SocketAddress])
    /// Connect to the peer as long as there is room for it.
    case peerSought(PeerId)
    /// Keep a connection to the peer from now on.
    case peerWanted(PeerId)
    /// Keep a connection to the peer, of whom nothing is known but that it may be a member of the network: others are asked
    /// to bring the two together, over one of them at first if so wished.
    case peerCalled(PeerId, NetworkId, overRelay: Bool)
    /// A person disconnects from the peer: close its connections, and stay apart for a while.
    case peerUnwanted(PeerId)

    /// A stream of an admitted network began, whoever opened it: the connection is in use.
    case streamBegan(ConnectionId)
    /// Such a stream is over.
    case streamEnded(ConnectionId)

    /// The user shows an invitation; if `isPreallowed` its first joiner needs no further consent.
    case invitationOpened(Invitation, isPreallowed: Bool)
    /// The user takes an invitation back: nobody joins by it any more, nor whoever waits for consent.
    case invitationWithdrawn(Invitation.ID)
    /// The user took an invitation.
    case joinWanted(Invitation)
    /// The user no longer wants to join through this inviter.
    case joinAbandoned(PeerId)
    /// The inviter's answer to `joinRequested`: a grant, or nil for no.
    case joinDecided(ConnectionId, JoinGrant?)

    /// The machine or its owner has more or less to spare for this node.
    case conditionsChanged(Conditions)
    /// The machine slept and woke, or is in another network now.
    case resumed

    /// Datagrams can be sent to the local network, and heard, from now on.
    case discoveryStarted
    /// Neither any more: say goodbye.
    case discoveryStopped
    /// Where others can dial this node; an address without IP stands for where a datagram comes from.
    case addressesChanged([SocketAddress])
    /// A datagram of the discovery group was heard.
    case datagramReceived([UInt8], from: SocketAddress)

    /// The application asks a network's hash table; the id is unique while the request is under way.
    case dhtRequested(Kademlia.RequestId, NetworkId, Kademlia.Request, Kademlia.RequestPolicy)
    /// The application no longer waits.
    case dhtCancelled(Kademlia.RequestId)
    /// The application publishes events to a topic of a network; all within the bounds of ``EventBatch``.
    case eventsPublished(NetworkId, topic: String, content: [UInt8], count: Int)
    /// Whether the peer of a connection reads so slowly that it is only told which events there are.
    case congestionChanged(ConnectionId, Bool)
    /// This node offers these services in the network from now on, and no others; they passed ``Announcement/check(_:)``.
    case servicesOffered(NetworkId, [ServiceOffer])
    /// Records of a network that were persisted in an earlier run.
    case recordsLoaded(NetworkId, [Record])
    /// The node stops: say goodbye.
    case stopping
}

/// What the owner of a network gives a joiner.
package struct JoinGrant: Hashable, Sendable {
    package var token: AccessToken
    package var metadata: NetworkMetadata

    package init(token: AccessToken, metadata: NetworkMetadata) {
        self.token = token
        self.metadata = metadata
    }
}

/// What the transport proved about a new connection.
package struct Link: Hashable, Sendable {
    package var peer: PeerId
    package var isDialler: Bool
    package var address: SocketAddress
    /// 32 bytes of keying material under the label ``Link/exporterLabel``.
    package var exporter: [UInt8]
    /// Keying material under the label ``Link/pathLabel``, with which the two prove themselves on other paths.
    package var pathKey: PathKey?

    /// The label of the path key's keying material; it has ``PathKey/byteCount`` bytes.
    package static let pathLabel = "EXPORTER-runar-path-v1"
    /// The label for the TLS exporter that binds a join to its connection.
    package static let exporterLabel = Invitation.exporterLabel
    /// How many bytes are exported.
    package static let exporterByteCount = Invitation.exporterByteCount

    package init(
        peer: PeerId,
        isDialler: Bool,
        address: SocketAddress,
        exporter: [UInt8],
        pathKey: PathKey? = nil
    ) {
        self.pathKey = pathKey
        self.peer = peer
        self.isDialler = isDialler
        self.address = address
        self.exporter = exporter
    }
}
