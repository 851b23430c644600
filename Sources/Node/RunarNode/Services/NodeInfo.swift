public import Essentials
public import Identity
internal import NodeStore

/// The description that a node gives of itself.
public struct RunarNodeInfo: Codable, Hashable, Sendable {
    /// The label that this device's person gave it; it identifies nothing.
    public let nodeId: String
    /// The identity of the device: the SHA-256 of its public key.
    public let peerId: PeerId
    /// The network of requests and events that name none, by id or name.
    public let defaultNetworkId: String
    /// The networks of which it is a member, ascending.
    public let networkIds: [NetworkId]
    /// Whether it is on the network.
    public let isRunning: Bool
    /// The addresses on which it listens; empty while it is stopped.
    public let addresses: [SocketAddress]
    /// Its services, in the order in which they were added.
    public let services: [RunarServiceInfo]
}

/// The information that a node has about another device.
public struct RunarPeerInfo: Codable, Hashable, Sendable {
    /// The identity of the device.
    public let peerId: PeerId
    /// The label that this device's person gave it; nil without one.
    public let label: String?
    /// The networks in which it is known, ascending.
    public let networkIds: [NetworkId]
    /// Whether it is connected at this moment.
    public let isConnected: Bool
    /// The addresses at which it may be dialled, as far as is known.
    public let addresses: [SocketAddress]
    /// The last time at which it was connected: now if it is; nil for never.
    public let lastSeen: Date?
}
