package import Bytes
package import Discovery
package import Identity
package import Kademlia
package import Mailbox
package import OneTimeKeys
internal import OrderedCollections
package import PubSub
package import Services
internal import Traversal

/// One node as a value: admission, revocation and dialling, free of I/O.
///
/// The driver feeds it ``Input``s with the time and performs the ``Effect``s it appends, in order. The same value
/// runs over sockets and in simulations: it iterates only ordered collections, takes randomness as a seed and uses the
/// monotonic time for timers and the wall clock for expiry alone.
///
/// It is composed of values that own their state: ``Memberships``, ``Connections``, ``KnownPeers``, ``KeysUsedTwice``,
/// ``Invitations``, ``PendingMessages``, ``ServiceOffers``, ``OwnTableRequests``, ``Timers`` and the ``HostedProtocols``.
/// Extensions, one for each subsystem, pass an input of one to the others.
///
/// **Admission** is a state per connection and network. TLS has proved the peer's key before a connection is reported here.
/// The dialler then shows the tokens of networks for which it has evidence that this peer is a member; the responder reveals
/// nothing until it has verified one, and answers with its own token, which the dialler verifies:
///
/// ```
/// dialler                                   responder
///   hello(index, token)        ──────────▶    shape, network, expiry, revocation, binding, signature
///   the same checks            ◀──────────    helloReply(index, its token | refusal)
///   admitted; acknowledgement  ──────────▶    admitted (a stream on that index counts as one)
/// ```
///
/// Until then neither side accepts any other frame, nor any stream. Expiry or revocation ends the admission at once,
/// and the connection with the last one.
package struct NodeCore: Sendable {
    /// The configuration that a node starts with.
    package struct Configuration: Sendable {
        package var peerId: PeerId
        /// Signs as the device; its public key is the device's.
        package var signer: any Signer
        /// Drawn anew at every process start.
        package var instance: InstanceId
        /// Spreads retries; not a secret.
        package var randomSeed: UInt64
        /// 32 random bytes, drawn at every process start and used for nothing else: nonces, keys of sessions and numbers of
        /// channels are derived from them, each under its own label.
        package var nonceKey: SecretBytes
        /// Whether this device requests a new token before its own ends.
        package var renewsTokens = true
        /// Whether this node is part of its networks' hash tables; without them it can neither look up records nor store
        /// them.
        package var hasTables = true
        /// Whether other members coordinate connections to peers that do not answer a dial.
        package var traversesNATs = true
        package var limits: Limits
        package var tableLimits: Kademlia.Limits
        package var eventLimits: PubSub.Limits
        package var serviceLimits = Services.Limits()
        package var mailboxLimits = Mailbox.Limits()
        package var keyExchangeLimits = KeyExchange.Limits()
        /// Whether this node holds mail of other members.
        package var holdsMail = true
        package var discoveryLimits: Discovery.Limits
        package var verifier: Verifier

        /// The roles that this node takes.
        var capabilities: Frame.Capabilities { hasTables ? [.hashTable] : [] }

        package init(
            signer: any Signer,
            instance: InstanceId,
            randomSeed: UInt64,
            nonceKey: SecretBytes,
            limits: Limits = Limits(),
            tableLimits: Kademlia.Limits = Kademlia.Limits(),
            eventLimits: PubSub.Limits = PubSub.Limits(),
            discoveryLimits: Discovery.Limits = Discovery.Limits(),
            verifier: Verifier = Verifier()
        ) {
            peerId = PeerId(publicKey: signer.publicKey)
            self.signer = signer
            self.instance = instance
            self.randomSeed = randomSeed
            self.limits = limits
            self.nonceKey = nonceKey
            self.tableLimits = tableLimits
            self.eventLimits = eventLimits
            self.discoveryLimits = discoveryLimits
            self.verifier = verifier
        }
    }

    /// The functions that verify signatures; simulations of many nodes put a cheaper check of equal length here.
    package struct Verifier: Sendable {
        package var token: @Sendable (AccessToken) -> Bool
        package var revocation: @Sendable (Revocation) -> Bool
        package var memberSecret: @Sendable (MemberSecret) -> Bool
        package var signature: @Sendable (Ed25519PublicKey, _ message: [UInt8], _ signature: [UInt8]) -> Bool
        /// Seals a rendezvous probe to a network's rendezvous key, with randomness of the system's.
        package var seal: @Sendable (_ message: [UInt8], RendezvousKey, _ info: [UInt8]) -> [UInt8]?
        /// Seals a deposit to a holder's key, with randomness of the system's.
        package var sealDeposit: @Sendable (_ message: [UInt8], SealingKey, _ info: [UInt8]) -> [UInt8]? = {
            $1.seal($0, info: $2)
        }

        package init(
            token: @escaping @Sendable (AccessToken) -> Bool = { $0.verifySignature() },
            revocation: @escaping @Sendable (Revocation) -> Bool = { $0.verify() },
            memberSecret: @escaping @Sendable (MemberSecret) -> Bool = { $0.verify() },
            signature: @escaping @Sendable (Ed25519PublicKey, [UInt8], [UInt8]) -> Bool = { key, message, signature in
                key.isValidSignature(signature, for: message)
            },
            seal: @escaping @Sendable ([UInt8], RendezvousKey, [UInt8]) -> [UInt8]? = { message, key, info in
                key.seal(message, info: info)
            }
        ) {
            self.token = token
            self.revocation = revocation
            self.memberSecret = memberSecret
            self.signature = signature
            self.seal = seal
        }
    }

    let configuration: Configuration
    /// Spreads retries, and seeds the protocols.
    var random: SeededGenerator
    /// The networks that this node is a member of, and their tokens.
    var memberships: Memberships
    /// The protocols of the same networks, apart from them so that looking at a membership copies no table.
    var protocols: HostedProtocols
    /// The services that this node offers.
    var serviceOffers = ServiceOffers()
    /// The requests of the node itself to hash tables.
    var tableRequests = OwnTableRequests()
    /// The peers that this node knows, and their dials.
    var peers: KnownPeers
    /// The device keys that two running nodes use.
    var usedTwice: KeysUsedTwice
    /// The peers that a person banned; looked up, never walked.
    var bans: Set<PeerId> = []
    /// The networks in which this node gives members new tokens.
    var renewingNetworks: Set<NetworkId> = []
    /// The connections with their admissions.
    var connections = Connections()
    /// The messages that wait for an admission.
    var pendingMessages = PendingMessages()
    /// The invitations that this node shows or took.
    var invitations: Invitations
    /// The pending wakes.
    var timers: Timers
    /// Whether the application takes mail.
    var receivesMail = false
    /// The conditions that the driver reported.
    var conditions = Conditions()
    /// Whether the node shuts down, and no longer dials.
    var isStopping = false

    package init(_ configuration: Configuration) {
        self.configuration = configuration
        timers = Timers(longestClockSleep: configuration.limits.longestExpirySleep)
        memberships = Memberships(configuration)
        peers = KnownPeers(limits: configuration.limits)
        usedTwice = KeysUsedTwice(limits: configuration.limits)
        invitations = Invitations(limits: configuration.limits)
        random = SeededGenerator(seed: configuration.randomSeed)
        protocols = HostedProtocols(configuration, using: &random)
    }

    /// Applies `input` as of `now` and appends what the driver must do, in order.
    package mutating func handle(_ input: Input, at now: NodeTime, into effects: inout [Effect]) {
        Turn.run(at: now, into: &effects) { handle(input, &$0) }
    }

    private mutating func handle(_ input: Input, _ turn: inout Turn) {
        connections.beginInput()
        switch input {
        case .connection(let input): handle(input, &turn)
        case .peer(let input): handle(input, &turn)
        case .membership(let input): handle(input, &turn)
        case .join(let input): handle(input, &turn)
        case .paths(let input): handle(input, &turn)
        case .discovery(let input): handle(input, &turn)
        case .table(let input): handle(input, &turn)
        case .events(let input): handle(input, &turn)
        case .services(let input): handle(input, &turn)
        case .mailbox(let network, let input): tellMailbox(.host(input), of: network, &turn)
        case .keys(let input): tellKeys(.host(input), &turn)
        case .receivesMail(let isReceiving): setReceivesMail(isReceiving, &turn)
        case .timeReached: timeReached(&turn)
        case .addressesChanged(let addresses):
            tellDiscovery(.addressesChanged(addresses), &turn)
            tellReach(.ownAddressesChanged(addresses), &turn)
        case .conditionsChanged(let conditions): conditionsChanged(conditions, &turn)
        case .resumed: resumed(&turn)
        case .stopping: stop(&turn)
        }
    }
}

// MARK: - Time

// Deadlines and wakes that are due.
extension NodeCore {
    /// The time at which something is due at present.
    private func time(of cause: Deadlines.Cause) -> Duration? {
        switch cause {
        case .connection(let id):
            return connections[id]?.deadline?.time
        case .dial(let peer):
            guard case .waiting(let time)? = peers[peer]?.dial.state else { return nil }
            return time
        case .traversal(let peer): return peers[peer]?.traversalAt
        case .join(let inviter): return invitations.taken[inviter]?.deadline
        case .manualDisconnect(let peer): return peers[peer]?.manualDisconnect?.end
        }
    }

    mutating func timeReached(_ turn: inout Turn) {
        timers.wakeReached()
        while let (cause, time) = timers.takeDeadline(until: turn.now.monotonic) {
            guard self.time(of: cause) == time else { continue }
            switch cause {
            case .connection(let id): connectionOverdue(id, &turn)
            case .dial(let peer): dialDue(peer, &turn)
            case .traversal(let peer): traversalDue(peer, &turn)
            case .join(let inviter): reachOverdue(inviter, &turn)
            case .manualDisconnect(let peer): manualDisconnectEnded(peer, &turn)
            }
        }
        if timers.isClockDue(turn.now) { lookAtClock(&turn) }
        if timers.takeSurplus(turn.now) { closeSurplus(&turn) }
        if timers.takeSeen(turn.now) { noteSeen(&turn) }
        if protocols.discovery.takeDue(turn.now) { tellDiscovery(.timeReached, &turn) }
        if protocols.reach.takeDue(turn.now) { tellReach(.timeReached, &turn) }
        if protocols.keys.takeDue(turn.now) { tellKeys(.timeReached, &turn) }
        for network in protocols.tables.takeDue(turn.now) { tell(.timeReached, of: network, &turn) }
        for network in protocols.events.takeDue(turn.now) { tellEvents(.timeReached, of: network, &turn) }
        for network in protocols.services.takeDue(turn.now) { tellServices(.timeReached, of: network, &turn) }
        for network in protocols.mailboxes.takeDue(turn.now) { tellMailbox(.timeReached, of: network, &turn) }
        rearm(&turn)
    }

    private mutating func rearm(_ turn: inout Turn) {
        while let (cause, time) = timers.firstDeadline {
            if self.time(of: cause) == time {
                timers.arm(time, &turn)
                break
            }
            timers.removeFirstDeadline()
        }
        timers.rearm(&turn)
        protocols.arm(&timers, &turn)
    }

    private mutating func connectionOverdue(_ id: ConnectionId, _ turn: inout Turn) {
        guard let state = connections[id] else { return }
        guard state.deadline?.isForHello == true else { return joinOverdue(on: id, &turn) }
        turn.emit(.peer(.refused(state.link.peer, nil, .helloTimeout)))
        close(id, .helloTimeout, &turn)
    }
}

// MARK: - The wall clock

extension NodeCore {
    /// Arms the timer for the expiry of a token.
    mutating func armExpiry(of token: AccessToken, _ turn: inout Turn) {
        timers.armClock(token.expirationSeconds.map(Self.firstSecondAfter), &turn)
    }

    /// The first second after the grace period of an expiry at `end`.
    private static func firstSecondAfter(_ end: UInt64) -> UInt64 {
        end + UnixTime.graceSeconds + 1
    }

    /// Applies the wall clock to tokens and invitations, and arms the next check.
    mutating func lookAtClock(_ turn: inout Turn) {
        timers.clearClock()
        for network in memberships.networks {
            memberships.checkClock(of: network, &turn)
            expireTokens(of: network, &turn)
            lookAtRenewal(of: network, &turn)
        }
        invitations.expire(&turn)
        for network in memberships.networks {
            guard let membership = memberships[network] else { continue }
            armExpiry(of: membership.own.token, &turn)
            timers.armClock(membership.tokenEnds.next.map(Self.firstSecondAfter), &turn)
        }
        for open in invitations.open.values {
            for open in open { timers.armClock(open.invitation.expirationSeconds + 1, &turn) }
        }
    }

    /// Ends expired admissions and memberships, and resumes a membership whose token is valid again after the clock was set.
    mutating func expireTokens(of network: NetworkId, _ turn: inout Turn) {
        guard let membership = memberships[network] else { return }
        let seconds = memberships.expiryTime(in: membership, turn.now)
        let isOver = membership.own.token.isExpired(at: seconds)
        if isOver, !membership.own.isExpired {
            endMembership(network, .tokenExpired, &turn)
        } else if !isOver, membership.own.isExpired {
            memberships[network]?.own.isExpired = false
            announce(network, &turn)
            dialMembers(of: network, &turn)
        }
        while let id = memberships[network]?.tokenEnds.takeEnded(at: seconds) {
            guard connections[id]?.peerings[network]?.token?.isExpired(at: seconds) == true else { continue }
            endAdmission(of: network, on: id, .tokenExpired, &turn)
        }
    }
}

// MARK: - Queries

extension NodeCore {
    /// The networks this node is a member of, in the order of joining.
    package var networks: [NetworkId] { memberships.networks }

    /// Why `token` cannot be this node's in its network, or nil.
    package func problem(with token: AccessToken, at now: NodeTime) -> TokenProblem? {
        memberships.problem(withOwn: token, now)
    }

    /// The revocations known in a network.
    package func revocations(in network: NetworkId) -> RevocationSet? {
        memberships[network]?.revocations.set
    }

    /// The connection and index to use for `peer`; with a nil `network`, the first admitted one.
    package func route(to peer: PeerId, in network: NetworkId? = nil) -> Route? {
        connections.route(among: peers[peer]?.connections ?? [], in: network)
    }

    /// The peers admitted in `network`, or in any, ascending.
    package func admittedPeers(in network: NetworkId? = nil) -> [PeerId] {
        memberships.admittedPeers(in: network)
    }

    /// Whether the peer is connected or has an address to dial.
    package func knowsWayTo(_ peer: PeerId) -> Bool {
        peers[peer].map { !$0.connections.isEmpty || !$0.addresses.isEmpty } ?? false
    }

    /// Whether this device's person banned the peer.
    package func isBanned(_ peer: PeerId) -> Bool { bans.contains(peer) }

    /// Whether there is evidence of a network that this node and the peer share.
    package func sharesNetwork(with peer: PeerId) -> Bool {
        peers[peer]?.networks.contains { memberships[$0] != nil } ?? false
    }

    /// Returns the bound for the next frame on a connection, in bytes: small until the peer is admitted.
    package func frameByteLimit(on id: ConnectionId) -> Int {
        connections[id]?.isAdmitted == true ? Frame.byteLimit : Frame.helloByteLimit
    }

    /// The counts at this moment.
    package var tallies: Tallies { memberships.tallies }

    /// The bytes of all records that the node holds.
    package var recordBytes: Int { protocols.tables.total { $0.storedBytes } }

    /// Decides about a stream that the peer opened: the network it belongs to, or nil when it must be refused.
    ///
    /// The first stream on an index that both proved stands for the acknowledgement that is still under way.
    package mutating func admitStream(
        index: UInt8,
        on id: ConnectionId,
        at now: NodeTime,
        into effects: inout [Effect]
    ) -> NetworkId? {
        var network: NetworkId?
        Turn.run(at: now, into: &effects) { network = admitStream(index: index, on: id, &$0) }
        return network
    }

    private mutating func admitStream(index: UInt8, on id: ConnectionId, _ turn: inout Turn) -> NetworkId? {
        connections.beginInput()
        guard let network = connections[id]?.indexes[index],
            let peering = connections[id]?.peerings[network],
            connections[id]?.isForRenewal == false, memberships.isGood(peering, in: network, turn.now)
        else { return nil }
        switch peering.state {
        case .admitted: return network
        case .proved:
            admit(network, on: id, &turn)
            return network
        case .offered: return nil
        }
    }
}

/// The connection and the network by which something is sent to a peer.
package struct Route: Hashable, Sendable {
    package let connection: ConnectionId
    package let network: NetworkId
    package let index: UInt8
}
