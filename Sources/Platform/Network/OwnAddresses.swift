package import Identity

/// The addresses at which others can dial this machine.
package enum OwnAddresses {
    /// The most addresses that are announced; the most useful ones are first.
    package static let limit = 8

    /// Returns the addresses to announce for sockets that are bound to `bound`.
    ///
    /// An unspecified address denotes every address of its family on the interfaces that are up. Loopback addresses count
    /// only if there are no others, because they denote another machine elsewhere. Scopes are removed for this reason, too.
    /// IPv4 precedes IPv6, and link-local addresses are last; there are no duplicates.
    package static func dialable(
        bound: [SocketAddress],
        interfaces: [NetworkInterface],
        limit: Int = limit
    ) -> [SocketAddress] {
        let all = bound.flatMap { socket -> [SocketAddress] in
            guard socket.isUnspecified else { return [socket.unmapped] }
            return interfaces.filter(\.isUp).sorted { $0.index < $1.index }
                .flatMap { $0.addresses.filter { $0.isIPv6 == socket.isIPv6 } }
                .map { SocketAddress($0, port: socket.port) }
        }
        let plain = all.map { SocketAddress($0.ip.withoutScope, port: $0.port) }.filter(\.isDialable)
        let remote = plain.filter { !$0.isLoopback }
        var seen: Set<SocketAddress> = []
        let different = (remote.isEmpty ? plain : remote).filter { seen.insert($0).inserted }
        let ranked = different.enumerated().sorted { (rank($0.element), $0.offset) < (rank($1.element), $1.offset) }
        return ranked.prefix(limit).map(\.element)
    }

    private static func rank(_ address: SocketAddress) -> Int {
        switch (address.isLinkLocal, address.isIPv6) {
        case (false, false): 0
        case (false, true): 1
        case (true, false): 2
        case (true, true): 3
        }
    }

    /// Returns the interfaces on which others could discover and dial us, at most `limit` of them, and those beyond it.
    ///
    /// A socket that is bound to one address can be reached where this address is, an unspecified one everywhere. The
    /// system is asked for the ranks only if there are too many.
    static func announcing(
        bound: [SocketAddress],
        interfaces: [NetworkInterface],
        limit: Int,
        ranks: ([NetworkInterface]) -> [UInt32: InterfaceRank]
    ) -> (used: [NetworkInterface], leftOut: [NetworkInterface]) {
        let useful = interfaces.filter { interface in
            interface.carriesMulticast
                && bound.contains { socket in
                    interface.addresses.contains { address in
                        socket.isUnspecified ? address.isIPv6 == socket.isIPv6 : address.withoutScope == plain(socket)
                    }
                }
        }
        .sorted { $0.index < $1.index }
        guard useful.count > limit else { return (useful, []) }
        let known = ranks(interfaces)
        func rank(_ interface: NetworkInterface) -> (InterfaceRank, UInt32) {
            (known[interface.index] ?? .virtual, interface.index)
        }
        let ranked = useful.sorted { rank($0) < rank($1) }
        return (ranked.prefix(limit).sorted { $0.index < $1.index }, Array(ranked.dropFirst(limit)))
    }

    private static func plain(_ socket: SocketAddress) -> IPAddress { socket.unmapped.ip.withoutScope }
}
