package import CryptoPrimitives
package import Identity

extension WireGuardInterface {
    /// A change of the configuration, with the meanings of the configuration protocol of WireGuard.
    package enum ConfigurationChange: Sendable {
        /// Sets or removes the local key. All sessions end; a peer with the same key is removed.
        case privateKey(X25519PrivateKey?)
        /// Adds or changes a peer.
        case peer(X25519PublicKey, PeerChange)
        /// Removes a peer.
        case peerRemoved(X25519PublicKey)
        /// Removes all peers.
        case allPeersRemoved
    }

    /// The settings of a peer that change; others stay.
    package struct PeerChange: Sendable {
        /// The preshared key of further handshakes; ``PresharedKey/zero`` removes it.
        package var presharedKey: PresharedKey?
        /// The address to which packets are sent until the peer uses another one.
        package var endpoint: SocketAddress?
        /// The seconds between empty packets that keep the mappings of middleboxes; 0 sends none.
        package var keepaliveSeconds: UInt16?
        /// Whether the peer loses its former blocks.
        package var replacesAllowedAddresses = false
        /// The blocks that the peer receives; a block that another peer has leaves that one.
        package var allowedAddresses: [AddressPrefix] = []
        /// The blocks that the peer loses.
        package var removedAddresses: [AddressPrefix] = []
        /// Whether a peer that does not exist is left alone instead of added.
        package var isUpdateOnly = false

        package init() {}
    }

    /// The state of a peer for displays and for the configuration protocol.
    package struct PeerStatus: Sendable {
        package var publicKey: X25519PublicKey
        package var presharedKey: PresharedKey
        package var endpoint: SocketAddress?
        /// The seconds between empty packets; 0 without them.
        package var keepaliveSeconds: UInt16
        package var allowedAddresses: [AddressPrefix]
        /// The wall time of the last handshake since 1970; nil before the first.
        package var lastHandshake: Duration?
        /// The bytes of all authentic datagrams of the peer.
        package var receivedBytes: UInt64
        /// The bytes of all datagrams to the peer.
        package var sentBytes: UInt64
        /// Whether packets can be sent at once.
        package var hasSession: Bool
    }

    /// The number of peers.
    package var peerCount: Int { places.count }

    /// The local static key.
    package var localPrivateKey: X25519PrivateKey? { privateKey }

    /// The states of all peers, in the order in which they were added.
    package var peerStatuses: [PeerStatus] { peers.indices.compactMap { status(at: $0) } }

    /// Returns the state of a peer; nil if it is not configured.
    package func status(of key: X25519PublicKey) -> PeerStatus? { places[key].flatMap { status(at: $0) } }

    private func status(at place: Int) -> PeerStatus? {
        guard let peer = peers[place] else { return nil }
        return PeerStatus(
            publicKey: peer.publicKey,
            presharedKey: peer.presharedKey,
            endpoint: peer.endpoint,
            keepaliveSeconds: peer.keepaliveInterval.map { UInt16(clamping: $0.components.seconds) } ?? 0,
            allowedAddresses: routes.blocks(of: place),
            lastHandshake: peer.lastHandshake,
            receivedBytes: peer.receivedBytes,
            sentBytes: peer.sentBytes,
            hasSession: peer.sessions.current != nil
        )
    }

    mutating func apply(_ change: ConfigurationChange, at now: Times) {
        switch change {
        case .privateKey(let key): setPrivateKey(key)
        case .peer(let key, let change): changePeer(key, change, at: now)
        case .peerRemoved(let key): removePeer(key)
        case .allPeersRemoved: for peer in peers.compactMap(\.self) { removePeer(peer.publicKey) }
        }
    }

    private mutating func setPrivateKey(_ key: X25519PrivateKey?) {
        guard key != privateKey else { return }
        privateKey = key
        cookies = key.map { CookieChecker(local: $0.publicKey) }
        if let key { removePeer(key.publicKey) }
        for place in peers.indices {
            endSessions(of: place)
            peers[place]?.staticSecret = nil
            if peers[place]?.keepaliveInterval == nil { peers[place]?.timers.persistent = nil }
        }
    }

    private mutating func changePeer(_ key: X25519PublicKey, _ change: PeerChange, at now: Times) {
        guard let place = places[key] ?? (change.isUpdateOnly ? nil : addPeer(key)) else { return }
        if let preshared = change.presharedKey { peers[place]?.presharedKey = preshared }
        if let endpoint = change.endpoint { peers[place]?.endpoint = endpoint }
        if change.replacesAllowedAddresses { routes.removeAll(owner: place) }
        for block in change.removedAddresses { routes.remove(block, owner: place) }
        for block in change.allowedAddresses where routes.nodeCount < 2 * limits.allowedAddresses {
            routes.insert(block, owner: place)
        }
        if let seconds = change.keepaliveSeconds {
            let interval: Duration? = seconds == 0 ? nil : .seconds(Int(seconds))
            let isNew = peers[place]?.keepaliveInterval == nil
            peers[place]?.keepaliveInterval = interval
            // The first empty packet, or the handshake for it, is due at once.
            peers[place]?.timers.persistent = interval.map { isNew ? now.elapsed : now.elapsed + $0 }
            schedule(place)
        }
    }

    private mutating func addPeer(_ key: X25519PublicKey) -> Int? {
        guard places.count < limits.peers, key != privateKey?.publicKey else { return nil }
        let place: Int
        if let reused = freePlaces.popLast() {
            place = reused
            peers[place] = Peer(key)
        } else {
            place = peers.count
            peers.append(Peer(key))
        }
        places[key] = place
        return place
    }

    private mutating func removePeer(_ key: X25519PublicKey) {
        guard let place = places.removeValue(forKey: key) else { return }
        endSessions(of: place)
        _ = staged.removeAll(of: place)
        routes.removeAll(owner: place)
        deadlines.remove(place)
        peers[place] = nil
        freePlaces.append(place)
    }

    /// Removes the sessions and the handshake of a peer.
    private mutating func endSessions(of place: Int) {
        guard let peer = peers[place] else { return }
        for session in peer.sessions.all { sessions.remove(session) }
        if let handshake = peer.handshake { sessions.release(handshake.localIndex) }
        peers[place]?.sessions = PeerSessions()
        peers[place]?.handshake = nil
        peers[place]?.cookie = nil
        peers[place]?.timers = PeerTimers(persistent: peer.timers.persistent)
    }
}
