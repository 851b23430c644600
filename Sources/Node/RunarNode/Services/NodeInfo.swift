public import Identity
internal import Storage

#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// What a node says about itself.
public struct RunarNodeInfo: Codable, Hashable, Sendable {
    /// What this device's person calls it; it identifies nothing.
    public let nodeId: String
    /// Who the device is: the SHA-256 of its public key.
    public let peerId: PeerId
    /// The network of requests and events that name none, by id or name.
    public let defaultNetworkId: String
    /// The networks of which it is a member, ascending.
    public let networkIds: [NetworkId]
    /// Whether it is on the network.
    public let isRunning: Bool
    /// Where it listens; empty while it is stopped.
    public let addresses: [SocketAddress]
    /// Its services, in the order in which they were added.
    public let services: [RunarServiceInfo]
}

/// What a node knows of another device.
public struct RunarPeerInfo: Codable, Hashable, Sendable {
    /// Who it is.
    public let peerId: PeerId
    /// What this device's person calls it; nil without a label.
    public let label: String?
    /// The networks in which it is known, ascending.
    public let networkIds: [NetworkId]
    /// Whether it is connected at this moment.
    public let isConnected: Bool
    /// Where it may be dialled, as far as is known.
    public let addresses: [SocketAddress]
    /// When it was last let in; nil for never.
    public let lastSeen: Date?
}
