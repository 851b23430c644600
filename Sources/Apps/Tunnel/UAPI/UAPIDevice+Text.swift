internal import Bytes
internal import CryptoPrimitives
internal import Identity
internal import Platform
internal import WireGuard

/// An answer of the configuration protocol.
enum UAPIAnswer {
    /// The state of the device, for a `get`.
    case device(UAPIDevice)
    /// The request was applied.
    case done
    /// The request was refused.
    case refused(UAPIRefusal)

    /// The bytes of the answer, which may contain private keys: wipe them after use.
    var bytes: [UInt8] {
        var writer = UAPIWriter()
        switch self {
        case .device(let device):
            device.write(to: &writer)
            writer.line("errno", "0")
        case .done: writer.line("errno", "0")
        case .refused(let refusal): writer.line("errno", "\(refusal.rawValue)")
        }
        writer.end()
        return writer.bytes
    }
}

extension UAPIDevice {
    /// Reads a whole answer with its blank line.
    ///
    /// Keys that this version does not have are skipped, so that a newer engine can be driven.
    init(answer bytes: [UInt8]) throws(UAPIError) {
        self.init()
        var number: Int32?
        for line in bytes.split(separator: UInt8(ascii: "\n")) {
            guard number == nil else { throw .malformed }
            do throws(UAPIRefusal) {
                let field = try UAPIField(line)
                if field.key == "errno" {
                    number = try field.errorNumber()
                } else {
                    try apply(field)
                }
            } catch {
                throw .malformed
            }
        }
        guard let number else { throw .malformed }
        guard number == 0 else { throw .refused(number: number, reason: SystemErrors.text(of: abs(number))) }
    }

    private mutating func apply(_ field: UAPIField) throws(UAPIRefusal) {
        if field.key == "public_key" {
            guard peers.count < UAPIConfiguration.peerLimit else { throw .full }
            peers.append(UAPIPeer(publicKey: try field.publicKey()))
        } else if peers.isEmpty {
            switch field.key {
            case "private_key": privateKey = try field.privateKey()
            case "listen_port": listenPort = try field.number()
            case "fwmark": firewallMark = try field.number()
            case "mtu": mtu = try field.number()
            case "path_mtu": pathMTU = try field.number()
            case _: break
            }
        } else {
            try peers[peers.count - 1].apply(field)
        }
    }

    fileprivate func write(to writer: inout UAPIWriter) {
        if let privateKey { writer.secret("private_key", privateKey.secret) }
        if listenPort != 0 { writer.line("listen_port", "\(listenPort)") }
        if firewallMark != 0 { writer.line("fwmark", "\(firewallMark)") }
        if let mtu { writer.line("mtu", "\(mtu)") }
        if let pathMTU { writer.line("path_mtu", "\(pathMTU)") }
        for peer in peers { peer.write(to: &writer) }
    }
}

extension UAPIPeer {
    fileprivate mutating func apply(_ field: UAPIField) throws(UAPIRefusal) {
        switch field.key {
        case "preshared_key": presharedKey = try field.presharedKey()
        // An address with the name of an interface has no number here.
        case "endpoint": endpoint = try? field.endpoint()  // left out then
        case "last_handshake_time_sec":
            let seconds = try field.number(UInt64.self)
            guard seconds <= UnixTime.maximum else { throw .invalid }
            if seconds > 0 { lastHandshake = .seconds(seconds) + (lastHandshake ?? .zero) }
        case "last_handshake_time_nsec":
            let nanoseconds = try field.number(UInt64.self)
            guard nanoseconds < 1_000_000_000 else { throw .invalid }
            if nanoseconds > 0 { lastHandshake = .nanoseconds(nanoseconds) + (lastHandshake ?? .zero) }
        case "tx_bytes": sentBytes = try field.number()
        case "rx_bytes": receivedBytes = try field.number()
        case "persistent_keepalive_interval": persistentKeepaliveSeconds = try field.number()
        case "allowed_ip":
            guard allowedAddresses.count < UAPIConfiguration.PeerChange.prefixLimit else { throw .full }
            allowedAddresses.append(try field.prefix())
        case _: break
        }
    }

    fileprivate func write(to writer: inout UAPIWriter) {
        let (seconds, attoseconds) = (lastHandshake ?? .zero).components
        writer.key("public_key", publicKey)
        writer.secret("preshared_key", presharedKey.secret)
        writer.line("protocol_version", "1")
        if let endpoint { writer.line("endpoint", endpoint.description) }
        writer.line("last_handshake_time_sec", "\(seconds)")
        writer.line("last_handshake_time_nsec", "\(attoseconds / 1_000_000_000)")
        writer.line("tx_bytes", "\(sentBytes)")
        writer.line("rx_bytes", "\(receivedBytes)")
        writer.line("persistent_keepalive_interval", "\(persistentKeepaliveSeconds)")
        for prefix in allowedAddresses { writer.line("allowed_ip", prefix.description) }
    }
}
