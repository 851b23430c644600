internal import Bytes
internal import Concurrency
internal import Database
internal import Discovery
public import Essentials
public import Identity
internal import Kademlia
internal import Logging
internal import Node
internal import NodeCore
internal import NodeStore
internal import Platform

// Each network's distributed hash table, in which every member finds the records of all members.
extension RunarNode {
    /// The default lifetime of a record: six days, within the seven that members allow, and renewed by its writer.
    public static let recordLifetime = Duration.seconds(6 * 86_400)

    /// Stores a value under a key in the name of this device and returns once enough members hold it.
    ///
    /// Each member has one value under a key; readers get the newest of all. Members can read what is stored.
    ///
    /// With the default `lifetime` the node writes the record again before it expires, under a version higher by one, so
    /// that it lasts as long as this device is on the network every few days. A record with a shorter one, at most seven
    /// days, expires after it.
    ///
    /// A key has 1 to 1 024 bytes, a value at most 65 536. When the `condition` does not hold, ``DHTError`` (`conflict`)
    /// contains the current state. With `cache`, reads on this device are answered with the value for a while.
    ///
    /// - Throws: ``DHTError``, ``NodeError/notRunning``, `CancellationError`; ``StorageError`` if this device could not store
    ///   the record, which is sent to no other member then.
    @discardableResult
    public func dhtPut(
        networkId: NetworkId,
        key: Data,
        value: Data,
        condition: DHTCondition = .any,
        lifetime: Duration = RunarNode.recordLifetime,
        cache: Bool = true,
        policy: DHTPolicy? = nil
    ) async throws -> DHTReceipt {
        let request = Kademlia.Request.put(
            key: [UInt8](key),
            value: [UInt8](value),
            condition: condition.condition,
            lifetimeSeconds: UInt64(min(max(.zero, lifetime), .seconds(UnixTime.maximum)).components.seconds)
        )
        return try await write(request, in: networkId, isCached: cache, policy)
    }

    /// Deletes the value that this device has stored under a key; others' values stay.
    ///
    /// - Throws: ``DHTError``, ``NodeError/notRunning``, `CancellationError`.
    @discardableResult
    public func dhtDelete(networkId: NetworkId, key: Data, policy: DHTPolicy? = nil) async throws -> DHTReceipt {
        try await write(.delete(key: [UInt8](key)), in: networkId, isCached: true, policy)
    }

    /// The newest value under a key, or nil when there certainly is none.
    ///
    /// With `cache`, a value that this device read or wrote lately will do, and the answer is kept.
    ///
    /// - Throws: ``DHTError``: `timedOut` when it is not known whether there is one; ``NodeError/notRunning``,
    ///   `CancellationError`.
    public func dhtGet(
        networkId: NetworkId,
        key: Data,
        cache: Bool = true,
        policy: DHTPolicy? = nil
    ) async throws -> Data? {
        try await dhtRecord(networkId: networkId, key: key, cache: cache, policy: policy)?.value
    }

    /// The newest record under a key with its writer and version, or nil when there certainly is none.
    ///
    /// - Throws: See ``dhtGet(networkId:key:cache:policy:)``.
    public func dhtRecord(
        networkId: NetworkId,
        key: Data,
        cache: Bool = true,
        policy: DHTPolicy? = nil
    ) async throws -> DHTRecord? {
        let key = [UInt8](key)
        let driver = try running()
        if cache, let record = tables.record(for: key, in: networkId, at: clock.now()) { return DHTRecord(record) }
        let found = try await records(.get(key: key), in: networkId, policy, driver)
        if cache { for record in found { tables.insert(record, in: networkId, at: clock.now()) } }
        return found.first.map(DHTRecord.init)
    }

    /// The records of all members under a key, the newest first.
    ///
    /// - Throws: See ``dhtGet(networkId:key:cache:policy:)``.
    public func dhtRecords(networkId: NetworkId, key: Data, policy: DHTPolicy? = nil) async throws -> [DHTRecord] {
        try await records(.all(key: [UInt8](key)), in: networkId, policy, running()).map(DHTRecord.init)
    }

    /// The record that one member has under a key, or nil when there certainly is none.
    ///
    /// - Throws: See ``dhtGet(networkId:key:cache:policy:)``.
    public func dhtRecord(
        networkId: NetworkId,
        key: Data,
        writer: PeerId,
        policy: DHTPolicy? = nil
    ) async throws -> DHTRecord? {
        let request = Kademlia.Request.one(key: [UInt8](key), writer: writer)
        return try await records(request, in: networkId, policy, running()).first.map(DHTRecord.init)
    }

    /// Connects to a member and fills the routing table from its answers.
    ///
    /// A node does so by itself with known and discovered members; this is for one that only the caller knows.
    ///
    /// - Throws: ``NodeError`` when the member cannot be reached, ``DHTError``, `CancellationError`.
    public func dhtBootstrap(networkId: NetworkId, bootstrapPeer: PeerId, policy: DHTPolicy? = nil) async throws {
        let driver = try running()
        try await driver.reach(bootstrapPeer, in: networkId)
        _ = try await performTableRequest(.bootstrap, in: networkId, policy, driver)
    }

    /// The members nearest to `target` by their ids, nearest to this device if it is nil: at most 20.
    ///
    /// They answered, but for a few that were late and that most of the others named.
    ///
    /// - Throws: ``DHTError``, ``NodeError/notRunning``, `CancellationError`.
    public func dhtFindPeers(
        networkId: NetworkId,
        near target: PeerId? = nil,
        policy: DHTPolicy? = nil
    ) async throws -> [DiscoveredPeer] {
        let request = Kademlia.Request.nearest(to: (target ?? peerId).words)
        guard
            case .peers(let contacts) = try await performTableRequest(request, in: networkId, policy, running())
        else {
            return []
        }
        if target == nil { tables.noteFound(Set(contacts.map(\.peerId)), in: networkId) }
        return contacts.map { contact in
            DiscoveredPeer(
                peerId: contact.peerId,
                networkId: networkId,
                addresses: contact.addresses,
                sources: [.hashTable]
            )
        }
    }

    /// Returns the state of a network's hash table; nil when this device is no member or the node is stopped.
    public func dhtStatus(networkId: NetworkId) -> DHTStatus? {
        guard let health = try? running().tableHealth(of: networkId) else { return nil }  // nil: stopped
        let values = storedHeads(networkId: networkId)
        return DHTStatus(
            contacts: health.contacts,
            connected: health.connected,
            records: values.count,
            recordBytes: health.recordBytes,
            ownRecords: values.count { $0.writer == peerId }
        )
    }

    // MARK: Requests

    private func write(
        _ request: Kademlia.Request,
        in network: NetworkId,
        isCached: Bool,
        _ policy: DHTPolicy?
    ) async throws -> DHTReceipt {
        let driver = try running()
        guard
            case .stored(let record, let replicas) = try await performTableRequest(request, in: network, policy, driver)
        else {
            throw DHTError.stopped
        }
        if isCached { tables.insert(record, in: network, at: clock.now()) }
        return DHTReceipt(
            replicas: replicas,
            version: record.version,
            expiration: UnixTime.date(record.expirySeconds)
        )
    }

    private func records(
        _ request: Kademlia.Request,
        in network: NetworkId,
        _ policy: DHTPolicy?,
        _ driver: NodeDriver
    ) async throws -> [Record] {
        guard case .found(let records) = try await performTableRequest(request, in: network, policy, driver) else {
            return []
        }
        return records
    }

    private func performTableRequest(
        _ request: Kademlia.Request,
        in network: NetworkId,
        _ policy: DHTPolicy?,
        _ driver: NodeDriver
    ) async throws -> Kademlia.Outcome {
        let answer = try await driver.performTableRequest(
            request,
            in: network,
            (policy ?? config.dhtPolicy).requestPolicy
        )
        guard case .failed(let error) = answer.outcome else { return answer.outcome }
        // The disk contains more than the table does.
        if case .notStored = error, let failure = store.database.writeFailure { throw failure }
        throw error
    }
}

// The values that this device recently read and wrote in its hash tables; see the `cache` parameter of `dhtPut` and
// `dhtGet`.
extension RunarNode {
    /// Forgets everything that was cached of a network.
    public func clearCache(networkId: NetworkId) {
        tables.clear(networkId)
    }

    /// Removes the cached record of a key.
    public func deleteCache(networkId: NetworkId, key: Data) {
        tables.delete([UInt8](key), in: networkId)
    }

    /// Removes every cached key that matches `pattern`, in which `*` matches any bytes; returns their number.
    @discardableResult
    public func revokeCache(networkId: NetworkId, pattern: String) -> Int {
        tables.revoke(matching: pattern, in: networkId)
    }
}

// The restoration of a driver's state from the store.
extension RunarNode {
    /// The time after which an unseen peer is forgotten: half a year, six times the usual life of a token.
    private static let peerLifeSeconds: UInt64 = 180 * 86_400

    /// Restores the state of a driver from the store.
    func load(into driver: NodeDriver) throws {
        settings.fileReceiver.withLock { driver.receiveFiles($0) }
        driver.apply(.receivesMail(mailService.isReceiving))
        for peer in try store.bannedPeers() { driver.apply(.peer(.banned(peer, true))) }
        for network in services.memberships { try load(network, into: driver) }
        // The peers that were connected most recently precede, in case they exceed the limit of connections.
        try store.prunePeers(unseenSince: wallSeconds - min(wallSeconds, Self.peerLifeSeconds))
        let addresses = try store.addresses()
        let peers = try store.peers().sorted { ($0.lastSeen ?? 0) > ($1.lastSeen ?? 0) }
        let connected = peers.flatMap { addresses[$0.peerId] ?? [] }
            .filter { $0.source == .connection || $0.lastSuccess != nil }
        driver.endpoint.expectMembers(at: connected.map(\.address.ip))
        for peer in peers {
            let places = (addresses[peer.peerId] ?? []).map(\.address)
            driver.apply(.peer(.remembered(peer.peerId, networks: peer.networks, addresses: places)))
            driver.apply(peer.isGiven ? .peer(.wanted(peer.peerId)) : .peer(.sought(peer.peerId)))
        }
    }

    /// Restores the state of a network of which this device is a member from the store.
    func load(_ network: NetworkId, into driver: NodeDriver) throws {
        guard let record = try store.network(network), let token = try record.accessToken() else { return }
        let revocations = try store.revocationSet(of: network)
        let seconds = record.tokenObtainedAt ?? record.joinedAt
        driver.apply(.membership(.added(token, obtainedSeconds: seconds, revocations)))
        if try config.grantsRenewals && (record.derivationIndex != nil || holdsNetworkKey(of: network)) {
            driver.apply(.membership(.grantsRenewals(network)))
        }
        for secret in try memberSecretsOrNew(of: network)?.all.reversed() ?? [] {
            driver.apply(.membership(.secretAdded(secret)))
        }
        if let key = try store.rendezvous(of: network) { driver.apply(.membership(.rendezvousLearnt(network, key))) }
        try seekFormerMembers(of: network)
        driver.apply(.table(.recordsLoaded(network, try store.tableRecords(of: network))))
        for input in try mailService.stored(of: network) { driver.apply(input) }
    }
}
