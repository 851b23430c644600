internal import Bytes
package import Identity
internal import OrderedCollections

/// The distributed hash table of one network as a value, free of I/O.
///
/// Petar Maymounkov and David Mazières, *Kademlia: A Peer-to-peer Information System Based on the XOR Metric* (2002),
/// with the disjoint paths of Baumgart and Mies, *S/Kademlia* (2007). The driver feeds it ``Input``s with the time and
/// carries out the ``Effect``s it appends, in order. Only members of the network ever speak to it.
///
/// Where it departs from the paper:
/// * **Connections stand for liveness.** Nobody is pinged. The nearest ``Limits/bucketSize`` are kept connected, so a
///   neighbour that goes is noticed at once and replaced from what the other neighbours know.
/// * **Only who was admitted enters the table**, and contacts that others name are hearsay until they answer.
/// * **The neighbourhood has no bucket bounds**: the nearest 2k always find a place (section 4.2 of the paper splits
///   buckets for the same end).
/// * **Records are signed**, belong to their writers, and are handed on by their holders: when the nearest members of a
///   location change, the few nearest holders offer digests to those who may lack the record.
/// * **A slow node holds nobody up**: see ``Lookup``.
package struct Kademlia: Sendable {
    /// What a table must know to start.
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
    var token: AccessToken?
    var revoked: Set<PeerId> = []

    // Who is there.
    /// The table, the candidates for it, and the refresh of its buckets.
    var routing: Routing
    /// The connected peers, in the table or not.
    var peers: ConnectedPeers

    // What is under way.
    /// The RPCs that have no response yet.
    var queries: PendingQueries
    var lookups: [UInt32: LookupTask] = [:]
    var lastLookup: UInt32 = 0
    var requests: OrderedDictionary<RequestId, PendingRequest> = [:]

    // Records.
    var store = RecordStore()
    var verifiedWriters: [PeerId: MembershipProof] = [:]
    var reservations: OrderedDictionary<Bytes32, Reservation> = [:]
    /// Records that peers asked for after an offer.
    var transfers: [PeerId: Transfer] = [:]
    /// Members whose coming or going may change who holds what.
    var changes: [PeerId] = []
    /// Whether this node has just joined with records of an earlier time.
    var isReturning = false

    // Time.
    var schedule: Schedule

    package init(_ configuration: Configuration) {
        self.configuration = configuration
        self.schedule = Schedule(seed: configuration.randomSeed)
        self.peers = ConnectedPeers(limits: configuration.limits)
        self.queries = PendingQueries(limit: configuration.limits.questions)
        self.routing = Routing(local: configuration.localPeerId, limits: configuration.limits)
    }

    /// Applies `input` as of `now` and appends what the driver must do, in order.
    package mutating func handle(_ input: Input, at now: NodeTime, into effects: inout [Effect]) {
        switch input {
        case .memberUp(let peer, let addresses): self.memberUp(peer, addresses, now, &effects)
        case .memberDown(let peer): self.memberDown(peer, now, &effects)
        case .memberSuspected(let peer, let isSuspect): self.memberSuspected(peer, isSuspect, now, &effects)
        case .memberRevoked(let peer): self.memberRevoked(peer, now, &effects)
        case .contactHeard(let contact): self.contactHeard(contact, now, &effects)
        case .messageReceived(let peer, let bytes): self.received(bytes, from: peer, now, &effects)
        case .unreachable(let peer): self.unreachable(peer, now, &effects)
        case .tokenChanged(let token): self.token = token
        case .requested(let id, let request, let policy): self.requested(id, request, policy, now, &effects)
        case .cancelled(let id): self.end(id)
        case .recordsLoaded(let records): self.load(records, now, &effects)
        case .timeReached: self.timeReached(now, &effects)
        case .stopping: self.stop(now, &effects)
        }
        self.arm(&effects)
    }

    var limits: Limits { self.configuration.limits }
    var local: PeerId { self.configuration.localPeerId }

    /// Versions are in microseconds since 1970.
    static var versionsPerSecond: UInt64 { 1_000_000 }

    /// The highest version that a writer whose clock shows `seconds` may give: microseconds since 1970.
    ///
    /// Versions follow the clock, or the newest version seen where that is ahead, so that every new record is newer
    /// than what its writer had read, and nobody can be the newest for ever.
    static func highestVersion(at seconds: UInt64) -> UInt64 {
        let (version, overflow) = seconds.multipliedReportingOverflow(by: Self.versionsPerSecond)
        return overflow ? .max : version
    }
}
