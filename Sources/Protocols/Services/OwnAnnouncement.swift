internal import Identity

/// The announcement of this node's own services, and the times at which the members get it.
struct OwnAnnouncement: Sendable {
    private let interval: Duration
    /// Nil as long as this node never offered anything.
    private var current: Announcement?
    private(set) var bytes: [UInt8] = []
    /// The time at which members last got a change.
    private var sentAt: Duration?
    /// The time at which they get the next one.
    private(set) var dueAt: Duration?

    init(limits: Services.Limits) {
        interval = limits.announcementInterval
    }

    var offers: [ServiceOffer] { current?.offers ?? [] }

    mutating func replace(with offers: [ServiceOffer], at wallSeconds: UInt64) {
        // Seconds in the upper bits: a member that knows an announcement from before a restart takes the later one.
        let version = max((current?.version ?? 0) + 1, wallSeconds << 20)
        let announcement = Announcement(version: version, offers: offers)
        current = announcement
        bytes = announcement.bytes
    }

    /// Plans the next announcement; returns whether it is due at once.
    mutating func plan(at now: Duration) -> Bool {
        guard dueAt == nil else { return false }
        guard let earliest = sentAt.map({ $0 + interval }), earliest > now else { return true }
        dueAt = earliest
        return false
    }

    mutating func noteSent(at now: Duration) {
        dueAt = nil
        sentAt = now
    }
}
