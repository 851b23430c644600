internal import Concurrency
public import Identity
internal import Kademlia
internal import Node
internal import NodeCore

#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

// Each network's distributed hash table: what members store there, any member finds.
extension RunarNode {
    /// How long a record lasts unless its writer says otherwise: six days, within the seven that holders allow, and
    /// renewed by its writer.
    public static let recordLifetime = Duration.seconds(6 * 86_400)

    /// Stores a value under a key in the name of this device and returns once enough members hold it.
    ///
    /// Each member has one value under a key; readers get the newest of all. Members can read what is stored.
    ///
    /// With the usual `lifetime` the node writes the record again before it expires, under a version higher by one, so
    /// that it lasts as long as this device is on the network every few days. A shorter one, the longest is seven days,
    /// ends the record when it is over.
    ///
    /// A key has 1 to 1 024 bytes, a value at most 65 536. When the `condition` does not hold,
    /// ``DHTError`` (`conflict`) says what holds instead. With `cache`, reads on this device are answered with the
    /// value for a while.
    ///
    /// - Throws: ``DHTError``, ``NodeError/notRunning``, `CancellationError`.
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
        return try await self.write(request, in: networkId, isCached: cache, policy)
    }

    /// Deletes what this device has stored under a key; others' values stay.
    ///
    /// - Throws: ``DHTError``, ``NodeError/notRunning``, `CancellationError`.
    @discardableResult
    public func dhtDelete(networkId: NetworkId, key: Data, policy: DHTPolicy? = nil) async throws -> DHTReceipt {
        try await self.write(.delete(key: [UInt8](key)), in: networkId, isCached: true, policy)
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
        try await self.dhtRecord(networkId: networkId, key: key, cache: cache, policy: policy)?.value
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
        let driver = try self.running()
        if cache, let record = self.tables.record(for: key, in: networkId, at: self.clock.now()) { return DHTRecord(record) }
        let found = try await self.records(.get(key: key), in: networkId, policy, driver)
        if cache { for record in found { self.tables.insert(record, in: networkId, at: self.clock.now()) } }
        return found.first.map(DHTRecord.init)
    }

    /// The records of all members under a key, the newest first.
    ///
    /// - Throws: See ``dhtGet(networkId:key:cache:policy:)``.
    public func dhtRecords(networkId: NetworkId, key: Data, policy: DHTPolicy? = nil) async throws -> [DHTRecord] {
        try await self.records(.all(key: [UInt8](key)), in: networkId, policy, self.running()).map(DHTRecord.init)
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
        return try await self.records(request, in: networkId, policy, self.running()).first.map(DHTRecord.init)
    }

    /// Connects to a member and fills the routing table from there.
    ///
    /// A node does so by itself with whomever it knows or hears; this is for a member of which only the caller knows.
    ///
    /// - Throws: ``NodeError`` when the member cannot be reached, ``DHTError``, `CancellationError`.
    public func dhtBootstrap(networkId: NetworkId, bootstrapPeer: PeerId, policy: DHTPolicy? = nil) async throws {
        let driver = try self.running()
        try await driver.reach(bootstrapPeer, in: networkId)
        _ = try await self.ask(.bootstrap, in: networkId, policy, driver)
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
        let request = Kademlia.Request.nearest(to: (target ?? self.peerId).words)
        guard case .peers(let contacts) = try await self.ask(request, in: networkId, policy, self.running()) else {
            return []
        }
        if target == nil { self.tables.noteFound(Set(contacts.map(\.peerId)), in: networkId) }
        return contacts.map { contact in
            DiscoveredPeer(
                peerId: contact.peerId,
                networkId: networkId,
                addresses: contact.addresses,
                sources: [.hashTable]
            )
        }
    }

    /// How a network's hash table stands; nil when this device is no member or the node is stopped.
    public func dhtStatus(networkId: NetworkId) -> DHTStatus? {
        guard let health = try? self.running().tableHealth(of: networkId) else { return nil }  // nil: stopped
        let values = self.heldHeads(networkId: networkId)
        return DHTStatus(
            contacts: health.contacts,
            connected: health.connected,
            records: values.count,
            recordBytes: health.recordBytes,
            ownRecords: values.count { $0.writer == self.peerId }
        )
    }

    // MARK: Requests

    private func write(
        _ request: Kademlia.Request,
        in network: NetworkId,
        isCached: Bool,
        _ policy: DHTPolicy?
    ) async throws -> DHTReceipt {
        let driver = try self.running()
        guard case .stored(let record, let holders) = try await self.ask(request, in: network, policy, driver) else {
            throw DHTError.stopped
        }
        if isCached { self.tables.insert(record, in: network, at: self.clock.now()) }
        return DHTReceipt(
            holders: holders,
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
        guard case .found(let records) = try await self.ask(request, in: network, policy, driver) else { return [] }
        return records
    }

    private func ask(
        _ request: Kademlia.Request,
        in network: NetworkId,
        _ policy: DHTPolicy?,
        _ driver: NodeDriver
    ) async throws -> Kademlia.Outcome {
        let answer = try await driver.ask(request, in: network, (policy ?? self.config.dhtPolicy).requestPolicy)
        if case .failed(let error) = answer.outcome { throw error }
        return answer.outcome
    }
}

extension DHTCondition {
    fileprivate var condition: Kademlia.Condition {
        switch self {
        case .any: .any
        case .ifAbsent: .ifAbsent
        case .ifVersion(let version): .ifVersion(version)
        }
    }
}

extension DHTPolicy {
    fileprivate var requestPolicy: Kademlia.RequestPolicy {
        var policy = Kademlia.RequestPolicy(deadline: self.deadline, attempts: max(1, self.attempts))
        if self.takesFirst { policy.reading = .first }
        return policy
    }
}
