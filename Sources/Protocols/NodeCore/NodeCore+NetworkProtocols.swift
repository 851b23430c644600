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
        _ turn: inout Turn,
        performing perform: (inout NodeCore, Runner.Value.Effect, Runner.Scope, inout Turn) -> Void
    ) {
        guard var pending = self[keyPath: runner].begin(input, of: scope) else { return }
        while let scope = self[keyPath: runner].handleNext(turn.now, into: &pending) {
            for effect in pending { perform(&self, effect, scope, &turn) }
        }
    }
}

// MARK: - Hash tables

// Each network's hash table, its messages on the control streams, and the dials that they need.
extension NodeCore {
    mutating func handle(_ input: TableInput, _ turn: inout Turn) {
        switch input {
        case .requested(let id, let network, let request, let policy):
            dhtRequested(id, network, request, policy, &turn)
        case .cancelled(let id): dhtCancelled(id, &turn)
        case .persisted(let network, let id, let version, let isStored):
            tell(.persisted(id, version: version, isStored), of: network, &turn)
        case .recordsLoaded(let network, let records):
            tell(.recordsLoaded(records), of: network, &turn)
        }
    }

    /// Feeds an input to a network's table and performs the effects; inputs raised meanwhile follow in order.
    mutating func tell(_ input: Kademlia.Input, of network: NetworkId, _ turn: inout Turn) {
        guard configuration.hasTables else { return }
        run(input, of: network, in: \.protocols.tables, &turn) { core, effect, network, turn in
            core.perform(effect, of: network, &turn)
        }
    }

    private mutating func perform(_ effect: Kademlia.Effect, of network: NetworkId, _ turn: inout Turn) {
        switch effect {
        case .send(let peer, let addresses, let bytes):
            post(bytes, to: Contact(peerId: peer, addresses: addresses), in: network, &turn)
        case .wake(let time):
            protocols.tables.wake(network, at: time)
            timers.arm(time, &turn)
        case .violation(let peer, let what): disconnectViolator(peer, what, &turn)
        case .host(let effect):
            if case .finished(let id, let outcome, _) = effect, requestFinished(id, outcome, &turn) { return }
            turn.emit(.table(network, effect))
        }
    }

    // MARK: The application

    private mutating func dhtRequested(
        _ id: Kademlia.RequestId,
        _ network: NetworkId,
        _ request: Kademlia.Request,
        _ policy: Kademlia.RequestPolicy,
        _ turn: inout Turn
    ) {
        guard configuration.hasTables, memberships[network] != nil else {
            let error: KademliaError = configuration.hasTables ? .notAMember : .switchedOff
            return turn.emit(.table(network, .finished(id, .failed(error), Kademlia.Effort())))
        }
        tell(.requested(id, request, policy), of: network, &turn)
    }

    private mutating func dhtCancelled(_ id: Kademlia.RequestId, _ turn: inout Turn) {
        for network in memberships.networks { tell(.cancelled(id), of: network, &turn) }
    }

    // MARK: Messages

    mutating func dhtReceived(_ index: UInt8, _ bytes: [UInt8], on id: ConnectionId, _ turn: inout Turn) {
        guard let (peer, network) = sender(of: index, on: id, turn.now) else { return }
        tell(.messageReceived(from: peer, bytes), of: network, &turn)
    }

    /// Sends a message to a member that is admitted, or keeps it until a dial has brought an admission.
    private mutating func post(_ bytes: [UInt8], to contact: Contact, in network: NetworkId, _ turn: inout Turn) {
        let peer = contact.peerId
        if let route = self.route(to: peer, in: network), connections[route.connection]?.hasTable != true {
            return tell(.unreachable(peer), of: network, &turn)
        }
        if send(to: peer, in: network, &turn, { .dht(index: $0, bytes) }) { return }
        let limits = configuration.limits
        guard peer != configuration.peerId, memberships[network]?.own.isExpired == false,
            memberships[network]?.revocations.set.contains(peer) == false, !isStopping,
            peers[peer]?.hasJustFailed(contact.addresses, turn.now, within: limits.failurePause) != true,
            pendingMessages.hasRoom(for: bytes, to: peer, within: limits)
        else { return tell(.unreachable(peer), of: network, &turn) }
        peers.know(peer)
        peers[peer]?.note(network)
        peers.prefer(contact.addresses, of: peer)
        peers[peer]?.reasons.isAwaited = true
        pendingMessages.add(bytes, to: peer, in: network)
        if let known = peers[peer], let id = connections.inUse(among: known.connections) {
            offerFurther(on: id, &turn)
        } else {
            dial(peer, &turn)
            if peers[peer]?.dial.state == .idle { returnPendingMessages(of: peer, &turn) }
        }
    }

    /// Sends the messages that waited for the peer's admission.
    mutating func sendPendingMessages(to peer: PeerId, in network: NetworkId, _ turn: inout Turn) {
        guard let route = self.route(to: peer, in: network) else { return }
        guard connections[route.connection]?.hasTable == true else {
            return returnPendingMessages(of: peer, in: network, &turn)
        }
        for message in takePendingMessages(for: peer, in: network) {
            connections.send(.dht(index: route.index, message.bytes), on: route.connection, &turn)
        }
    }

    /// Notifies the hash tables that the messages pending a peer's admission cannot be sent.
    mutating func returnPendingMessages(of peer: PeerId, in network: NetworkId? = nil, _ turn: inout Turn) {
        let networks = OrderedSet(takePendingMessages(for: peer, in: network).map(\.network))
        for network in networks { tell(.unreachable(peer), of: network, &turn) }
    }

    private mutating func takePendingMessages(for peer: PeerId, in network: NetworkId?) -> [PendingMessages.Message] {
        guard pendingMessages.count(for: peer) > 0 else { return [] }
        let messages = pendingMessages.take(for: peer, in: network)
        peers[peer]?.reasons.isAwaited = pendingMessages.count(for: peer) > 0
        return messages
    }
}

// MARK: - Events

// Each network's events, and their messages on the control streams.
extension NodeCore {
    mutating func handle(_ input: EventInput, _ turn: inout Turn) {
        switch input {
        case .published(let network, let topic, let content, let count):
            tellEvents(.published(topic: topic, content: content, count: count), of: network, &turn)
        }
    }

    /// Feeds an input to a network's events and performs the effects; inputs raised meanwhile follow in order.
    mutating func tellEvents(_ input: PubSub.Input, of network: NetworkId, _ turn: inout Turn) {
        run(input, of: network, in: \.protocols.events, &turn) { core, effect, network, turn in
            core.perform(effect, of: network, &turn)
        }
    }

    private mutating func perform(_ effect: PubSub.Effect, of network: NetworkId, _ turn: inout Turn) {
        switch effect {
        case .send(let peer, let bytes):
            // A peer that has disconnected receives the message when it reconnects.
            _ = send(to: peer, in: network, &turn) { .events(index: $0, bytes[...]) }
        case .wake(let time):
            protocols.events.wake(network, at: time)
            timers.arm(time, &turn)
        case .violation(let peer, let what): disconnectViolator(peer, what, &turn)
        case .host(let effect): turn.emit(.events(network, effect))
        }
    }

    mutating func eventsReceived(_ index: UInt8, _ bytes: ArraySlice<UInt8>, on id: ConnectionId, _ turn: inout Turn) {
        guard let (peer, network) = sender(of: index, on: id, turn.now) else { return }
        tellEvents(.messageReceived(from: peer, bytes), of: network, &turn)
    }
}

// MARK: - Services

// Each network's services, and their announcements on the control streams.
extension NodeCore {
    mutating func handle(_ input: ServiceInput, _ turn: inout Turn) {
        switch input {
        case .offered(let network, let offers): offer(offers, in: network, &turn)
        }
    }

    /// Feeds an input to a network's services and performs the effects; inputs raised meanwhile follow in order.
    mutating func tellServices(_ input: Services.Input, of network: NetworkId, _ turn: inout Turn) {
        run(input, of: network, in: \.protocols.services, &turn) { core, effect, network, turn in
            core.perform(effect, of: network, &turn)
        }
    }

    private mutating func perform(_ effect: Services.Effect, of network: NetworkId, _ turn: inout Turn) {
        switch effect {
        case .send(let peer, let bytes):
            // A peer that has disconnected receives the message when it reconnects.
            _ = send(to: peer, in: network, &turn) { .services(index: $0, bytes[...]) }
        case .wake(let time):
            protocols.services.wake(network, at: time)
            timers.arm(time, &turn)
        case .record(let service, let isOffered): record(service, isOffered, in: network, &turn)
        case .violation(let peer, let what): disconnectViolator(peer, what, &turn)
        case .host(let effect): turn.emit(.services(network, effect))
        }
    }

    mutating func servicesReceived(
        _ index: UInt8,
        _ bytes: ArraySlice<UInt8>,
        on id: ConnectionId,
        _ turn: inout Turn
    ) {
        guard let (peer, network) = sender(of: index, on: id, turn.now) else { return }
        tellServices(.messageReceived(from: peer, bytes), of: network, &turn)
    }

    // MARK: Records

    /// Writes or deletes the record of a service in a network's hash table.
    private mutating func record(_ service: String, _ isOffered: Bool, in network: NetworkId, _ turn: inout Turn) {
        let key = Services.recordKey(of: service)
        let seconds = configuration.serviceLimits.recordSeconds
        request(
            isOffered
                ? .put(key: key, value: Services.recordValue, lifetimeSeconds: seconds) : .delete(key: key),
            for: .service(service),
            in: network,
            &turn
        )
    }

    /// Stores the offers of this node, also for a network of which it is not a member yet.
    private mutating func offer(_ offers: [ServiceOffer], in network: NetworkId, _ turn: inout Turn) {
        serviceOffers[network] = offers
        tellServices(.offered(offers), of: network, &turn)
    }

    /// The connected provider that gets the next request for a path, selected round-robin.
    package mutating func provider(
        of path: RequestPath,
        in network: NetworkId,
        excluding: [PeerId] = []
    ) -> Result<Services.Provider, ServiceFailure> {
        protocols.services.update(network) { $0.route(path, excluding: excluding) }
            ?? .failure(ServiceFailure(kind: .noService))
    }

    /// Whether a connected member can be queried for a path that is not suspected to be gone.
    package func hasProvider(of path: RequestPath, in network: NetworkId, excluding: [PeerId]) -> Bool {
        protocols.services[network]?.canRoute(path, excluding: excluding) ?? false
    }
}
