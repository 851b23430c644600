internal import Bytes
internal import Concurrency
internal import Identity
internal import Logging
internal import Node
internal import OneTimeKeys
internal import Platform
internal import RunarNode

/// Hosts the exchanges with all peers: performs their effects, keeps their pools and lets callers wait.
///
/// The exchanges themselves run in the core of the node. Their effects arrive under its lock and are queued; they are
/// performed in order, with the mutex of the relationship held, so that a pool is durable before the core continues.
final class KeyExchangeDriver: Sendable {
    /// The state of one relationship.
    struct State: Sendable {
        var pools: [KeyStore]
        var peerKeys: PublicKeyStore?
        /// The number of the peer's keys that are stored as used; those up to it may be taken without the disk.
        var reservedCount: Int
        /// The state of the exchange, as the core reported it last.
        var status: KeyExchange.Status
        /// The effects that were not performed yet, in order.
        var effects: [KeyExchanges.HostEffect] = []
        /// Whether the relationship waits for a task that performs its effects.
        var isQueued = false
        /// The generation of the newest pool that the peer confirmed; 0 if there is none.
        var confirmedGeneration: UInt32 = 0
        /// The binding of the exchange whose safety number was compared.
        var verifiedBinding: [UInt8]?
        /// Whether the keys were deleted, so that an operation that waited for the mutex is too late.
        var isRemoved = false
        /// The network in which the peer was heard last.
        var network: NetworkId?
        /// The relationship as it was reported last.
        var reported: KeyRelationship?
    }

    /// One relationship; a mutex serialises changes, so that the disk and the memory agree.
    final class Relationship: Sendable {
        let peer: PeerId
        let mutex = AsyncMutex()
        let state: Locked<State>
        let changed = ConditionVariable()

        init(_ peer: PeerId, _ state: State) {
            self.peer = peer
            self.state = Locked(state)
        }
    }

    /// A message of an exchange on its way out.
    struct Outgoing: Sendable {
        let peer: PeerId
        let network: NetworkId
        let bytes: [UInt8]
    }

    static let servicePath = "$keys"
    /// The number of keys that are stored as used at once; a restart skips no more.
    static let reservation = 16
    private static let outgoingLimit = 256
    static let senderCount = 4
    static let sendPatience = Duration.seconds(10)
    /// The most effects that wait for one peer; a message beyond them is dropped, and its exchange sends it again.
    static let effectLimit = 256
    private static let listenerCapacity = 256
    private static let listenerByteLimit = 64 << 20

    let node: RunarNode
    let key: Ed25519KeyPair
    let clock: NodeClock
    /// The number of keys in a pool; nil for that of the suite.
    let capacity: Int?
    let files: KeyStoreFiles<SystemFileSystem>?
    let relations: Locked<[PeerId: Relationship]>
    let outgoing = BoundedChannel<Outgoing>(limit: outgoingLimit)
    /// The relationships with effects to perform.
    let queue = BoundedChannel<Relationship>()
    let hosting: Locked<Hosting>
    /// The peers whose messages are refused.
    let refusedPeers = Locked<Set<PeerId>>([])
    let reports = Broadcaster<KeyRelationship>(capacity: listenerCapacity)
    let listeners = Broadcaster<SealedDelivery>(
        capacity: listenerCapacity,
        byteLimit: listenerByteLimit,
        byteCount: { $0.message.count }
    )

    init(node: RunarNode, capacity: Int?) throws {
        self.node = node
        self.capacity = capacity
        let key = try node.deviceKey()
        self.key = key
        clock = node.clock
        files = node.stateDirectory.map { directory in
            KeyStoreFiles(
                directory: DevicePools.directory(
                    of: PeerId(publicKey: key.publicKey),
                    in: directory
                ),
                key: KeyDerivation.deriveKeyStoreKey(peerKey: key.privateKey),
                fileSystem: SystemFileSystem()
            )
        }
        var relations: [PeerId: Relationship] = [:]
        var exchanges: [KeyExchange] = []
        let (relationships, damages) = try files?.load() ?? ([:], [:])
        for (peer, damage) in damages {
            node.logs[.storage].error("the one-time keys of peer \(peer.text) cannot be used: \(damage)")
        }
        for (peer, stored) in relationships {
            let exchange = KeyExchange(
                KeyExchange.Configuration(signer: key.privateKey, peer: peer, secret: Self.makeSecret()),
                ownGeneration: stored.ownGeneration,
                peerKeys: stored.peerKeys,
                established: stored.established
            )
            exchanges.append(exchange)
            relations[peer] = Relationship(peer, State(stored, exchange.status))
        }
        self.relations = Locked(relations)
        hosting = Locked(Hosting(exchanges: exchanges))
    }

    private static func makeSecret() -> SecretBytes {
        var random = SystemRandom()
        var bytes = random.bytes(count: 32)
        return SecretBytes(consuming: &bytes)
    }

    // MARK: Relationships

    /// The relationship with a peer, which is made if it is missing.
    func known(_ peer: PeerId) -> Relationship {
        relations.withLock { relations in
            if let relationship = relations[peer] { return relationship }
            let relationship = Relationship(peer, State(pools: [], reservedCount: 0, status: .idle))
            relations[peer] = relationship
            return relationship
        }
    }

    func isRefused(_ peer: PeerId) -> Bool { refusedPeers.withLock { $0.contains(peer) } }

    func existing(_ peer: PeerId) throws(SealedMessageError) -> Relationship {
        guard let relationship = relations.withLock({ $0[peer] }) else { throw .noKeys(peer) }
        return relationship
    }

    /// Runs `body` with the relationship's mutex held, unless its keys were deleted meanwhile.
    func withExclusiveAccess<Result>(of relationship: Relationship, _ body: () async throws -> Result) async throws
        -> Result
    {
        try await relationship.mutex.withLock {
            guard !relationship.state.withLock({ $0.isRemoved }) else {
                throw SealedMessageError.noKeys(relationship.peer)
            }
            return try await body()
        }
    }

    /// A network in which the peer is connected, or else one in which it is known.
    func network(of relationship: Relationship) throws -> NetworkId? {
        let peer = relationship.peer
        if let network = relationship.state.withLock({ $0.network }), node.connectedPeers(in: network).contains(peer) {
            return network
        }
        let networks = try node.knownPeers().first { $0.peerId == peer }?.networks ?? []
        return networks.first { node.connectedPeers(in: $0).contains(peer) } ?? networks.first
    }
}
