internal import Concurrency
internal import Identity
internal import Kademlia
internal import NodeCore

/// The records and members of hash tables that this node has seen lately.
struct TableMemory: Sendable {
    /// The records that the app has read and written lately, by network.
    private let caches = Locked<[NetworkId: RecordCache]>([:])
    private let members = Locked<[NetworkId: Set<PeerId>]>([:])
    /// The age at which a cached record is no longer used.
    private let maximumAge: Duration

    init(maximumAge: Duration) {
        self.maximumAge = maximumAge
    }

    // MARK: Members

    /// The members that the latest search of each network's hash table named, at most a bucket of them.
    var found: [NetworkId: Set<PeerId>] { members.withLock(\.self) }

    /// Replaces the members that a search has named.
    func noteFound(_ peers: Set<PeerId>, in network: NetworkId) {
        members.withLock { $0[network] = peers.isEmpty ? nil : peers }
    }

    // MARK: Records

    /// Forgets every record.
    func clear() { caches.withLock { $0 = [:] } }

    /// Forgets the records of a network.
    func clear(_ network: NetworkId) { caches.withLock { $0[network] = nil } }

    /// Forgets the record under a key.
    func delete(_ key: [UInt8], in network: NetworkId) { caches.withLock { $0[network]?.delete(key) } }

    /// Removes the records whose keys match `pattern`, in which `*` matches any bytes; returns their number.
    func revoke(matching pattern: String, in network: NetworkId) -> Int {
        caches.withLock { $0[network]?.revoke(matching: pattern) ?? 0 }
    }

    /// Forgets the records of a revoked member.
    func removeRecords(of writer: PeerId, in network: NetworkId) {
        caches.withLock { $0[network]?.removeAll(of: writer) }
    }

    /// The record under a key.
    func record(for key: [UInt8], in network: NetworkId, at now: NodeTime) -> Record? {
        caches.withLock { $0[network]?.record(for: key, at: now) }
    }

    /// Keeps a record.
    func insert(_ record: Record, in network: NetworkId, at now: NodeTime) {
        caches.withLock { caches in
            _ = caches[network, default: RecordCache(maximumAge: maximumAge)].insert(record, at: now)
        }
    }

    /// Replaces a cached record by a newer one that this node has stored.
    func refresh(with record: Record, in network: NetworkId, at now: NodeTime) {
        caches.withLock { caches in
            guard caches[network]?.record(for: record.key, at: now) != nil else { return }
            _ = caches[network]?.insert(record, at: now)
        }
    }
}
