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
        self.tables.clear(networkId)
    }

    /// Forgets what was cached under a key.
    public func deleteCache(networkId: NetworkId, key: Data) {
        self.tables.delete([UInt8](key), in: networkId)
    }

    /// Forgets every cached key that matches `pattern`, in which `*` stands for any bytes; returns how many there were.
    @discardableResult
    public func revokeCache(networkId: NetworkId, pattern: String) -> Int {
        self.tables.revoke(matching: pattern, in: networkId)
    }
}
