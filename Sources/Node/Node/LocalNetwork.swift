/// The links of a node to its local network.
struct LocalNetwork: Sendable {
    /// The link on which members are looked for; nil while discovery is off.
    private(set) var discoveryLink: (any DiscoveryLink)?
    /// The link that only reports this machine's addresses; nil where discovery does so.
    private var addressLink: (any DiscoveryLink)?

    /// Uses `link` for discovery; false when discovery is on.
    mutating func startDiscovery(on link: any DiscoveryLink) -> Bool {
        guard discoveryLink == nil else { return false }
        discoveryLink = link
        return true
    }

    /// Ends discovery and returns its link, to be closed.
    mutating func stopDiscovery() -> (any DiscoveryLink)? {
        defer { discoveryLink = nil }
        return discoveryLink
    }

    /// Uses `link` for this machine's addresses; false when there is such a link.
    mutating func watchAddresses(of link: any DiscoveryLink) -> Bool {
        guard addressLink == nil else { return false }
        addressLink = link
        return true
    }

    /// Removes all links and returns them, to be closed.
    mutating func removeAll() -> [any DiscoveryLink] {
        defer { (discoveryLink, addressLink) = (nil, nil) }
        return [discoveryLink, addressLink].compactMap(\.self)
    }
}
