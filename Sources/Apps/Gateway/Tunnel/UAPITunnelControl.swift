package import CryptoPrimitives
internal import Identity
package import Tunnel
internal import WireGuard

/// The control of an engine by WireGuard's cross-platform configuration protocol.
package struct UAPITunnelControl: TunnelControl {
    private let client: UAPIClient

    /// Uses the engine behind `client`.
    package init(_ client: UAPIClient) {
        self.client = client
    }

    package func set(_ peers: [TunnelPeer]) async throws {
        var configuration = UAPIConfiguration()
        configuration.peers = peers.map(Self.change)
        try await client.apply(configuration)
    }

    package func remove(_ keys: [X25519PublicKey]) async throws {
        var configuration = UAPIConfiguration()
        configuration.peers = keys.map(Self.removal)
        try await client.apply(configuration)
    }

    package func traffic() async throws -> [PeerTraffic] { Self.traffic(of: try await client.device()) }

    /// The change that adds a peer, or replaces its preshared key and addresses.
    static func change(_ peer: TunnelPeer) -> UAPIConfiguration.PeerChange {
        var change = UAPIConfiguration.PeerChange(publicKey: peer.publicKey)
        change.presharedKey = peer.presharedKey
        change.replacesAllowedAddresses = true
        change.allowedAddresses = peer.addresses.compactMap { AddressPrefix($0, length: $0.isIPv6 ? 128 : 32) }
        return change
    }

    /// The change that removes a peer.
    static func removal(_ key: X25519PublicKey) -> UAPIConfiguration.PeerChange {
        var change = UAPIConfiguration.PeerChange(publicKey: key)
        change.isRemoved = true
        return change
    }

    static func traffic(of device: UAPIDevice) -> [PeerTraffic] {
        device.peers.map { peer in
            PeerTraffic(
                publicKey: peer.publicKey,
                byteCount: peer.sentBytes &+ peer.receivedBytes,
                lastHandshake: peer.lastHandshake.map { UInt64(clamping: $0.components.seconds) }
            )
        }
    }
}
