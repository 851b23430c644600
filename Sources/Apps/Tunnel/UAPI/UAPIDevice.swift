package import CryptoPrimitives
package import Identity
package import WireGuard

/// The state of a tunnel device, as an engine reports it.
package struct UAPIDevice: Equatable, Sendable {
    /// The most bytes of an answer.
    static let byteLimit = 32 << 20

    /// The private key.
    package var privateKey: X25519PrivateKey?
    /// The UDP port of the sockets; 0 before they are bound.
    package var listenPort: UInt16 = 0
    /// The mark of sent datagrams; 0 for none.
    package var firewallMark: UInt32 = 0
    /// The MTU of the interface in bytes that the engine pads to; nil if it does not report it.
    package var mtu: UInt16?
    /// The bytes of the largest packet inside the tunnel that the path to the only peer carries whole; nil without one peer.
    package var pathMTU: UInt16?
    /// The peers, in an order without meaning.
    package var peers: [UAPIPeer] = []

    /// A device without key and peers.
    package init() {}
}

/// The state of one peer of a tunnel device.
package struct UAPIPeer: Equatable, Sendable {
    /// The public key, which identifies the peer.
    package let publicKey: X25519PublicKey
    /// The preshared key; zero without one.
    package var presharedKey = PresharedKey.zero
    /// The address of the peer's latest authenticated datagram, or the configured one.
    package var endpoint: SocketAddress?
    /// The time of the latest completed handshake since 1970; nil before the first one.
    package var lastHandshake: Duration?
    /// Bytes of sent datagrams.
    package var sentBytes: UInt64 = 0
    /// Bytes of received and authenticated datagrams.
    package var receivedBytes: UInt64 = 0
    /// Seconds between keepalives of an idle session; 0 sends none.
    package var persistentKeepaliveSeconds: UInt16 = 0
    /// Prefixes of the peer's addresses inside the tunnel.
    package var allowedAddresses: [AddressPrefix] = []

    /// A peer without session.
    package init(publicKey: X25519PublicKey) {
        self.publicKey = publicKey
    }
}
