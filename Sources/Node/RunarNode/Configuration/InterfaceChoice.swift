internal import Identity
internal import Platform

// Which network interfaces a node uses.
extension NetworkSettings {
    /// Whether the node is bound to some interfaces.
    var isRestricted: Bool { interface != nil || usesWiFiOnly }

    /// Whether the node listens and dials on an interface.
    func allows(_ interface: NetworkInterface, kind: InterfaceKind) -> Bool {
        if let wanted = self.interface, interface.name != wanted { return false }
        return !usesWiFiOnly || kind == .wiFi
    }

    /// Whether members are looked for on an interface.
    func discovers(on interface: NetworkInterface, kind: InterfaceKind) -> Bool {
        allows(interface, kind: kind) && (discoversOverCellular || kind != .cellular)
    }

    /// Returns the configured addresses to listen on; on a restricted node only those that belong to allowed
    /// interfaces.
    ///
    /// On a restricted node an unspecified address is replaced by the addresses of its family on these interfaces.
    ///
    /// - Throws: ``RunarError`` 3000 when there is no such address.
    func listenAddresses(
        _ wanted: [SocketAddress],
        of interfaces: [NetworkInterface],
        kind: (NetworkInterface) -> InterfaceKind
    ) throws(RunarError) -> [SocketAddress] {
        guard isRestricted else { return wanted }
        let allowed = interfaces.filter { $0.isUp && allows($0, kind: kind($0)) }.flatMap(\.addresses)
        var found: [SocketAddress] = []
        for address in wanted {
            for ip in allowed where ip.isIPv6 == address.isIPv6 && (address.ip.isUnspecified || address.ip == ip) {
                found.append(SocketAddress(ip, port: address.port))
            }
        }
        guard !found.isEmpty else {
            let what = interface.map { "the network interface \($0)" } ?? "a Wi-Fi interface"
            throw .failure(.network, message: "\(what) is not there, is down or has no address to listen on")
        }
        return found
    }

    /// Lists the interfaces on which members are looked for.
    var discoveryInterfaces: @Sendable () -> [NetworkInterface]? {
        { NetworkInterface.all()?.filter { discovers(on: $0, kind: $0.kind) } }
    }
}
