package import Identity
internal import NodeCore
internal import OrderedCollections
package import Traversal

/// What was tried lately to reach peers, bounded.
package struct PathHistory: Sendable {
    /// Something that happened, and when.
    package struct Entry: Hashable, Sendable {
        package let time: NodeTime
        package let event: Reach.Event
    }

    private static let peerLimit = 128
    private static let entryLimit = 64

    /// The peer that was tried last at the end.
    private var entries: OrderedDictionary<PeerId, [Entry]> = [:]

    subscript(peer: PeerId) -> [Entry] { self.entries[peer] ?? [] }

    mutating func note(_ event: Reach.Event, of peer: PeerId, at time: NodeTime) {
        var known = self.entries.removeValue(forKey: peer) ?? []
        known.append(Entry(time: time, event: event))
        if known.count > Self.entryLimit { known.removeFirst(known.count - Self.entryLimit) }
        self.entries[peer] = known
        if self.entries.count > Self.peerLimit { self.entries.removeFirst() }
    }
}
