package import Identity
internal import NodeCore
internal import OrderedCollections
package import Traversal

/// The recent attempts to reach peers, bounded.
package struct PathHistory: Sendable {
    /// Something that happened on the way to a peer.
    package enum Event: Hashable, Sendable {
        /// An address of the peer was dialled.
        case dialled(SocketAddress)
        /// No node with the peer's key answered at the address.
        case notReached(SocketAddress, reason: String)
        /// The peer answered at the address.
        case reached(SocketAddress)
        /// The two admitted each other in a network.
        case admitted(NetworkId)
        /// One of the two refused the other: this device, or the peer.
        case refused(byPeer: Bool, reason: String)
        /// An offer was sent over others.
        case traversal(Reach.Event)
    }

    /// Something that happened, and when.
    package struct Entry: Hashable, Sendable {
        package let time: NodeTime
        package let event: Event
    }

    private static let peerLimit = 128
    private static let entryLimit = 64

    /// The peer that was tried last at the end.
    private var entries: OrderedDictionary<PeerId, [Entry]> = [:]

    subscript(peer: PeerId) -> [Entry] { entries[peer] ?? [] }

    mutating func note(_ event: Event, of peer: PeerId, at time: NodeTime) {
        var known = entries.removeValue(forKey: peer) ?? []
        known.append(Entry(time: time, event: event))
        if known.count > Self.entryLimit { known.removeFirst(known.count - Self.entryLimit) }
        entries[peer] = known
        if entries.count > Self.peerLimit { entries.removeFirst() }
    }
}
