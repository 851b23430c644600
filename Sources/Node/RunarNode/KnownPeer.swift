internal import Concurrency
public import Essentials
public import Identity
internal import NodeStore

/// A peer that was seen in or named by this device's networks, connected or not.
public struct KnownPeer: Hashable, Sendable {
    /// Which peer.
    public let peerId: PeerId
    /// The networks in which it is known, ascending.
    public let networks: [NetworkId]
    /// The label that this device's person gave it with its token; nil without one, or if another device is the owner.
    public let label: String?
    /// The last time at which it was connected: now if it is; nil for never.
    public let lastSeen: Date?
    /// Whether a person entered an address of the peer on this device.
    public let isGiven: Bool
    /// Whether the latest search of a network's hash table named it.
    public let isInHashTable: Bool
}
