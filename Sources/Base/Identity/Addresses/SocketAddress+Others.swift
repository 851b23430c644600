extension [SocketAddress] {
    /// The first `limit` of them that another machine could dial, each once and in the form that a text carries.
    func forOthers(limit: Int) -> [SocketAddress] {
        var seen: [SocketAddress] = []
        for address in self {
            let plain = SocketAddress(address.ip.withoutScope, port: address.port).unmapped
            // Without its interface a link-local IPv6 address cannot be dialled.
            if plain.isDialable, !(plain.isIPv6 && plain.isLinkLocal), !seen.contains(plain) { seen.append(plain) }
        }
        return Array(seen.prefix(limit))
    }
}
