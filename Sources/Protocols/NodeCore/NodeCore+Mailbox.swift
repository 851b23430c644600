internal import Identity
internal import Kademlia
internal import Mailbox
internal import Services

// Each network's mailboxes, their messages on the control streams, and their searches in the hash table.
extension NodeCore {
    /// Feeds an input to a network's mailboxes and performs the effects; inputs raised meanwhile follow in order.
    mutating func tellMailbox(
        _ input: Mailbox.Input,
        of network: NetworkId,
        _ now: NodeTime,
        _ effects: inout [Effect]
    ) {
        run(input, of: network, in: \.protocols.mailboxes, now, &effects) { core, effect, network, effects in
            core.perform(effect, of: network, now, &effects)
        }
    }

    private mutating func perform(
        _ effect: Mailbox.Effect,
        of network: NetworkId,
        _ now: NodeTime,
        _ effects: inout [Effect]
    ) {
        switch effect {
        case .send(let peer, let bytes):
            // If the peer has disconnected, its `memberDown` follows, which ends the purpose of the message.
            _ = send(to: peer, in: network, now, &effects) { .mailbox(index: $0, bytes[...]) }
        case .connect(let peer): connect(to: peer, in: network, now, &effects)
        case .wake(let time):
            protocols.mailboxes.wake(network, at: time)
            timers.arm(time, &effects)
        case .search(let place): request(.nearest(to: place), for: .mailHolders, in: network, now, &effects)
        case .violation(let peer, let what): disconnectViolator(peer, what, now, &effects)
        case .host(let effect): effects.append(.mailbox(network, effect))
        }
    }

    /// Connects to a member that may hold mail, at its addresses in the hash table or through members that know it.
    private mutating func connect(
        to peer: PeerId,
        in network: NetworkId,
        _ now: NodeTime,
        _ effects: inout [Effect]
    ) {
        guard memberships.mayShare(network, with: peer) else { return }
        let contact = contacts(in: network).first { $0.peerId == peer }
        peers.know(peer)
        peers[peer]?.note(network)
        peers.prefer(contact?.addresses ?? [], of: peer)
        if peers[peer]?.addresses.isEmpty == false {
            seek(peer, now, &effects)
        } else {
            traverseUnknown(peer, in: network, overRelay: false, now, &effects)
        }
    }

    /// Notifies the mailboxes of every network whether the application accepts mail.
    mutating func setReceivesMail(_ isReceiving: Bool, _ now: NodeTime, _ effects: inout [Effect]) {
        receivesMail = isReceiving
        for network in memberships.networks {
            tellMailbox(.host(.receiving(isReceiving)), of: network, now, &effects)
        }
    }

    // MARK: Messages

    mutating func mailboxReceived(
        _ index: UInt8,
        _ bytes: ArraySlice<UInt8>,
        on id: ConnectionId,
        _ now: NodeTime,
        _ effects: inout [Effect]
    ) {
        guard let (peer, network) = sender(of: index, on: id, now) else { return }
        tellMailbox(.messageReceived(from: peer, bytes), of: network, now, &effects)
    }

    // MARK: The hash table

    /// Makes a request of the node's own to a network's hash table.
    mutating func request(
        _ request: Kademlia.Request,
        for purpose: OwnTableRequests.Purpose,
        in network: NetworkId,
        _ now: NodeTime,
        _ effects: inout [Effect]
    ) {
        let id = tableRequests.begin(purpose, in: network)
        guard configuration.hasTables else {
            requestFinished(id, .failed(.switchedOff), now, &effects)
            return
        }
        tell(.requested(id, request, Kademlia.RequestPolicy()), of: network, now, &effects)
    }

    /// Reports the outcome of a request to the protocol that it was for; returns false if it is not the node's own.
    @discardableResult
    mutating func requestFinished(
        _ id: Kademlia.RequestId,
        _ outcome: Kademlia.Outcome,
        _ now: NodeTime,
        _ effects: inout [Effect]
    ) -> Bool {
        guard let (network, purpose) = tableRequests.end(id) else { return false }
        var isWritten = true
        if case .failed = outcome { isWritten = false }
        switch purpose {
        case .service(let service):
            tellServices(.recordWritten(service, isWritten), of: network, now, &effects)
        case .mailHolders:
            var members: [PeerId]?
            if case .peers(let contacts) = outcome { members = contacts.map(\.peerId) }
            tellMailbox(.membersFound(members), of: network, now, &effects)
        }
        return true
    }
}
