internal import Identity

/// Open connections by their remote address: a stateless reset (RFC 9000, section 10.3) names no connection, and can only be
/// for one whose peer is at its source.
struct PlaceIndex {
    /// The most connections to one address that a reset is compared with: a peer has one or two.
    static let comparisonLimit = 8

    private var cores: [SocketAddress: [ConnectionCore]] = [:]
    private var places: [ObjectIdentifier: SocketAddress] = [:]

    /// The connections to compare with a reset from `address`, the newest first.
    func candidates(at address: SocketAddress) -> [ConnectionCore] {
        Array((cores[address] ?? []).suffix(Self.comparisonLimit).reversed())
    }

    /// Puts a connection where its packets go now.
    mutating func set(_ core: ConnectionCore, at address: SocketAddress) {
        guard places[ObjectIdentifier(core)] != address else { return }
        remove(core)
        places[ObjectIdentifier(core)] = address
        cores[address, default: []].append(core)
    }

    /// Takes a connection out.
    mutating func remove(_ core: ConnectionCore) {
        guard let address = places.removeValue(forKey: ObjectIdentifier(core)) else { return }
        cores[address]?.removeAll { $0 === core }
        if cores[address]?.isEmpty == true { cores[address] = nil }
    }
}
