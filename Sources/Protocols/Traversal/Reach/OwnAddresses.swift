internal import Identity
internal import OrderedCollections

/// The addresses of this node, from its interfaces and from observers, and the checks of peers' addresses.
struct OwnAddresses: Sendable {
    /// An address of this node as an observer reports it.
    struct Observation: Sendable {
        let observer: IPAddress
        let address: SocketAddress
    }

    /// STUN servers that are remembered.
    private static let serverLimit = 8
    /// The most observed addresses in one offer: a longer list only means that the NAT maps every destination to a new port.
    private static let observedLimit = 4

    /// The addresses of this device's interfaces that others could use; nil before the driver names any.
    private var interfaces: [SocketAddress]?
    /// Whether this device can be reached over its loopback interface alone.
    private var isOnLoopback = false
    /// The NAT's choice of ports, if two observers proved it since the network changed.
    private var provenMapping = MappingBehaviour.unknown
    /// The addresses that STUN servers see.
    private var serverObservations: OrderedDictionary<SocketAddress, SocketAddress> = [:]

    private var own: [SocketAddress] { interfaces ?? [] }

    /// Replaces the addresses of this device's interfaces; returns whether the set changed.
    mutating func replace(with addresses: [SocketAddress]) -> Bool {
        isOnLoopback = !addresses.isEmpty && addresses.allSatisfy(\.isLoopback)
        let usable = Array(OrderedSet(addresses.map { SocketAddress($0.ip.unmapped.withoutScope, port: $0.port) }))
            .filter { isUsable($0) }.sorted()
        guard usable != interfaces else { return false }
        let isChange = interfaces != nil
        interfaces = usable
        if isChange { provenMapping = .unknown }
        return isChange
    }

    /// Notes the address of this node that a STUN server reported.
    mutating func note(_ address: SocketAddress, observedBy server: SocketAddress) {
        serverObservations[server] = address.unmapped
        if serverObservations.count > Self.serverLimit { serverObservations.removeFirst() }
    }

    /// The usable observations of servers, then those of `peers`.
    private func observations(_ peers: [Observation]) -> [Observation] {
        var found = serverObservations.map { Observation(observer: $0.key.ip, address: $0.value) }
        found.append(contentsOf: peers)
        return found.filter { isUsable($0.address) }
    }

    /// Returns the mapping behaviour of this node's NAT.
    ///
    /// Two observers at different addresses that report equal outer addresses prove it until the network changes. With a
    /// single observer it is a guess: a NAT that preserved this node's port most likely does so for every destination, and
    /// one that did not most likely maps each destination to another port.
    func mapping(seenBy peers: [Observation]) -> MappingBehaviour {
        guard provenMapping == .unknown else { return provenMapping }
        let seen = observations(peers).filter { !$0.address.isIPv6 }
        let translated = seen.filter { !own.contains($0.address) }
        // Observers on this side of the NAT see none.
        guard !translated.isEmpty else { return seen.isEmpty ? .unknown : .endpointIndependent }
        guard !own.isEmpty else { return .unknown }
        let isKept = translated.contains { seen in own.contains { $0.port == seen.address.port } }
        return isKept ? .endpointIndependent : .endpointDependent
    }

    /// Whether observers at different addresses agree on that.
    var isMappingProven: Bool { provenMapping != .unknown }

    /// Compares the reports of observers at different addresses.
    mutating func proveMapping(seenBy peers: [Observation]) {
        let translated = observations(peers).filter { !$0.address.isIPv6 && !own.contains($0.address) }
        for (index, first) in translated.enumerated() {
            for second in translated[..<index]
            where second.observer != first.observer && second.address.ip == first.address.ip {
                guard second.address.port == first.address.port else {
                    provenMapping = .endpointDependent
                    return
                }
                provenMapping = .endpointIndependent
            }
        }
    }

    /// The reported addresses, the most frequent first.
    func observed(by peers: [Observation]) -> [SocketAddress] {
        var counts: OrderedDictionary<SocketAddress, Int> = [:]
        for observation in observations(peers) { counts[observation.address, default: 0] += 1 }
        let ranked = counts.enumerated().sorted { left, right in
            left.element.value == right.element.value
                ? left.offset < right.offset : left.element.value > right.element.value
        }
        return ranked.map(\.element.key)
    }

    /// The addresses where this node might be found, at most `limit`.
    func offer(seenBy peers: [Observation], limit: Int) -> Reach.Offer {
        var addresses = OrderedSet(own.filter { $0.isIPv6 && !$0.isPrivate })
        addresses.append(contentsOf: observed(by: peers).prefix(Self.observedLimit))
        addresses.append(contentsOf: own)
        return Reach.Offer(
            mapping: mapping(seenBy: peers),
            addresses: Array(addresses.prefix(min(Reach.Offer.limit, limit)))
        )
    }

    /// Whether an address could be one at which another node is found.
    ///
    /// Loopback addresses are, where this node itself is on the loopback interface alone.
    func isUsable(_ address: SocketAddress) -> Bool {
        guard address.isDialable, !address.isLoopback || isOnLoopback, !address.isLinkLocal else { return false }
        if case .v6(0x0100_0000_0000_0000, _, _) = address.ip { return false }
        return true
    }

    /// The reason to send no datagram to an address of a peer, or nil; observed addresses are exempt from some checks.
    func implausibility(
        of address: SocketAddress,
        isObserved: Bool,
        seenBy peers: [Observation]
    ) -> Reach.Implausibility? {
        guard isUsable(address) else { return .junk }
        guard !own.contains(address), !observations(peers).contains(where: { $0.address == address }) else {
            return .own
        }
        guard own.isEmpty || own.contains(where: { $0.isIPv6 == address.isIPv6 }) else {
            return .otherFamily
        }
        guard !isObserved else { return nil }
        guard !address.isPrivate || own.contains(where: { $0.ip.isOnSite(of: address.ip) }) else {
            return .elsewhere
        }
        return address.port < 1024 ? .reservedPort : nil
    }
}

extension IPAddress {
    /// Whether both are private addresses that may belong to one site.
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
