package import CryptoPrimitives
package import Identity
package import WireGuard

/// The changes of one `set` request (WireGuard's cross-platform configuration protocol).
package struct UAPIConfiguration: Equatable, Sendable {
    /// A change of the private key.
    package enum PrivateKeyChange: Equatable, Sendable {
        case replace(X25519PrivateKey)
        case remove
    }

    /// The most peers in one request.
    static let peerLimit = 20_000

    /// The private key of the device; nil leaves it as it is.
    package var privateKey: PrivateKeyChange?
    /// The UDP port; 0 chooses a free one, nil leaves it as it is.
    package var listenPort: UInt16?
    /// The mark of sent datagrams (SO_MARK); 0 removes it, nil leaves it as it is.
    package var firewallMark: UInt32?
    /// The MTU of the interface in bytes, above which no packet is padded; only this package's engine has the key.
    package var mtu: UInt16?
    /// Whether the peers of the request replace all others.
    package var replacesPeers = false
    /// The changes of peers, in their order.
    package var peers: [PeerChange] = []

    /// Changes nothing yet.
    package init() {}
}

extension UAPIConfiguration {
    /// The changes of one peer.
    package struct PeerChange: Equatable, Sendable {
        /// The most prefixes in one change.
        static let prefixLimit = 65_536

        /// The public key, which identifies the peer.
        package let publicKey: X25519PublicKey
        /// Whether the peer is removed.
        package var isRemoved = false
        /// Whether an unknown peer is left alone rather than added.
        package var updatesOnly = false
        /// The preshared key; zero removes it, nil leaves it as it is.
        package var presharedKey: PresharedKey?
        /// The peer's address and port; nil leaves it as it is.
        package var endpoint: SocketAddress?
        /// Seconds between keepalives of an idle session; 0 sends none, nil leaves it as it is.
        package var persistentKeepaliveSeconds: UInt16?
        /// Whether the prefixes replace those that the peer has.
        package var replacesAllowedAddresses = false
        /// Prefixes of the peer's addresses inside the tunnel.
        package var allowedAddresses: [AddressPrefix] = []

        /// Adds the peer, or leaves it as it is.
        package init(publicKey: X25519PublicKey) {
            self.publicKey = publicKey
        }
    }
}
