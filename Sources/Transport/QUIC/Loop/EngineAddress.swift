internal import CQUICShim
internal import Identity

extension rq_addr {
    /// The engine's form of an address.
    init(_ address: SocketAddress) {
        self.init()
        let bytes = address.bytes
        family = bytes.count == 16 ? 6 : 4
        port = address.port
        scope = address.scope
        unsafe withUnsafeMutableBytes(of: &ip) { unsafe $0.copyBytes(from: bytes) }
    }

    /// Our form of an address; nil when there is none.
    var socketAddress: SocketAddress? {
        var ip = ip
        let bytes = unsafe withUnsafeBytes(of: &ip) { unsafe [UInt8]($0.prefix(family == 6 ? 16 : 4)) }
        return family == 0 ? nil : SocketAddress(bytes: bytes, port: port, scope: scope)
    }
}

extension IPAddress {
    /// The network that an address is counted by: /24 of IPv4, /56 of IPv6, which one customer may have.
    ///
    /// On this machine, a link or a site it is the address itself: all devices of a household share such a network.
    var sourceNetwork: IPAddress {
        guard !isLoopback, !isLinkLocal, !isPrivate else { return self }
        switch self {
        case .v4(let word): return .v4(word & ~0xFF)
        case .v6(let high, _, _): return .v6(high: high & ~0xFF, low: 0, scope: 0)
        }
    }
}
