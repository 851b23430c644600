internal import Identity
internal import Kademlia
internal import Services

/// The services that this node offers, and the writes of their records to hash tables that are under way.
struct ServiceRecords: Sendable {
    /// A record that is being written or deleted.
    struct Write: Sendable {
        let network: NetworkId
        let service: String
    }

    /// The numbers of the node's own requests begin here; the driver gives none of them.
    private static let firstRequest: UInt64 = 1 << 63

    /// The offers in each network that this node is, or may become, a member of.
    private var offers: [NetworkId: [ServiceOffer]] = [:]
    private var writes: [Kademlia.RequestId: Write] = [:]
    /// The number of the last write.
    private var lastWrite: UInt64 = 0

    /// The offers in a network; nil if there are none.
    func offers(in network: NetworkId) -> [ServiceOffer]? { self.offers[network] }

    mutating func setOffers(_ offers: [ServiceOffer], in network: NetworkId) {
        self.offers[network] = offers.isEmpty ? nil : offers
    }

    /// Returns the request that writes the record of a service to a network's hash table, or deletes it.
    mutating func beginWrite(
        of service: String,
        isOffered: Bool,
        in network: NetworkId,
        lifetimeSeconds: UInt64
    ) -> (id: Kademlia.RequestId, request: Kademlia.Request) {
        self.lastWrite += 1
        let id = Kademlia.RequestId(Self.firstRequest + self.lastWrite)
        self.writes[id] = Write(network: network, service: service)
        let key = Services.recordKey(of: service)
        guard isOffered else { return (id, .delete(key: key)) }
        return (id, .put(key: key, value: Services.recordValue, lifetimeSeconds: lifetimeSeconds))
    }

    /// Takes out the write that a request was for; nil if it was for none.
    mutating func endWrite(_ id: Kademlia.RequestId) -> Write? { self.writes.removeValue(forKey: id) }

    /// Forgets the writes in a network that this node left.
    mutating func forgetWrites(in network: NetworkId) {
        self.writes = self.writes.filter { $0.value.network != network }
    }
}
