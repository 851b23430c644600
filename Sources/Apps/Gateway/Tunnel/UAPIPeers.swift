internal import CryptoPrimitives
internal import Identity
internal import Tunnel
internal import WireGuard

/// The clients of a gateway in WireGuard's cross-platform configuration protocol.
enum UAPIPeers {
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

    /// The traffic of all peers.
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
