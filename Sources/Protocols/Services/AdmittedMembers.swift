internal import Identity
internal import OrderedCollections

/// The admitted members, those of them that may be gone, and the announcements that each may still send.
struct AdmittedMembers: Sendable {
    private let interval: Duration
    private let atOnce: Int
    /// The admitted members, in order.
    private(set) var all = OrderedSet<PeerId>()
    private(set) var suspects = OrderedSet<PeerId>()
    private var buckets: [PeerId: TokenBucket] = [:]

    init(limits: Services.Limits) {
        interval = limits.announcementInterval
        atOnce = limits.announcementsAtOnce
    }

    func contains(_ peer: PeerId) -> Bool { all.contains(peer) }

    /// Adds a member; returns false if it was admitted before.
    mutating func add(_ peer: PeerId) -> Bool { all.append(peer).inserted }

    mutating func remove(_ peer: PeerId) {
        all.remove(peer)
        suspects.remove(peer)
        buckets[peer] = nil
    }

    mutating func setSuspect(_ isSuspect: Bool, _ peer: PeerId) {
        suspects.remove(peer)
        if isSuspect, all.contains(peer) { suspects.append(peer) }
    }

    /// Counts an announcement of a member; returns false if it is one too many.
    mutating func takeAnnouncement(of peer: PeerId, at now: Duration) -> Bool {
        let rate = RateLimit(every: interval, atOnce: atOnce)
        return buckets[peer, default: TokenBucket()].take(under: rate, at: now)
    }
}
