package import Identity
internal import Kademlia
internal import OrderedCollections
package import Services

// Each network's services, and their announcements on the control streams.
extension NodeCore {
    mutating func handle(_ input: ServiceInput, _ now: NodeTime, _ effects: inout [Effect]) {
        switch input {
        case .offered(let network, let offers): self.offer(offers, in: network, now, &effects)
        }
    }

    /// Feeds a network's services and carries out what they want; inputs that come up meanwhile follow in order.
    mutating func tellServices(
        _ input: Services.Input,
        of network: NetworkId,
        _ now: NodeTime,
        _ effects: inout [Effect]
    ) {
        self.run(input, of: network, in: \.protocols.services, now, &effects) { core, effect, network, effects in
            core.carryOut(effect, of: network, now, &effects)
        }
    }

    private mutating func carryOut(
        _ effect: Services.Effect,
        of network: NetworkId,
        _ now: NodeTime,
        _ effects: inout [Effect]
    ) {
        switch effect {
        case .send(let peer, let bytes):
            // Whoever is gone by now is told when it comes back.
            _ = self.send(to: peer, in: network, now, &effects) { .services(index: $0, bytes[...]) }
        case .wake(let time):
            self.protocols.services.wake(network, at: time)
            self.timers.arm(time, &effects)
        case .record(let service, let isOffered): self.record(service, isOffered, in: network, now, &effects)
        case .offence(let peer, let what): self.punish(peer, what, now, &effects)
        case .host(let effect): effects.append(.services(network, effect))
        }
    }

    mutating func servicesReceived(
        _ index: UInt8,
        _ bytes: ArraySlice<UInt8>,
        on id: ConnectionId,
        _ now: NodeTime,
        _ effects: inout [Effect]
    ) {
        guard let (peer, network) = self.sender(of: index, on: id, now) else { return }
        self.tellServices(.messageReceived(from: peer, bytes), of: network, now, &effects)
    }

    // MARK: Records

    /// Writes or deletes the record of a service in a network's hash table.
    private mutating func record(
        _ service: String,
        _ isOffered: Bool,
        in network: NetworkId,
        _ now: NodeTime,
        _ effects: inout [Effect]
    ) {
        let seconds = self.configuration.serviceLimits.recordSeconds
        let (id, request) = self.serviceRecords.beginWrite(
            of: service,
            isOffered: isOffered,
            in: network,
            lifetimeSeconds: seconds
        )
        self.tell(.requested(id, request, Kademlia.RequestPolicy()), of: network, now, &effects)
    }

    /// Whether a request to a hash table was about the record of a service.
    mutating func recordFinished(
        _ id: Kademlia.RequestId,
        _ outcome: Kademlia.Outcome,
        _ now: NodeTime,
        _ effects: inout [Effect]
    ) -> Bool {
        guard let write = self.serviceRecords.endWrite(id) else { return false }
        var isWritten = true
        if case .failed = outcome { isWritten = false }
        self.tellServices(.recordWritten(write.service, isWritten), of: write.network, now, &effects)
        return true
    }

    /// Keeps the offers of this node also for a network that it is no member of yet.
    private mutating func offer(
        _ offers: [ServiceOffer],
        in network: NetworkId,
        _ now: NodeTime,
        _ effects: inout [Effect]
    ) {
        self.serviceRecords.setOffers(offers, in: network)
        self.tellServices(.offered(offers), of: network, now, &effects)
    }

    /// The member to ask next for a path, of those that are connected; they take turns.
    package mutating func provider(
        of path: String,
        in network: NetworkId,
        excluding: [PeerId] = []
    ) -> Result<Services.Provider, ServiceFailure> {
        self.protocols.services.update(network) { $0.route(path, excluding: excluding) }
            ?? .failure(ServiceFailure(kind: .noService))
    }

    /// Whether a connected member can be asked for a path that is not suspected to be gone.
    package func hasProvider(of path: String, in network: NetworkId, excluding: [PeerId]) -> Bool {
        self.protocols.services[network]?.canRoute(path, excluding: excluding) ?? false
    }
}

// MARK: - Questions

extension NodeCore {
    /// The connected members that offer a service, whether it runs or not.
    package func providers(of servicePath: String, in network: NetworkId) -> [PeerId] {
        self.protocols.services[network]?.providers(of: servicePath) ?? []
    }

    /// What a connected member offers.
    package func offers(of peer: PeerId, in network: NetworkId) -> [ServiceOffer] {
        self.protocols.services[network]?.offers(of: peer) ?? []
    }

    /// What every connected member offers that offers something.
    package func offers(in network: NetworkId) -> [(peer: PeerId, offers: [ServiceOffer])] {
        self.protocols.services[network]?.offersByPeer ?? []
    }
}
