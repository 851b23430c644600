package import Identity
internal import OrderedCollections

// Where this node is, by its own account and by that of others, and which addresses of peers are worth a datagram.
extension Reach {
    /// STUN servers that are remembered.
    private static let serverLimit = 8
    /// Addresses that others see, in one offer: more of them only say that the NAT draws ports.
    private static let observedLimit = 4

    mutating func note(_ address: SocketAddress, observedBy peer: PeerId) {
        self.peers[peer]?.observed = address.unmapped
        self.proveMapping()
    }

    mutating func note(_ address: SocketAddress, observedBy server: SocketAddress) {
        self.serverObservations[server] = address.unmapped
        if self.serverObservations.count > Self.serverLimit { self.serverObservations.removeFirst() }
        self.proveMapping()
    }

    /// What others see of this node, and from where.
    private var observations: [(observer: IPAddress, address: SocketAddress)] {
        var found = self.serverObservations.map { (observer: $0.key.ip, address: $0.value) }
        for peer in self.peers.values where peer.channel == nil {
            if let address = peer.observed { found.append((peer.link.remote.ip, address)) }
        }
        return found.filter { self.isUsable($0.address) }
    }

    /// How this node's NAT chooses ports.
    ///
    /// Two that see the same outer address from different places prove it; that is remembered while the network is the
    /// same. From a single one it is a guess: a NAT that kept this node's port most likely keeps it for everybody, one
    /// that did not most likely draws another one for each.
    package var mapping: MappingBehaviour {
        guard self.provenMapping == .unknown else { return self.provenMapping }
        let seen = self.observations.filter { !$0.address.isIPv6 }
        let translated = seen.filter { !self.own.contains($0.address) }
        // Observers on this side of the NAT see none.
        guard !translated.isEmpty else { return seen.isEmpty ? .unknown : .endpointIndependent }
        guard !self.own.isEmpty else { return .unknown }
        let isKept = translated.contains { seen in self.own.contains { $0.port == seen.address.port } }
        return isKept ? .endpointIndependent : .endpointDependent
    }

    /// Whether observers at different addresses agree on that.
    package var isMappingProven: Bool { self.provenMapping != .unknown }

    private mutating func proveMapping() {
        let translated = self.observations.filter { !$0.address.isIPv6 && !self.own.contains($0.address) }
        for (index, first) in translated.enumerated() {
            for second in translated[..<index]
            where second.observer != first.observer && second.address.ip == first.address.ip {
                guard second.address.port == first.address.port else {
                    self.provenMapping = .endpointDependent
                    return
                }
                self.provenMapping = .endpointIndependent
            }
        }
    }

    /// The addresses that others see, the one that most see first.
    package var observedAddresses: [SocketAddress] {
        var counts: OrderedDictionary<SocketAddress, Int> = [:]
        for observation in self.observations { counts[observation.address, default: 0] += 1 }
        let ranked = counts.enumerated().sorted { left, right in
            left.element.value == right.element.value
                ? left.offset < right.offset : left.element.value > right.element.value
        }
        return ranked.map(\.element.key)
    }

    /// Where this node might be found.
    var offer: Offer {
        var addresses = OrderedSet(self.own.filter { $0.isIPv6 && !$0.isPrivate })
        addresses.append(contentsOf: self.observedAddresses.prefix(Self.observedLimit))
        addresses.append(contentsOf: self.own)
        return Offer(
            mapping: self.mapping,
            addresses: Array(addresses.prefix(min(Offer.limit, self.limits.candidates)))
        )
    }

    /// Whether an address could be one at which somebody else is found.
    ///
    /// Loopback addresses are, where this node itself is on the loopback interface alone.
    func isUsable(_ address: SocketAddress) -> Bool {
        guard address.isDialable, !address.isLoopback || self.isOnLoopback, !address.isLinkLocal else { return false }
        if case .v6(0x0100_0000_0000_0000, _, _) = address.ip { return false }
        return true
    }

    /// Why no datagram goes to an address of a peer, or nil; less is asked of what a member saw itself.
    func implausibility(of address: SocketAddress, isObserved: Bool) -> Implausibility? {
        guard self.isUsable(address) else { return .junk }
        guard !self.own.contains(address), !self.observations.contains(where: { $0.address == address }) else {
            return .own
        }
        guard self.own.isEmpty || self.own.contains(where: { $0.isIPv6 == address.isIPv6 }) else {
            return .otherFamily
        }
        guard !isObserved else { return nil }
        guard !address.isPrivate || self.own.contains(where: { $0.ip.isOnSite(of: address.ip) }) else {
            return .elsewhere
        }
        return address.port < 1024 ? .reservedPort : nil
    }

    /// IPv6 first, then the local network, then the rest.
    static func rank(of address: SocketAddress) -> Int {
        if address.isPrivate { return 1 }
        return address.isIPv6 ? 0 : 2
    }

    mutating func ownAddressesChanged(_ addresses: [SocketAddress], _ now: Duration, _ effects: inout [Effect]) {
        self.isOnLoopback = !addresses.isEmpty && addresses.allSatisfy(\.isLoopback)
        let usable = Array(OrderedSet(addresses.map { SocketAddress($0.ip.unmapped.withoutScope, port: $0.port) }))
            .filter { self.isUsable($0) }.sorted()
        guard usable != self.own || !self.hasOwnAddresses else { return }
        self.own = usable
        let isChange = self.hasOwnAddresses
        self.hasOwnAddresses = true
        guard isChange else { return }
        self.provenMapping = .unknown
        for peer in Array(self.peers.keys) {
            self.startPath(to: peer, now, &effects)
            if self.upgrades[peer] != nil { self.upgrades[peer] = Upgrade(since: now, due: now, isUrgent: true) }
        }
    }
}

extension IPAddress {
    /// Whether both are for use inside one site, and it may be the same.
    fileprivate func isOnSite(of other: IPAddress) -> Bool {
        switch (self, other) {
        case (.v4(let left), .v4(let right)):
            let blocks: [(bits: UInt32, length: UInt32)] = [(10, 8), (0xAC1, 12), (0xC0A8, 16), (0x191, 10)]
            return blocks.contains { left >> (32 - $0.length) == $0.bits && right >> (32 - $0.length) == $0.bits }
        case (.v6(let left, _, _), .v6(let right, _, _)): return left >> 16 == right >> 16
        default: return false
        }
    }
}
