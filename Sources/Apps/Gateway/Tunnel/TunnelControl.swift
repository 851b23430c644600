package import CryptoPrimitives
package import Identity

/// A client of the tunnel as the engine knows it.
package struct TunnelPeer: Equatable, Sendable {
    package let publicKey: X25519PublicKey
    package let presharedKey: PresharedKey
    /// The client's addresses in the tunnel, the only sources that the engine accepts from it.
    package let addresses: [IPAddress]

    package init(publicKey: X25519PublicKey, presharedKey: PresharedKey, addresses: [IPAddress]) {
        self.publicKey = publicKey
        self.presharedKey = presharedKey
        self.addresses = addresses
    }

}

/// The traffic of a client since the engine started.
package struct PeerTraffic: Hashable, Sendable {
    package let publicKey: X25519PublicKey
    /// The bytes that the client sent and received.
    package let byteCount: UInt64
    /// The time of the last completed handshake in seconds since 1970; nil before the first one.
    package let lastHandshake: UInt64?

    package init(publicKey: X25519PublicKey, byteCount: UInt64, lastHandshake: UInt64?) {
        self.publicKey = publicKey
        self.byteCount = byteCount
        self.lastHandshake = lastHandshake
    }
}

/// The engine of the tunnel, as far as the gateway controls it.
package protocol TunnelControl: Sendable {
    /// Adds a client, or replaces its preshared key and addresses.
    func set(_ peers: [TunnelPeer]) async throws

    /// Removes clients and their sessions; unknown ones are ignored.
    func remove(_ keys: [X25519PublicKey]) async throws

    /// The traffic of all clients.
    func traffic() async throws -> [PeerTraffic]
}
