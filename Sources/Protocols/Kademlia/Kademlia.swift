package import Identity

/// The distributed hash table of one network as a value, free of I/O.
///
/// Petar Maymounkov and David Mazières, *Kademlia: A Peer-to-peer Information System Based on the XOR Metric* (2002), with
/// the disjoint paths of Baumgart and Mies, *S/Kademlia* (2007). The driver feeds it ``Input``s with the time and performs
/// the ``Effect``s it appends, in order. All messages come from members of the network.
///
/// It differs from the paper in these points:
/// * **Connections replace pings.** The nearest ``Limits/bucketSize`` peers are kept connected, so a neighbour that leaves
///   is noticed at once, and the other neighbours name its replacement.
/// * **Only admitted peers enter the table**, and contacts that others name are unverified candidates until they respond.
/// * **The neighbourhood has no bucket bounds**: the nearest 2k always have a place (section 4.2 of the paper splits
///   buckets for this purpose).
/// * **Records are signed**, belong to their writers, and are republished by the nodes that hold a replica: when the
///   nearest members of a location change, the few nearest replicas offer digests to those that may lack the record.
/// * **A slow node delays no lookup**: see ``Lookup``.
///
/// It is composed of values that own their state: the ``Schedule``, the ``Routing`` side, the ``ConnectedPeers``, the
/// ``PendingQueries``, the ``Lookups`` and ``PendingRequests`` in flight, the ``Replicas``, the ``RecordValidator`` and the
/// ``RecordPublisher``. None of them accesses the others except as an argument. Extensions, one for each subsystem, pass an
/// input of one to the others, and emit effects.
package struct Kademlia: Sendable {
    /// The identity, keys and limits with which a table starts.
    package struct Configuration: Sendable {
        package var localPeerId: PeerId
        package var networkId: NetworkId
        /// Signs this node's records with its peer key.
        package var signer: any Signer
        /// Checks the signature of a record's writer; simulations of many nodes put a cheaper check here.
        package var verifySignature: @Sendable (Ed25519PublicKey, _ message: [UInt8], _ signature: [UInt8]) -> Bool
        /// Checks the network's signature on the token in a record.
        package var verifyToken: @Sendable (AccessToken) -> Bool
        /// Spreads timers and choices; not a secret.
        package var randomSeed: UInt64
        package var limits: Limits

        package init(
            localPeerId: PeerId,
            networkId: NetworkId,
            signer: any Signer,
            verifySignature: @escaping @Sendable (Ed25519PublicKey, [UInt8], [UInt8]) -> Bool = {
                $0.isValidSignature($2, for: $1)
            },
            verifyToken: @escaping @Sendable (AccessToken) -> Bool = { $0.verifySignature() },
            randomSeed: UInt64,
            limits: Limits = Limits()
        ) {
            self.localPeerId = localPeerId
            self.networkId = networkId
            self.signer = signer
            self.verifySignature = verifySignature
            self.verifyToken = verifyToken
            self.randomSeed = randomSeed
            self.limits = limits
        }
    }

    let configuration: Configuration
    /// The timers and the planned maintenance.
    var schedule: Schedule
    /// The table, the candidates for it, and the refresh of its buckets.
    var routing: Routing
    /// The connected peers, in the table or not.
    var peers: ConnectedPeers
    /// The RPCs that have no response yet.
    var queries: PendingQueries
    /// The lookups in flight.
    var lookups = Lookups()
    /// The requests of the application in flight.
    var requests: PendingRequests
    /// The records that this node holds, and their replication.
    var replicas: Replicas
    /// The checks of others' records, and the revoked members.
    var validator: RecordValidator
    /// The signing and renewal of own records.
    var publisher: RecordPublisher

    package init(_ configuration: Configuration) {
        let limits = configuration.limits
        self.configuration = configuration
        schedule = Schedule(seed: configuration.randomSeed)
        routing = Routing(local: configuration.localPeerId, limits: limits)
        peers = ConnectedPeers(limits: limits)
        queries = PendingQueries(limit: limits.queries)
        requests = PendingRequests(limit: limits.requests)
        replicas = Replicas(configuration)
        validator = RecordValidator(configuration)
        publisher = RecordPublisher(signer: configuration.signer, limits: limits)
    }

    /// Applies `input` as of `now` and appends what the driver must do, in order.
    package mutating func handle(_ input: Input, at now: NodeTime, into effects: inout [Effect]) {
        Turn.run(at: now, into: &effects) { handle(input, &$0) }
    }

    private mutating func handle(_ input: Input, _ turn: inout Turn) {
        switch input {
        case .memberUp(let peer, let addresses): memberUp(peer, addresses, &turn)
        case .memberDown(let peer): memberDown(peer, &turn)
        case .memberSuspected(let peer, let isSuspect): memberSuspected(peer, isSuspect, &turn)
        case .memberRevoked(let peer): memberRevoked(peer, &turn)
        case .contactHeard(let contact): contactHeard(contact, &turn)
        case .messageReceived(let peer, let bytes): received(bytes, from: peer, &turn)
        case .unreachable(let peer): unreachable(peer, &turn)
        case .tokenChanged(let token): publisher.token = token
        case .requested(let id, let request, let policy): requested(id, request, policy, &turn)
        case .cancelled(let id): end(id)
        case .persisted(let id, let version, let isStored): persisted(id, version, isStored, &turn)
        case .recordsLoaded(let records):
            replicas.load(records, revoked: validator.revoked, &schedule, &turn)
        case .timeReached: timeReached(&turn)
        case .stopping: stop(&turn)
        }
        arm(&turn)
    }

    var limits: Limits { configuration.limits }
    var local: PeerId { configuration.localPeerId }

    // MARK: Timers

    /// Requests a wake from the driver if the earliest timer is before the wake that was requested.
    private mutating func arm(_ turn: inout Turn) {
        while let earliest = schedule.earliest {
            guard isPending(earliest) else {
                schedule.removeEarliest()
                continue
            }
            if schedule.requestWake(at: earliest.at) { turn.emit(.wake(at: earliest.at)) }
            return
        }
    }

    /// Whether the cause of a timer is still there, and no later timer replaced this one.
    private func isPending(_ timer: Timer) -> Bool {
        switch timer.kind {
        case .query(let number): queries[number]?.wakeAt == timer.at
        case .request(let id): requests[id]?.wakeAt == timer.at
        case .maintenance: schedule.isMaintenanceTimer(at: timer.at)
        }
    }

    private mutating func timeReached(_ turn: inout Turn) {
        schedule.wakeReached()
        while let timer = schedule.takeTimer(until: turn.now.monotonic) {
            guard isPending(timer) else { continue }
            switch timer.kind {
            case .query(let number): queryDelayed(number, &turn)
            case .request(let id): requestIsDue(id, &turn)
            case .maintenance: maintain(&turn)
            }
        }
    }

    private mutating func maintain(_ turn: inout Turn) {
        schedule.beginMaintenance()
        if isDue(.newcomer, turn.now) { queryNewcomer(&turn) }
        if isDue(.neighbourhood, turn.now) { compareNeighbourhood(isJoin: false, &turn) }
        if isDue(.refresh, turn.now) { refreshBucket(&turn) }
        if isDue(.candidates, turn.now) { dialCandidates(&turn) }
        if isDue(.republish, turn.now) || isDue(.replicas, turn.now) { reviewRecords(&turn) }
        schedule.endMaintenance()
    }

    private func isDue(_ work: Maintenance, _ now: NodeTime) -> Bool { schedule.isDue(work, at: now.monotonic) }

    // MARK: Status

    /// The live members nearest to this node, the nearest first, at most ``Limits/bucketSize``.
    package var neighbours: [Contact] {
        Array(routing.table.entries.lazy.filter(\.isAlive).prefix(limits.bucketSize).map(\.contact))
    }

    /// Every member that the table knows alive, the nearest to this node first.
    package var contacts: [Contact] { routing.table.entries.filter(\.isAlive).map(\.contact) }

    /// Whether an idle connection to the peer is worth keeping: see ``RoutingTable/protects(_:)``.
    package func protects(_ peer: PeerId) -> Bool { routing.table.protects(peer) }

    /// Figures for status and console.
    package var health: Health {
        var health = Health()
        health.contacts = routing.table.entries.count(where: \.isAlive)
        health.connected = peers.count
        let near = routing.table.entries.lazy.filter(\.isAlive).prefix(limits.bucketSize)
        health.connectedNeighbours = near.count(where: \.isConnected)
        health.buckets =
            Set(routing.table.entries.map { Distance($0.peerId.words, local.words).bucket }).count
        health.records = replicas.store.total.records
        health.recordBytes = replicas.store.total.bytes
        health.ownRecords = replicas.store.own.records
        health.requests = requests.count
        return health
    }

    /// The bytes of all stored records.
    package var storedBytes: Int { replicas.store.total.bytes }

    /// The version under which this node holds a record, for figures about replication.
    package func storedVersion(of id: RecordId) -> UInt64? {
        replicas.store[id].flatMap { $0.record == nil ? nil : $0.version }
    }

    /// The heads of all records that this node holds, tombstones included, by location.
    package var storedHeads: [Record.Head] {
        replicas.store.places.flatMap { place in place.stored.compactMap { $0.record?.head } }
    }

    /// Every place of the table that is taken, the nearest member first.
    package var rows: [Row] {
        routing.table.entries.map { entry in
            Row(
                peerId: entry.peerId,
                bucket: Distance(entry.peerId.words, local.words).bucket,
                isConnected: entry.isConnected,
                isAlive: entry.isAlive
            )
        }
    }

    /// A member in the table.
    package struct Row: Hashable, Sendable {
        package let peerId: PeerId
        /// The number of leading bits that its id shares with this node's.
        package let bucket: Int
        package let isConnected: Bool
        /// Whether no query to it has failed since its last response.
        package let isAlive: Bool
    }

    /// The health of the table.
    package struct Health: Hashable, Sendable {
        /// The live members in the table.
        package var contacts = 0
        /// Members connected, in the table or not.
        package var connected = 0
        /// Connected members of the nearest ``Limits/bucketSize``.
        package var connectedNeighbours = 0
        /// Buckets with at least one member.
        package var buckets = 0
        /// Stored records, tombstones included.
        package var records = 0
        /// Bytes of these.
        package var recordBytes = 0
        /// Records of these that this node wrote.
        package var ownRecords = 0
        /// Requests of the application under way.
        package var requests = 0

        package init() {}
    }
}
