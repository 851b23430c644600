internal import Discovery
internal import Identity
internal import Kademlia
internal import Mailbox
internal import OneTimeKeys
internal import PubSub
internal import Services
internal import Traversal

/// An event in a network that is not the matter of one protocol alone.
///
/// The node offers it once to all protocols that it hosts. Each takes it as an input of its own or ignores it, in an
/// exhaustive switch, so that a new event or a new protocol does not compile before every one has decided.
enum NetworkEvent: Sendable {
    /// The peer is admitted on its first connection.
    ///
    /// `addresses` are those at which others can dial it, or nil if it has no hash table.
    case memberUp(PeerId, addresses: [SocketAddress]?)
    /// The last admission of the peer has ended.
    case memberDown(PeerId)
    /// Whether the messages to an admitted peer stay unanswered.
    case memberSuspected(PeerId, Bool)
    /// There is evidence that a peer is a member, with the addresses at which it may be dialled.
    case memberRemembered(Contact)
    /// The network's owner revoked the peer.
    case memberRevoked(PeerId)
    /// This node has another token.
    case tokenChanged(AccessToken)
    /// The node is about to close its connections.
    case stopping
}

extension NodeCore {
    /// Offers an event of a network to every hosted protocol.
    mutating func notify(_ event: NetworkEvent, of network: NetworkId, _ turn: inout Turn) {
        if let input = Kademlia.input(for: event, in: network) { tell(input, of: network, &turn) }
        if let input = PubSub.input(for: event, in: network) { tellEvents(input, of: network, &turn) }
        if let input = Services.input(for: event, in: network) { tellServices(input, of: network, &turn) }
        if let input = Mailbox.input(for: event, in: network) { tellMailbox(input, of: network, &turn) }
        if let input = Discovery.input(for: event, in: network) { tellDiscovery(input, &turn) }
        if let input = Reach.input(for: event, in: network) { tellReach(input, &turn) }
        if let input = KeyExchanges.input(for: event, in: network) { tellKeys(input, &turn) }
    }
}

extension Kademlia: HostedProtocol {
    static func input(for event: NetworkEvent, in _: NetworkId) -> Input? {
        switch event {
        case .memberUp(let peer, let addresses): addresses.map { .memberUp(peer, $0) }
        case .memberDown(let peer): .memberDown(peer)
        case .memberSuspected(let peer, let isSuspect): .memberSuspected(peer, isSuspect)
        case .memberRemembered(let contact): .contactHeard(contact)
        case .memberRevoked(let peer): .memberRevoked(peer)
        case .tokenChanged(let token): .tokenChanged(token)
        case .stopping: .stopping
        }
    }
}

extension PubSub: HostedProtocol {
    static func input(for event: NetworkEvent, in _: NetworkId) -> Input? {
        switch event {
        case .memberUp(let peer, _): .memberUp(peer)
        case .memberDown(let peer): .memberDown(peer)
        case .memberRevoked(let peer): .memberRevoked(peer)
        case .tokenChanged(let token): .tokenChanged(token)
        case .stopping: .stopping
        // It sends events to suspected members, too, and remembers none that are not connected.
        case .memberSuspected, .memberRemembered: nil
        }
    }
}

extension Services: HostedProtocol {
    static func input(for event: NetworkEvent, in _: NetworkId) -> Input? {
        switch event {
        case .memberUp(let peer, _): .memberUp(peer)
        case .memberDown(let peer): .memberDown(peer)
        case .memberSuspected(let peer, let isSuspect): .memberSuspected(peer, isSuspect)
        // It keeps nothing of members that are not connected, signs nothing, and its announcements end with a connection.
        case .memberRemembered, .memberRevoked, .tokenChanged, .stopping: nil
        }
    }
}

extension Mailbox: HostedProtocol {
    static func input(for event: NetworkEvent, in _: NetworkId) -> Input? {
        switch event {
        case .memberUp(let peer, _): .memberUp(peer)
        case .memberDown(let peer): .memberDown(peer)
        case .memberSuspected(let peer, let isSuspect): .memberSuspected(peer, isSuspect)
        case .memberRemembered(let contact): .memberRemembered(contact.peerId)
        case .memberRevoked(let peer): .memberRevoked(peer)
        // It shows no token, and all mail is on disk before it is acknowledged.
        case .tokenChanged, .stopping: nil
        }
    }
}

extension Discovery: HostedProtocol {
    static func input(for event: NetworkEvent, in network: NetworkId) -> Input? {
        switch event {
        case .memberRevoked(let peer): .memberRevoked(peer, network)
        // It hears members without connections, gets a token with `networkAdded`, and stops for all networks at once.
        case .memberUp, .memberDown, .memberSuspected, .memberRemembered, .tokenChanged, .stopping: nil
        }
    }
}

extension Reach: HostedProtocol {
    static func input(for event: NetworkEvent, in network: NetworkId) -> Input? {
        switch event {
        case .memberDown(let peer): .disconnected(peer, network)
        // It follows connections rather than members, and is notified of each one (`tellReachOfLink`).
        case .memberUp, .memberSuspected, .memberRemembered, .memberRevoked, .tokenChanged, .stopping: nil
        }
    }
}

extension KeyExchanges: HostedProtocol {
    static func input(for event: NetworkEvent, in network: NetworkId) -> Input? {
        switch event {
        case .memberUp(let peer, _): .memberUp(peer, network)
        // Its messages are repeated until they are answered, and its keys are those of two devices, not of a network.
        case .memberDown, .memberSuspected, .memberRemembered, .memberRevoked, .tokenChanged, .stopping: nil
        }
    }
}
