internal import Identity

/// The search of a recipient for the members that may hold its mail.
///
/// Senders draw holders among the members nearest to the mailbox that they are connected to. The recipient therefore walks
/// through the members of the network, the nearest to its mailbox first. It looks for the members nearest to one place after
/// the other: each lookup covers a part of the ids, and the rest is split into cells, which are looked up next.
///
/// A search names the recipient alone, and takes place whether there is mail or not.
struct HolderSearch: Sendable {
    /// The ids that have the first `depth` bits of `place`.
    struct Cell: Hashable, Sendable {
        let place: Bytes32
        let depth: Int
    }

    /// The largest depth of a cell: 4,096 cells suffice for 40,000 members, and members that invent neighbours cause no
    /// further lookups.
    static let depthLimit = 12

    private let limits: Mailbox.Limits
    private let mailbox: MailboxId
    /// The cells that the search has not covered yet, the nearest last.
    private var cells: [Cell] = []
    /// The cell that is being looked up.
    private var current: Cell?
    /// The time of the next lookup.
    private(set) var dueAt: Duration?

    init(of mailbox: MailboxId, limits: Mailbox.Limits) {
        self.mailbox = mailbox
        self.limits = limits
    }

    /// Begins a search unless one has begun.
    mutating func start(at now: Duration) {
        guard dueAt == nil, current == nil else { return }
        cells = []
        dueAt = now + limits.searchDelay
    }

    mutating func stop() { (cells, current, dueAt) = ([], nil, nil) }

    /// Takes the place of the next lookup if it is due.
    mutating func takeDue(at now: Duration) -> Bytes32? {
        guard let dueAt, dueAt <= now else { return nil }
        let cell = cells.popLast() ?? Cell(place: mailbox.words, depth: 0)
        (current, self.dueAt) = (cell, nil)
        return cell.place
    }

    /// Takes the members nearest to the place of the present lookup; nil if it failed.
    mutating func noteFound(_ members: [PeerId]?, at now: Duration) {
        guard let cell = current else { return }
        current = nil
        if let members { split(cell, around: members) } else { cells.append(cell) }
        dueAt = now + (members == nil || cells.isEmpty ? limits.searchInterval : limits.searchPause)
    }

    /// Adds the parts of a cell that a lookup did not cover, the nearest last.
    private mutating func split(_ cell: Cell, around members: [PeerId]) {
        // With fewer members there are no others.
        guard members.count >= limits.lookupMembers else { return }
        let common = members.map { $0.words.commonBits(with: cell.place) }.min() ?? 0
        let covered = min(common + 1, Self.depthLimit)
        for depth in cell.depth..<max(cell.depth, covered) {
            cells.append(Cell(place: cell.place.flippingBit(depth), depth: depth + 1))
        }
    }
}
