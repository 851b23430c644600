package import Identity
internal import Kademlia
internal import OrderedCollections
internal import PubSub
package import Services

// The protocols with a value for each network: hash tables, events and services.

// MARK: - Running

extension NodeCore {
    /// Feeds an input to one of the node's protocols, and performs the effects of all inputs that this brings up.
    @inline(__always)
    mutating func run<Runner: ProtocolRunner>(
        _ input: Runner.Value.Input,
        of scope: Runner.Scope,
        in runner: WritableKeyPath<NodeCore, Runner>,
        _ now: NodeTime,
        _ effects: inout [Effect],
        performing perform: (inout NodeCore, Runner.Value.Effect, Runner.Scope, inout [Effect]) -> Void
    ) {
        guard var pending = self[keyPath: runner].begin(input, of: scope) else { return }
        while let scope = self[keyPath: runner].handleNext(now, into: &pending) {
            for effect in pending { perform(&self, effect, scope, &effects) }
        }
    }
}

// MARK: - Hash tables

// Each network's hash table, its messages on the control streams, and the dials that they need.
extension NodeCore {
    mutating func handle(_ input: TableInput, _ now: NodeTime, _ effects: inout [Effect]) {
        switch input {
        case .requested(let id, let network, let request, let policy):
            self.dhtRequested(id, network, request, policy, now, &effects)
        case .cancelled(let id): self.dhtCancelled(id, now, &effects)
        case .persisted(let network, let id, let version, let isStored):
            self.tell(.persisted(id, version: version, isStored), of: network, now, &effects)
        case .recordsLoaded(let network, let records):
            self.tell(.recordsLoaded(records), of: network, now, &effects)
        }
    }

    /// Feeds an input to a network's table and performs the effects; inputs raised meanwhile follow in order.
    mutating func tell(
        _ input: Kademlia.Input,
        of network: NetworkId,
        _ now: NodeTime,
        _ effects: inout [Effect]
    ) {
        guard self.configuration.hasTables else { return }
        self.run(input, of: network, in: \.protocols.tables, now, &effects) { core, effect, network, effects in
            core.carryOut(effect, of: network, now, &effects)
        }
    }

    private mutating func carryOut(
        _ effect: Kademlia.Effect,
        of network: NetworkId,
        _ now: NodeTime,
        _ effects: inout [Effect]
    ) {
        switch effect {
        case .send(let peer, let addresses, let bytes):
            self.post(bytes, to: Contact(peerId: peer, addresses: addresses), in: network, now, &effects)
        case .wake(let time):
            self.protocols.tables.wake(network, at: time)
            self.timers.arm(time, &effects)
        case .violation(let peer, let what): self.disconnectViolator(peer, what, now, &effects)
        case .host(let effect):
            if case .finished(let id, let outcome, _) = effect, self.requestFinished(id, outcome, now, &effects) {
                return
            }
            effects.append(.table(network, effect))
        }
    }

    // MARK: The application

    private mutating func dhtRequested(
        _ id: Kademlia.RequestId,
        _ network: NetworkId,
        _ request: Kademlia.Request,
        _ policy: Kademlia.RequestPolicy,
        _ now: NodeTime,
        _ effects: inout [Effect]
    ) {
        guard self.configuration.hasTables, self.memberships[network] != nil else {
            let error: KademliaError = self.configuration.hasTables ? .notAMember : .switchedOff
            return effects.append(.table(network, .finished(id, .failed(error), Kademlia.Effort())))
        }
        self.tell(.requested(id, request, policy), of: network, now, &effects)
    }

    private mutating func dhtCancelled(_ id: Kademlia.RequestId, _ now: NodeTime, _ effects: inout [Effect]) {
        for network in self.memberships.networks { self.tell(.cancelled(id), of: network, now, &effects) }
    }

    // MARK: Messages

    mutating func dhtReceived(
        _ index: UInt8,
        _ bytes: [UInt8],
        on id: ConnectionId,
        _ now: NodeTime,
        _ effects: inout [Effect]
    ) {
        guard let (peer, network) = self.sender(of: index, on: id, now) else { return }
        self.tell(.messageReceived(from: peer, bytes), of: network, now, &effects)
    }

    /// Sends a message to a member that is admitted, or keeps it until a dial has brought an admission.
    private mutating func post(
        _ bytes: [UInt8],
        to contact: Contact,
        in network: NetworkId,
        _ now: NodeTime,
        _ effects: inout [Effect]
    ) {
        let peer = contact.peerId
        if let route = self.route(to: peer, in: network), self.connections[route.connection]?.hasTable != true {
            return self.tell(.unreachable(peer), of: network, now, &effects)
        }
        if self.send(to: peer, in: network, now, &effects, { .dht(index: $0, bytes) }) { return }
        let limits = self.configuration.limits
        guard peer != self.configuration.peerId, self.memberships[network]?.own.isExpired == false,
            self.memberships[network]?.revocations.set.contains(peer) == false, !self.isStopping,
            self.peers[peer]?.hasJustFailed(contact.addresses, now, within: limits.failurePause) != true,
            self.pendingMessages.hasRoom(for: bytes, to: peer, within: limits)
        else { return self.tell(.unreachable(peer), of: network, now, &effects) }
        self.peers.know(peer)
        self.peers[peer]?.note(network)
        self.peers.prefer(contact.addresses, of: peer)
        self.peers[peer]?.reasons.isAwaited = true
        self.pendingMessages.add(bytes, to: peer, in: network)
        if let known = self.peers[peer], let id = self.connections.inUse(among: known.connections) {
            self.offerFurther(on: id, now, &effects)
        } else {
            self.dial(peer, now, &effects)
            if self.peers[peer]?.dial.state == .idle { self.returnPendingMessages(of: peer, now, &effects) }
        }
    }

    /// Sends the messages that waited for the peer's admission.
    mutating func sendPendingMessages(
        to peer: PeerId,
        in network: NetworkId,
        _ now: NodeTime,
        _ effects: inout [Effect]
    ) {
        guard let route = self.route(to: peer, in: network) else { return }
        guard self.connections[route.connection]?.hasTable == true else {
            return self.returnPendingMessages(of: peer, in: network, now, &effects)
        }
        for message in self.takePendingMessages(for: peer, in: network) {
            self.connections.send(.dht(index: route.index, message.bytes), on: route.connection, &effects)
        }
    }

    /// Notifies the hash tables that the messages pending a peer's admission cannot be sent.
    mutating func returnPendingMessages(
        of peer: PeerId,
        in network: NetworkId? = nil,
        _ now: NodeTime,
        _ effects: inout [Effect]
    ) {
        let networks = OrderedSet(self.takePendingMessages(for: peer, in: network).map(\.network))
        for network in networks { self.tell(.unreachable(peer), of: network, now, &effects) }
    }

    private mutating func takePendingMessages(for peer: PeerId, in network: NetworkId?) -> [PendingMessages.Message] {
        guard self.pendingMessages.count(for: peer) > 0 else { return [] }
        let messages = self.pendingMessages.take(for: peer, in: network)
        self.peers[peer]?.reasons.isAwaited = self.pendingMessages.count(for: peer) > 0
        return messages
    }
}

// MARK: - Events

// Each network's events, and their messages on the control streams.
extension NodeCore {
    mutating func handle(_ input: EventInput, _ now: NodeTime, _ effects: inout [Effect]) {
        switch input {
        case .published(let network, let topic, let content, let count):
            self.tellEvents(.published(topic: topic, content: content, count: count), of: network, now, &effects)
        }
    }

    /// Feeds an input to a network's events and performs the effects; inputs raised meanwhile follow in order.
    mutating func tellEvents(
        _ input: PubSub.Input,
        of network: NetworkId,
        _ now: NodeTime,
        _ effects: inout [Effect]
    ) {
        self.run(input, of: network, in: \.protocols.events, now, &effects) { core, effect, network, effects in
            core.carryOut(effect, of: network, now, &effects)
        }
    }

    private mutating func carryOut(
        _ effect: PubSub.Effect,
        of network: NetworkId,
        _ now: NodeTime,
        _ effects: inout [Effect]
    ) {
        switch effect {
        case .send(let peer, let bytes):
            // A peer that has disconnected receives the message when it reconnects.
            _ = self.send(to: peer, in: network, now, &effects) { .events(index: $0, bytes[...]) }
        case .wake(let time):
            self.protocols.events.wake(network, at: time)
            self.timers.arm(time, &effects)
        case .violation(let peer, let what): self.disconnectViolator(peer, what, now, &effects)
        case .host(let effect): effects.append(.events(network, effect))
        }
    }

    mutating func eventsReceived(
        _ index: UInt8,
        _ bytes: ArraySlice<UInt8>,
        on id: ConnectionId,
        _ now: NodeTime,
        _ effects: inout [Effect]
    ) {
        guard let (peer, network) = self.sender(of: index, on: id, now) else { return }
        self.tellEvents(.messageReceived(from: peer, bytes), of: network, now, &effects)
    }
}

// MARK: - Services

// Each network's services, and their announcements on the control streams.
extension NodeCore {
    mutating func handle(_ input: ServiceInput, _ now: NodeTime, _ effects: inout [Effect]) {
        switch input {
        case .offered(let network, let offers): self.offer(offers, in: network, now, &effects)
        }
    }

    /// Feeds an input to a network's services and performs the effects; inputs raised meanwhile follow in order.
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
            // A peer that has disconnected receives the message when it reconnects.
            _ = self.send(to: peer, in: network, now, &effects) { .services(index: $0, bytes[...]) }
        case .wake(let time):
            self.protocols.services.wake(network, at: time)
            self.timers.arm(time, &effects)
        case .record(let service, let isOffered): self.record(service, isOffered, in: network, now, &effects)
        case .violation(let peer, let what): self.disconnectViolator(peer, what, now, &effects)
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
        let key = Services.recordKey(of: service)
        let seconds = self.configuration.serviceLimits.recordSeconds
        self.request(
            isOffered
                ? .put(key: key, value: Services.recordValue, lifetimeSeconds: seconds) : .delete(key: key),
            for: .service(service),
            in: network,
            now,
            &effects
        )
    }

    /// Stores the offers of this node, also for a network of which it is not a member yet.
    private mutating func offer(
        _ offers: [ServiceOffer],
        in network: NetworkId,
        _ now: NodeTime,
        _ effects: inout [Effect]
    ) {
        self.serviceOffers[network] = offers
        self.tellServices(.offered(offers), of: network, now, &effects)
    }

    /// The connected provider that gets the next request for a path, selected round-robin.
    package mutating func provider(
        of path: RequestPath,
        in network: NetworkId,
        excluding: [PeerId] = []
    ) -> Result<Services.Provider, ServiceFailure> {
        self.protocols.services.update(network) { $0.route(path, excluding: excluding) }
            ?? .failure(ServiceFailure(kind: .noService))
    }

    /// Whether a connected member can be queried for a path that is not suspected to be gone.
    package func hasProvider(of path: RequestPath, in network: NetworkId, excluding: [PeerId]) -> Bool {
        self.protocols.services[network]?.canRoute(path, excluding: excluding) ?? false
    }
}
