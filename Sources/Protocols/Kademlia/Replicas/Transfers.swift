internal import Identity

/// The records that peers request after an offer, sent to each a few concurrently.
struct Transfers: Sendable {
    private struct Transfer: Sendable {
        /// The last is sent next.
        var queue: [RecordId] = []
        /// Records that were sent and not acknowledged.
        var pendingCount = 0
    }

    /// Records that are pending to one peer.
    private static let window = 4

    private var transfers: [PeerId: Transfer] = [:]

    mutating func enqueue(_ id: RecordId, to peer: PeerId) {
        transfers[peer, default: Transfer()].queue.append(id)
    }

    /// Returns the next record for a peer if the window has room.
    mutating func next(to peer: PeerId) -> RecordId? {
        guard let pendingCount = transfers[peer]?.pendingCount, pendingCount < Self.window else { return nil }
        return transfers[peer]?.queue.popLast()
    }

    mutating func noteSent(to peer: PeerId) { transfers[peer]?.pendingCount += 1 }

    mutating func noteAcknowledged(by peer: PeerId) { transfers[peer]?.pendingCount -= 1 }

    /// Forgets a peer to which nothing is pending.
    mutating func removeIfIdle(_ peer: PeerId) {
        if transfers[peer]?.pendingCount == 0 { transfers[peer] = nil }
    }

    /// Forgets the records for a peer, because it disconnected or does not respond.
    mutating func cancel(to peer: PeerId) { transfers[peer] = nil }
}
