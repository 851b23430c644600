package import Identity
package import Kademlia
internal import OrderedCollections

// Each network's hash table, its messages on the control streams, and the dials that they need.
extension NodeCore {
    mutating func handle(_ input: TableInput, _ now: NodeTime, _ effects: inout [Effect]) {
        switch input {
        case .requested(let id, let network, let request, let policy):
            self.dhtRequested(id, network, request, policy, now, &effects)
        case .cancelled(let id): self.dhtCancelled(id, now, &effects)
        case .recordsLoaded(let network, let records):
            self.tell(.recordsLoaded(records), of: network, now, &effects)
        }
    }

    /// Feeds a network's table and carries out what it wants; inputs that come up meanwhile follow in order.
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
        case .offence(let peer, let what): self.punish(peer, what, now, &effects)
        case .host(let effect):
            if case .finished(let id, let outcome, _) = effect, self.recordFinished(id, outcome, now, &effects) {
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
        if self.send(to: peer, in: network, now, &effects, { .dht(index: $0, bytes) }) { return }
        let limits = self.configuration.limits
        guard peer != self.configuration.peerId, self.memberships[network]?.isExpired == false,
            self.memberships[network]?.revocations.contains(peer) == false, !self.isStopping,
            !self.hasJustFailed(contact, now),
            self.pendingMessages.hasRoom(for: bytes, to: peer, within: limits)
        else { return self.tell(.unreachable(peer), of: network, now, &effects) }
        self.peers.know(peer)
        self.peers[peer]?.note(network)
        self.peers.prefer(contact.addresses, of: peer)
        self.peers[peer]?.isAwaited = true
        self.pendingMessages.add(bytes, to: peer, in: network)
        if let known = self.peers[peer], let id = self.connections.inUse(among: known.connections) {
            self.offerFurther(on: id, now, &effects)
        } else {
            self.dial(peer, now, &effects)
            if self.peers[peer]?.dialling == .idle { self.returnPendingMessages(of: peer, now, &effects) }
        }
    }

    /// Whether a dial failed so lately that another one, to the same addresses, hardly does better.
    private func hasJustFailed(_ contact: Contact, _ now: NodeTime) -> Bool {
        guard let known = self.peers[contact.peerId], known.connections.isEmpty, let failure = known.lastFailure,
            contact.addresses.allSatisfy({ known.addresses.contains($0) || !$0.isDialable })
        else { return false }
        return now.monotonic - failure < self.configuration.limits.failurePause
    }

    /// Sends the messages that waited for the peer's admission.
    mutating func sendPendingMessages(to peer: PeerId, in network: NetworkId, _ effects: inout [Effect]) {
        guard let route = self.route(to: peer, in: network) else { return }
        for message in self.takePendingMessages(for: peer, in: network) {
            self.connections.send(.dht(index: route.index, message.bytes), on: route.connection, &effects)
        }
    }

    /// Tells the hash tables that the messages which wait for a peer's admission cannot be sent.
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
        self.peers[peer]?.isAwaited = self.pendingMessages.count(for: peer) > 0
        return messages
    }
}

// MARK: - Questions

extension NodeCore {
    /// The members nearest to this node that its table knows alive.
    package func neighbours(in network: NetworkId) -> [Contact] {
        self.protocols.tables[network]?.neighbours ?? []
    }

    /// Every member that the table of a network knows alive.
    package func contacts(in network: NetworkId) -> [Contact] {
        self.protocols.tables[network]?.contacts ?? []
    }

    /// The version under which this node holds a record of a network, for figures about replication.
    package func heldVersion(of id: RecordId, in network: NetworkId) -> UInt64? {
        self.protocols.tables[network]?.heldVersion(of: id)
    }

    /// The record that this node holds, or nil.
    package func heldRecord(_ id: RecordId, in network: NetworkId) -> Record? {
        self.protocols.tables[network]?.heldRecord(id)
    }

    /// The heads of all records that this node holds for a network.
    package func heldHeads(in network: NetworkId) -> [Record.Head] { self.protocols.tables[network]?.heldHeads ?? [] }

    /// The members in the table of a network, the nearest first.
    package func tableRows(of network: NetworkId) -> [Kademlia.Row] { self.protocols.tables[network]?.rows ?? [] }

    /// How well the table of a network stands; nil when this node is no member.
    package func tableHealth(of network: NetworkId) -> Kademlia.Health? {
        self.protocols.tables[network]?.health
    }
}
