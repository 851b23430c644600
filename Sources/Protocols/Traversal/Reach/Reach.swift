package import Bytes
package import Identity
internal import OrderedCollections

/// The search for paths to peers that cannot simply be dialled, as a value, free of I/O.
///
/// A peer to which both devices are connected, the *coordinator*, brings together two devices behind NATs: it reports to
/// each the address at which it sees the other, and both send until their NATs let the datagrams pass (Ford, Srisuresh and
/// Kegel, *Peer-to-Peer Communication Across Network Address Translators*, 2005; RFC 8445). If that fails because one NAT
/// maps every destination to another port, many sockets and many ports are tried. Meanwhile, or if nothing works, the
/// coordinator *relays*: it forwards the datagrams of a connection that is encrypted from end to end.
///
/// ```
/// caller            coordinator            callee
///   offer ────────────▶  forwarded offer ────▶   probes ...
///   forwarded answer ◀─  answer ◀─────────────
///   probes ─ ─ ─ ─ ─ ─ ─ ─ ─ ─ ─ ─ ─ ─ ─ ─ ─ ▶   answers
///   dials the address that answered, or the channel over the coordinator
/// ```
///
/// The driver feeds the value ``Input``s with the time and performs the ``Effect``s it appends, in order. One value serves
/// all networks of a node, since peers share one connection for all of them.
package struct Reach: Sendable {
    /// The configuration that the value starts with.
    package struct Configuration: Sendable {
        package var localPeerId: PeerId
        /// 32 random bytes, drawn at every process start and used for nothing else: the keys of sessions and the ids of
        /// channels are derived from them.
        package var secret: SecretBytes
        /// Spreads ports and transaction ids; not a secret.
        package var randomSeed: UInt64
        package var limits: Limits

        package init(localPeerId: PeerId, secret: SecretBytes, randomSeed: UInt64, limits: Limits = Limits()) {
            self.localPeerId = localPeerId
            self.secret = secret
            self.randomSeed = randomSeed
            self.limits = limits
        }
    }

    /// The facts about a connection.
    package struct Link: Hashable, Sendable {
        /// Whether this node dialled the connection; only the dialler migrates it to another path.
        package var isDialler: Bool
        /// The peer's address; ``ChannelId/address`` if the path leads over a relay.
        package var remote: SocketAddress
        package var pathKey: PathKey

        package init(isDialler: Bool, remote: SocketAddress, pathKey: PathKey) {
            self.isDialler = isDialler
            self.remote = remote
            self.pathKey = pathKey
        }
    }

    /// An input from the driver.
    package enum Input: Sendable {
        /// The peer is admitted in the network on this connection, which takes the place of an earlier one.
        case connected(PeerId, NetworkId, Link)
        /// The last admission of the peer in the network ended, or its connection did.
        case disconnected(PeerId, NetworkId)
        /// The connection migrated to another path: an address, or that of a channel.
        case pathChanged(PeerId, SocketAddress)
        /// The peer did not answer on the path to which the connection was to migrate.
        case pathRefused(PeerId, SocketAddress)
        /// The path is silent although an acknowledgement is due.
        case pathSuspected(PeerId)
        /// The peer answered on the suspected path.
        case pathAnswered(PeerId)
        /// The addresses of this device's interfaces, with the port of its socket; another set means that the network
        /// changed.
        case ownAddressesChanged([SocketAddress])
        /// A STUN server reported this address as the source of datagrams from this node's socket.
        case addressObserved(SocketAddress, by: SocketAddress)
        /// The node wants a connection, and dialling the known addresses failed.
        case sought(PeerId, NetworkId)
        /// The node wants a connection over a relay even if a direct path works; like any relayed connection it is made
        /// direct later.
        case soughtOverRelay(PeerId, NetworkId)
        /// The node no longer wants a connection.
        case abandoned(PeerId)
        /// A `dial` effect did not bring a connection.
        case dialFailed(PeerId)
        /// A message of an admitted peer in this network.
        case messageReceived(from: PeerId, NetworkId, [UInt8])
        /// A STUN datagram that ``expects(_:)`` recognised.
        ///
        /// It arrived at a port that `openPorts` opened, or at the node's own (nil).
        case datagramReceived([UInt8], from: SocketAddress, port: UInt16?)
        /// The ports that `openPorts` requested, as many as were available.
        case portsOpened([UInt16])
        /// Requests a test of the filtering of this device's NAT; a `filteringFound` effect answers.
        case filteringRequested
        /// The time of the last `wake` effect was reached.
        case timeReached
    }

    /// An action for the node that runs the traversal, in order.
    package enum Effect: Hashable, Sendable {
        /// Send a message on an admitted connection to the peer.
        case send(PeerId, NetworkId, [UInt8])
        /// Feed `timeReached` at this monotonic time; replaces an earlier wake.
        case wake(at: Duration)

        /// Pass datagrams on between the two ends, which belong to connections with these peers.
        case relay(RelayEnd, RelayEnd, NetworkId)
        /// This channel leads to the peer, over a relay.
        case bind(ChannelId, to: PeerId, over: PeerId)

        /// Connect to the peer at this address, or channel's address, from this port.
        case dial(PeerId, NetworkId, SocketAddress, port: UInt16?)
        /// Move the connection, which this node dialled, to this address and port.
        case direct(PeerId, SocketAddress, port: UInt16?)
        /// Move the connection to the channel: its path is dead.
        case fallBack(PeerId, ChannelId)
        /// No connection to the sought peer is possible now.
        case failed(PeerId, NetworkId, ReachFailure)

        /// The peer broke the protocol in a way that no honest node does: disconnect it, with the reason in the log.
        case violation(PeerId, String)
        /// An action for the driver of the node.
        case host(HostEffect)
    }

    typealias Turn = Identity.Turn<Duration, Effect>

    /// An action that only the driver of the node can perform.
    package enum HostEffect: Hashable, Sendable {
        /// Send a datagram of STUN, from a port that was opened or from the node's own (nil).
        case sendDatagram([UInt8], to: SocketAddress, port: UInt16?)
        /// Open this number of IPv4 ports in addition to the node's own, and feed `portsOpened`.
        case openPorts(Int)
        /// Close these ports, except for those over which a connection runs.
        case closePorts([UInt16])
        /// Stop forwarding from and to this channel, and the other side of its relay.
        case stopRelaying(ChannelId)
        /// Close the channel, which no longer leads to a peer.
        case closeChannel(ChannelId)
        /// Report the filtering of this device's NAT, or that it is unknown.
        case filteringFound(FilteringBehaviour)
        /// Add to the history that explains why two devices do not connect.
        case record(PeerId, Event)
    }

    /// One end of a way over this node as a relay.
    package struct RelayEnd: Hashable, Sendable {
        package let channel: ChannelId
        package let peer: PeerId

        package init(channel: ChannelId, peer: PeerId) {
            self.channel = channel
            self.peer = peer
        }
    }

    let localPeerId: PeerId
    let limits: Limits
    var secrets: SecretSource
    var ownAddresses = OwnAddresses()
    var filteringTest = FilteringTest()
    var peers = AdmittedPeers()
    var sessions = Sessions()
    /// The channels that lead somewhere over others.
    var channels: OrderedDictionary<ChannelId, HeldChannel> = [:]
    var broker: Broker
    var probes: Probes
    var searchPorts = SearchPorts.free
    /// The earliest wake that was requested from the driver.
    private var armed: Duration?

    package init(_ configuration: Configuration) {
        localPeerId = configuration.localPeerId
        limits = configuration.limits
        secrets = SecretSource(secret: configuration.secret)
        broker = Broker(configuration.limits)
        probes = Probes(seed: configuration.randomSeed, configuration.limits)
    }

    /// Whether the peer is admitted on a connection, which can therefore carry messages to it.
    package func isConnected(to peer: PeerId) -> Bool { peers[peer] != nil }

    /// The peer that relays a channel.
    package func relay(of channel: ChannelId) -> PeerId? { channels[channel]?.relay }

    /// The mapping behaviour of this node's NAT; a guess, unless ``isMappingProven``.
    package var mapping: MappingBehaviour { ownAddresses.mapping(seenBy: peers.observations) }

    /// Whether observers at different addresses agree on that.
    package var isMappingProven: Bool { ownAddresses.isMappingProven }

    /// The reported addresses, the most frequent first.
    package var observedAddresses: [SocketAddress] { ownAddresses.observed(by: peers.observations) }

    /// The addresses where this node might be found.
    var offer: Offer { ownAddresses.offer(seenBy: peers.observations, limit: limits.candidates) }

    /// Applies `input` as of `now` and appends what the driver must do, in order.
    package mutating func handle(_ input: Input, at now: NodeTime, into effects: inout [Effect]) {
        Turn.run(at: now.monotonic, into: &effects) { handle(input, &$0) }
    }

    private mutating func handle(_ input: Input, _ turn: inout Turn) {
        switch input {
        case .connected(let peer, let network, let link): connected(peer, network, link, &turn)
        case .disconnected(let peer, let network): disconnected(peer, network, &turn)
        case .pathChanged(let peer, let address): pathChanged(peer, address, &turn)
        case .pathRefused(let peer, let address): pathRefused(peer, address, &turn)
        case .pathSuspected(let peer): pathSuspected(peer, &turn)
        case .pathAnswered(let peer): pathAnswered(peer, &turn)
        case .ownAddressesChanged(let addresses): ownAddressesChanged(addresses, &turn)
        case .addressObserved(let address, let server):
            ownAddresses.note(address, observedBy: server)
            ownAddresses.proveMapping(seenBy: peers.observations)
        case .sought(let peer, let network): seek(peer, network, &turn)
        case .soughtOverRelay(let peer, let network): seek(peer, network, overRelay: true, &turn)
        case .abandoned(let peer): abandon(peer, &turn)
        case .dialFailed(let peer): dialFailed(peer, &turn)
        case .messageReceived(let peer, let network, let bytes):
            received(bytes, from: peer, network, &turn)
        case .datagramReceived(let bytes, let source, let port):
            datagramReceived(bytes, from: source, port, &turn)
        case .portsOpened(let ports): portsOpened(ports, &turn)
        case .filteringRequested:
            filteringTest.begin(peers, &secrets, limits.filteringPatience, &turn)
        case .timeReached: timeReached(&turn)
        }
        arm(&turn)
    }

    private mutating func received(_ bytes: [UInt8], from peer: PeerId, _ network: NetworkId, _ turn: inout Turn) {
        guard peers[peer]?.networks.contains(network) == true else { return }
        let message: Message
        do {
            message = try Message(bytes)
        } catch {
            return turn.emit(.violation(peer, error.description))
        }
        switch message {
        case .observed(let address):
            peers[peer]?.observed = address.unmapped
            ownAddresses.proveMapping(seenBy: peers.observations)
        case .offer(let id, let target, let key, let offer):
            let request = OfferRequest(
                id: id,
                caller: peer,
                target: target,
                network: network,
                key: key,
                offer: offer
            )
            broker.offerReceived(request, &peers, &secrets, channels, &turn)
        case .forwardedOffer(let id, let caller, let key, let offer, let introduction):
            forwardedOfferReceived(PathKey(id, key), caller, offer, introduction, by: peer, network, &turn)
        case .answer(let id, let offer):
            broker.calleeAnswered(id, offer, peer, network, peers, &turn)
        case .decline(let id, let refusal): broker.calleeDeclined(id, refusal, peer, network, &turn)
        case .forwardedAnswer(let id, let offer, let introduction):
            forwardedAnswerReceived(id, offer, introduction, by: peer, network, &turn)
        case .failed(let id, let refusal): sessionFailed(id, refusal, by: peer, &turn)
        case .cancel(let id): cancelled(id, by: peer, &turn)
        case .filteringRequest(let id, let key, let known):
            broker.filteringRequestReceived(id, key, known, by: peer, network, &peers, &turn)
        case .probeRequest(let id, let key, let address):
            probeRequestReceived(PathKey(id, key), address, by: peer, &turn)
        case .filteringReply(let id, let alternate):
            filteringTest.alternateNamed(id, alternate, by: peer, peers, &turn)
        }
    }

    // MARK: Time

    private mutating func timeReached(_ turn: inout Turn) {
        armed = nil
        filteringTest.expire(&turn)
        for id in sessions.ids {
            guard let due = sessions[id]?.due, due <= turn.now else { continue }
            sessionDue(id, &turn)
        }
        for peer in peers.upgrades.keys {
            guard let due = peers.upgrades[peer]?.due, due <= turn.now else { continue }
            upgradeDue(peer, &turn)
        }
        broker.expire(&turn)
    }

    private mutating func arm(_ turn: inout Turn) {
        let earliest = [
            sessions.due, peers.upgrades.values.lazy.map(\.due).min(), broker.due,
            filteringTest.due,
        ].compactMap { $0 }.min()
        guard let earliest, earliest != armed else { return }
        armed = earliest
        turn.emit(.wake(at: earliest))
    }
}
