internal import Identity
internal import Kademlia
internal import Mailbox
internal import Services

// Each network's mailboxes, their messages on the control streams, and their searches in the hash table.
extension NodeCore {
    /// Feeds an input to a network's mailboxes and performs the effects; inputs raised meanwhile follow in order.
    mutating func tellMailbox(_ input: Mailbox.Input, of network: NetworkId, _ turn: inout Turn) {
        run(input, of: network, in: \.protocols.mailboxes, &turn) { core, effect, network, turn in
            core.perform(effect, of: network, &turn)
        }
    }

    private mutating func perform(_ effect: Mailbox.Effect, of network: NetworkId, _ turn: inout Turn) {
        switch effect {
        case .send(let peer, let bytes):
            // If the peer has disconnected, its `memberDown` follows, which ends the purpose of the message.
            _ = send(to: peer, in: network, &turn) { .mailbox(index: $0, bytes[...]) }
        case .connect(let peer): connect(to: peer, in: network, &turn)
        case .wake(let time):
            protocols.mailboxes.wake(network, at: time)
            timers.arm(time, &turn)
        case .search(let place): request(.nearest(to: place), for: .mailHolders, in: network, &turn)
        case .violation(let peer, let what): disconnectViolator(peer, what, &turn)
        case .host(let effect): turn.emit(.mailbox(network, effect))
        }
    }

    /// Connects to a member that may hold mail, at its addresses in the hash table or through members that know it.
    private mutating func connect(to peer: PeerId, in network: NetworkId, _ turn: inout Turn) {
        guard memberships.mayShare(network, with: peer) else { return }
        let contact = contacts(in: network).first { $0.peerId == peer }
        peers.know(peer)
        peers[peer]?.note(network)
        peers.prefer(contact?.addresses ?? [], of: peer)
        if peers[peer]?.addresses.isEmpty == false {
            seek(peer, &turn)
        } else {
            traverseUnknown(peer, in: network, overRelay: false, &turn)
        }
    }

    /// Notifies the mailboxes of every network whether the application accepts mail.
    mutating func setReceivesMail(_ isReceiving: Bool, _ turn: inout Turn) {
        receivesMail = isReceiving
        for network in memberships.networks {
            tellMailbox(.host(.receiving(isReceiving)), of: network, &turn)
        }
    }

    // MARK: Messages

    mutating func mailboxReceived(_ index: UInt8, _ bytes: ArraySlice<UInt8>, on id: ConnectionId, _ turn: inout Turn) {
        guard let (peer, network) = sender(of: index, on: id, turn.now) else { return }
        tellMailbox(.messageReceived(from: peer, bytes), of: network, &turn)
    }

    // MARK: The hash table

    /// Makes a request of the node's own to a network's hash table.
    mutating func request(
        _ request: Kademlia.Request,
        for purpose: OwnTableRequests.Purpose,
        in network: NetworkId,
        _ turn: inout Turn
    ) {
        let id = tableRequests.begin(purpose, in: network)
        guard configuration.hasTables else {
            requestFinished(id, .failed(.switchedOff), &turn)
            return
        }
        tell(.requested(id, request, Kademlia.RequestPolicy()), of: network, &turn)
    }

    /// Reports the outcome of a request to the protocol that it was for; returns false if it is not the node's own.
    @discardableResult
    mutating func requestFinished(_ id: Kademlia.RequestId, _ outcome: Kademlia.Outcome, _ turn: inout Turn) -> Bool {
        guard let (network, purpose) = tableRequests.end(id) else { return false }
        var isWritten = true
        if case .failed = outcome { isWritten = false }
        switch purpose {
        case .service(let service):
            tellServices(.recordWritten(service, isWritten), of: network, &turn)
        case .mailHolders:
            var members: [PeerId]?
            if case .peers(let contacts) = outcome { members = contacts.map(\.peerId) }
            tellMailbox(.membersFound(members), of: network, &turn)
        }
        return true
    }
}
