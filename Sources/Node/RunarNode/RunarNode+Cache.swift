internal import Concurrency
public import Identity
internal import Kademlia

#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

// What this device read and wrote in its hash tables lately; see the `cache` parameter of `dhtPut` and `dhtGet`.
extension RunarNode {
    /// Forgets everything that was cached of a network.
    public func clearCache(networkId: NetworkId) {
        self.caches.withLock { $0[networkId] = nil }
    }

    /// Forgets what was cached under a key.
    public func deleteCache(networkId: NetworkId, key: Data) {
        self.caches.withLock { $0[networkId]?.delete([UInt8](key)) }
    }

    /// Forgets every cached key that matches `pattern`, in which `*` stands for any bytes; returns how many there were.
    @discardableResult
    public func revokeCache(networkId: NetworkId, pattern: String) -> Int {
        self.caches.withLock { $0[networkId]?.revoke(matching: pattern) ?? 0 }
    }

    /// Forgets what a revoked member wrote.
    func forgetCached(of writer: PeerId, in network: NetworkId) {
        self.caches.withLock { $0[network]?.removeAll(of: writer) }
    }

    /// Replaces what is cached under a key when this node has come to hold something newer.
    func refreshCache(with record: Record, in network: NetworkId) {
        let now = self.clock.now()
        self.caches.withLock { caches in
            guard caches[network]?.record(for: record.key, at: now) != nil else { return }
            _ = caches[network]?.insert(record, at: now)
        }
    }

    func cached(_ key: [UInt8], in network: NetworkId) -> Record? {
        let now = self.clock.now()
        return self.caches.withLock { $0[network]?.record(for: key, at: now) }
    }

    func cache(_ record: Record, in network: NetworkId) {
        let now = self.clock.now()
        let age = self.config.cacheAge
        self.caches.withLock { caches in
            _ = caches[network, default: RecordCache(maximumAge: age)].insert(record, at: now)
        }
    }
}
