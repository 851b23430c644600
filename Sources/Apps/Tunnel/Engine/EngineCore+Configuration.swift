internal import Identity
internal import WireGuard

extension EngineCore {
    /// Applies the parts of a request that the value has.
    func apply(_ configuration: UAPIConfiguration) {
        withInterface { interface, random, moment in
            if let mtu = configuration.mtu { interface.mtu = Int(mtu) }
            for change in Self.changes(of: configuration) {
                // Changes start timers at most, which are run by the thread that waits for them.
                _ = interface.handle(.configured(change), at: moment, using: &random)
            }
        }
    }

    private static func changes(of configuration: UAPIConfiguration) -> [WireGuardInterface.ConfigurationChange] {
        var changes: [WireGuardInterface.ConfigurationChange] = []
        switch configuration.privateKey {
        case .replace(let key): changes.append(.privateKey(key))
        case .remove: changes.append(.privateKey(nil))
        case nil: break
        }
        if configuration.replacesPeers { changes.append(.allPeersRemoved) }
        return changes + configuration.peers.map(change)
    }

    private static func change(of peer: UAPIConfiguration.PeerChange) -> WireGuardInterface.ConfigurationChange {
        guard !peer.isRemoved else { return .peerRemoved(peer.publicKey) }
        var change = WireGuardInterface.PeerChange()
        change.isUpdateOnly = peer.updatesOnly
        change.presharedKey = peer.presharedKey
        change.endpoint = peer.endpoint?.unmapped
        change.keepaliveSeconds = peer.persistentKeepaliveSeconds
        change.replacesAllowedAddresses = peer.replacesAllowedAddresses
        change.allowedAddresses = peer.allowedAddresses
        return .peer(peer.publicKey, change)
    }

    /// The state of the value, without port, mark and path.
    func device() -> UAPIDevice {
        withInterface { interface, _, _ in
            var device = UAPIDevice()
            device.privateKey = interface.localPrivateKey
            device.mtu = UInt16(clamping: interface.mtu)
            device.peers = interface.peerStatuses.map(UAPIPeer.init)
            return device
        }
    }
}

extension UAPIPeer {
    fileprivate init(_ status: WireGuardInterface.PeerStatus) {
        self.init(publicKey: status.publicKey)
        presharedKey = status.presharedKey
        endpoint = status.endpoint
        lastHandshake = status.lastHandshake
        sentBytes = status.sentBytes
        receivedBytes = status.receivedBytes
        persistentKeepaliveSeconds = status.keepaliveSeconds
        allowedAddresses = status.allowedAddresses
    }
}
