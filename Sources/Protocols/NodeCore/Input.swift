package import Identity
package import Kademlia
package import Mailbox
package import OneTimeKeys
package import Services
package import Traversal

/// An event that a node handles, by subsystem.
package enum Input: Sendable {
    case connection(ConnectionInput)
    case peer(PeerInput)
    case membership(MembershipInput)
    case join(JoinInput)
    case paths(PathInput)
    case discovery(DiscoveryInput)
    case table(TableInput)
    case events(EventInput)
    case services(ServiceInput)
    /// An event of a network's mailboxes.
    case mailbox(NetworkId, Mailbox.HostInput)
    /// An event of the exchanges of one-time keys.
    case keys(KeyExchanges.HostInput)
    /// Whether the application accepts mail from now on, in every network.
    case receivesMail(Bool)

    /// The time of the last `wake` effect was reached.
    case timeReached
    /// The addresses at which other nodes can dial this node; an address without IP denotes the source of the datagram.
    case addressesChanged([SocketAddress])
    /// The availability of a network, or the node's reduced mode, changed.
    case conditionsChanged(Conditions)
    /// The machine woke from sleep, or changed its network.
    case resumed
    /// The node stops: close the connections.
    case stopping
}

/// An event of one connection.
package enum ConnectionInput: Sendable {
    /// A connection whose peer is authenticated by TLS was established, in either direction.
    case up(ConnectionId, Link)
    /// A connection ended, with the application error code if there was one.
    case down(ConnectionId, code: UInt64?)
    /// A whole control frame arrived.
    case frameReceived(ConnectionId, [UInt8])
    /// A stream of an admitted network began, on either side's initiative: the connection is in use.
    case streamBegan(ConnectionId)
    /// Such a stream ended.
    case streamEnded(ConnectionId)
    /// Whether the peer reads so slowly that it only gets announcements of events.
    case congestionChanged(ConnectionId, Bool)

    /// The connection's packets go to another address now, or to that of a channel.
    case pathChanged(ConnectionId, SocketAddress)
    /// The peer did not answer at the address of a `migrate` effect.
    case pathRefused(ConnectionId, SocketAddress)
    /// Packets sent on the connection stay unanswered.
    case pathSuspected(ConnectionId)
    /// Packets arrive from the peer again after that.
    case pathAnswered(ConnectionId)
}

/// An event of one peer.
package enum PeerInput: Sendable {
    /// There is evidence that the peer is a member of `networks` (a text given by the user, an earlier admission).
    case remembered(PeerId, networks: [NetworkId], addresses: [SocketAddress])
    /// Connect to the peer as long as there is room for it.
    case sought(PeerId)
    /// Keep a connection to the peer from now on.
    case wanted(PeerId)
    /// Keep a connection to a peer that may be a member of the network and has no known address.
    ///
    /// Other members coordinate the connection; `overRelay` requests one over a relay first.
    case traversalRequested(PeerId, NetworkId, overRelay: Bool)
    /// A person disconnects from the peer: close its connections, and stay apart for a while.
    case unwanted(PeerId)
    /// A person bans the peer, or lifts the ban: without an end nothing connects the two, except that the peer may renew its
    /// token where this node grants that.
    case banned(PeerId, Bool)
    /// The peer did not answer at one address of a `dial` effect.
    case addressFailed(PeerId, SocketAddress)
    /// No address of a `dial` effect answered; with the last failure in words.
    case dialFailed(PeerId, reason: String = "")
}

/// An event that concerns this device's memberships.
package enum MembershipInput: Sendable {
    /// This device got a token (already checked with ``NodeCore/problem(with:at:)``), or a renewed one; with the wall
    /// clock's time of that.
    case added(AccessToken, obtainedSeconds: UInt64, RevocationSet)
    /// This device leaves the network.
    case removed(NetworkId)
    /// This device made a member secret as the network's owner, or knew it before; it was verified.
    case secretAdded(MemberSecret)
    /// A text named the key with which a device without the member secret can call.
    case rendezvousLearnt(NetworkId, RendezvousKey)
    /// The network's owner revoked peers on this device, or an old set was loaded.
    case revocationsAdded([Revocation])
    /// This device has the network's key, and gives members new tokens.
    case grantsRenewals(NetworkId)
    /// The owner's answer to `renewalRequested`: a new token, or nil for no.
    case renewalDecided(ConnectionId, NetworkId, AccessToken?)
}

/// An event of an invitation or a join.
package enum JoinInput: Sendable {
    /// The user shows an invitation; if `isPreallowed` its first joiner needs no further consent.
    case invitationOpened(Invitation, isPreallowed: Bool)
    /// The user takes an invitation back: it admits no further joiner, not even one that waits for consent.
    case invitationWithdrawn(Invitation.ID)
    /// The user took an invitation.
    case wanted(Invitation)
    /// The user no longer wants to join through this inviter.
    case abandoned(PeerId)
    /// The inviter's answer to a `requested` effect: a grant, or nil for no.
    case decided(ConnectionId, JoinGrant?)
}

/// An event on the way to a peer that cannot simply be dialled.
package enum PathInput: Sendable {
    /// The one address of a `dialPath` effect did not answer.
    case dialFailed(PeerId)
    /// A datagram of STUN arrived at the node's own port (nil) or at one of `openPorts`.
    case probeReceived([UInt8], from: SocketAddress, port: UInt16?)
    /// The ports that an `openPorts` effect requested, as many as were available.
    case portsOpened([UInt16])
    /// Requests a test of the filtering of this device's NAT; a `filteringFound` effect answers.
    case filteringRequested
    /// A STUN server observed this node's socket at that address.
    case addressObserved(SocketAddress, by: SocketAddress)
}

/// An event of discovery on the local network.
package enum DiscoveryInput: Sendable {
    /// From now on datagrams can be sent to the local network and received from it.
    case started
    /// Neither is possible: close the connection.
    case stopped
    /// A datagram of the discovery group arrived.
    case datagramReceived([UInt8], from: SocketAddress)
}

/// An event of the networks' hash tables.
package enum TableInput: Sendable {
    /// A request of the application to a network's hash table; the id is unique while the request is under way.
    case requested(Kademlia.RequestId, NetworkId, Kademlia.Request, Kademlia.RequestPolicy)
    /// The application no longer waits.
    case cancelled(Kademlia.RequestId)
    /// A record of a network is durable, or was not stored.
    case persisted(NetworkId, RecordId, version: UInt64, Bool)
    /// Records of a network that were persisted in an earlier run.
    case recordsLoaded(NetworkId, [Record])
}

/// An event of the networks' publish/subscribe.
package enum EventInput: Sendable {
    /// The application publishes events to a topic of a network; all within the bounds of ``EventBatch``.
    case published(NetworkId, topic: String, content: [UInt8], count: Int)
}

/// An event of the networks' services.
package enum ServiceInput: Sendable {
    /// This node offers these services in the network from now on, and no others; they passed ``Announcement/check(_:)``.
    case offered(NetworkId, [ServiceOffer])
}

/// The token and the metadata that the owner of a network grants a joiner.
package struct JoinGrant: Hashable, Sendable {
    package var token: AccessToken
    package var metadata: NetworkMetadata

    package init(token: AccessToken, metadata: NetworkMetadata) {
        self.token = token
        self.metadata = metadata
    }
}

/// The facts that the transport proved about a new connection.
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
    /// The number of exported bytes.
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
