internal import Bytes
internal import CryptoPrimitives
internal import Identity
internal import WireGuard

extension UAPIConfiguration {
    /// Reads the lines of a `set` request after its first one.
    ///
    /// The request is refused as a whole, unlike in wireguard-go, which applies the lines before an invalid one.
    init(lines: some Sequence<ArraySlice<UInt8>>) throws(UAPIRefusal) {
        self.init()
        for line in lines {
            let field = try UAPIField(line)
            if field.key == "public_key" {
                guard peers.count < Self.peerLimit else { throw .full }
                peers.append(PeerChange(publicKey: try field.publicKey()))
            } else if peers.isEmpty {
                try apply(field)
            } else {
                try peers[peers.count - 1].apply(field)
            }
        }
    }

    private mutating func apply(_ field: UAPIField) throws(UAPIRefusal) {
        switch field.key {
        case "private_key": privateKey = try field.privateKey().map { .replace($0) } ?? .remove
        case "listen_port": listenPort = try field.number()
        case "fwmark": firewallMark = try field.number()
        case "mtu": mtu = try field.number()
        case "replace_peers":
            try field.requireTrue()
            replacesPeers = true
        case _: throw .invalid
        }
    }

    /// The lines of the `set` request, with its first one and the blank one at the end; wipe them after use.
    func write(to writer: inout UAPIWriter) {
        writer.line("set", "1")
        switch privateKey {
        case .replace(let key): writer.secret("private_key", key.secret)
        case .remove: writer.secret("private_key", PresharedKey.zero.secret)
        case nil: break
        }
        if let listenPort { writer.line("listen_port", "\(listenPort)") }
        if let firewallMark { writer.line("fwmark", "\(firewallMark)") }
        if let mtu { writer.line("mtu", "\(mtu)") }
        if replacesPeers { writer.line("replace_peers", "true") }
        for peer in peers { peer.write(to: &writer) }
        writer.end()
    }
}

extension UAPIConfiguration.PeerChange {
    fileprivate mutating func apply(_ field: UAPIField) throws(UAPIRefusal) {
        switch field.key {
        case "remove":
            try field.requireTrue()
            isRemoved = true
        case "update_only":
            try field.requireTrue()
            updatesOnly = true
        case "preshared_key": presharedKey = try field.presharedKey()
        case "endpoint": endpoint = try field.endpoint()
        case "persistent_keepalive_interval": persistentKeepaliveSeconds = try field.number()
        case "replace_allowed_ips":
            try field.requireTrue()
            replacesAllowedAddresses = true
            allowedAddresses = []
        case "allowed_ip":
            guard allowedAddresses.count < Self.prefixLimit else { throw .full }
            allowedAddresses.append(try field.prefix())
        case "protocol_version": try field.requireVersion()
        case _: throw .invalid
        }
    }

    fileprivate func write(to writer: inout UAPIWriter) {
        writer.key("public_key", publicKey)
        if isRemoved { writer.line("remove", "true") }
        if updatesOnly { writer.line("update_only", "true") }
        if let presharedKey { writer.secret("preshared_key", presharedKey.secret) }
        if let endpoint { writer.line("endpoint", endpoint.description) }
        if let persistentKeepaliveSeconds {
            writer.line("persistent_keepalive_interval", "\(persistentKeepaliveSeconds)")
        }
        if replacesAllowedAddresses { writer.line("replace_allowed_ips", "true") }
        for prefix in allowedAddresses { writer.line("allowed_ip", prefix.description) }
    }
}
