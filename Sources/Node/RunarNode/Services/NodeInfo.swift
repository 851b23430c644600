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

extension RunarNode {
    /// What there is to say about this node.
    ///
    /// - Throws: ``RunarError``.
    public func getNodeInfo() async throws -> RunarNodeInfo {
        RunarNodeInfo(
            nodeId: self.config.nodeId,
            peerId: self.peerId,
            defaultNetworkId: self.config.defaultNetworkId,
            networkIds: self.services.memberships,
            isRunning: self.isRunning,
            addresses: self.listenAddresses,
            services: self.services.located.map { $0.hosted.info(in: $0.network) }
        )
    }

    /// The devices that this one knows in its networks, connected or not, ascending.
    ///
    /// - Throws: ``RunarError``.
    public func getKnownPeers() async throws -> [RunarPeerInfo] {
        do {
            let connected = Set(self.connectedPeers())
            return try self.knownPeers().map { peer in
                RunarPeerInfo(
                    peerId: peer.peerId,
                    label: peer.label,
                    networkIds: peer.networks,
                    isConnected: connected.contains(peer.peerId),
                    addresses: try self.store.addresses(of: peer.peerId).map(\.address),
                    lastSeen: peer.lastSeen
                )
            }
        } catch {
            throw RunarError(error)
        }
    }
}
