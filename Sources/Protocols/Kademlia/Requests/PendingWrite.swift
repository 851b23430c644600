internal import Identity

/// A put or delete after its lookup: reservations if it has a condition, then the record at the nearest members.
struct PendingWrite: Sendable {
    /// The state of the reservations.
    enum Reservation: Sendable {
        /// Responses that decide are pending.
        case pending
        /// A majority of all replicas granted it.
        case granted
        /// A majority is no longer possible.
        case refused
    }

    /// The state of the storing.
    enum Storing: Sendable {
        /// Acknowledgements are pending.
        case pending
        /// Enough members stored the record.
        case stored
        /// No member stored the record.
        case failed
    }

    let id: RecordId
    /// The members that are to store the record, the nearest first.
    let targets: [Contact]
    /// Whether this node is one of the nearest itself.
    let isReplica: Bool
    /// The newest known revision under the key, including those that a tombstone stands for.
    let newest: Revision?
    /// The newest live one.
    let current: Revision?
    /// Responses that are still pending.
    private var pendingCount = 0
    /// The members that granted a reservation.
    private var granted: [PeerId] = []
    private(set) var acknowledgedCount = 0
    private var refusals: [Message.StoreVerdict] = []
    /// The signed record; nil while reservations are pending.
    private(set) var record: Record?
    /// Whether this node has stored the record durably.
    private var isDurable = false

    /// Starts a write of `local` with the result of its lookup: the `nearest` members, at most `count`, and the records.
    init(of local: PeerId, near nearest: [Contact], count: Int, _ reading: ReadProgress) {
        let location = reading.query.location
        var targets = nearest
        let own = Distance(local.words, location)
        let last = targets.last.map { Distance($0.peerId.words, location) }
        isReplica = targets.count < count || last.map { own < $0 } ?? true
        if isReplica, targets.count == count { targets.removeLast() }
        id = RecordId(location: location, writer: local)
        self.targets = targets
        newest = reading.newest
        current = reading.live.first?.head.revision
    }

    /// Whether the record is signed, and reservations no longer count.
    var isSigned: Bool { record != nil }

    // MARK: Reservations

    /// Starts to wait for the reservations of all targets; this node has a voice like any other replica.
    mutating func awaitReservations(isGrantedHere: Bool) {
        if isGrantedHere { granted.append(id.writer) }
        pendingCount = targets.count
    }

    /// Notes whether a target granted a reservation.
    mutating func noteReservation(at peer: PeerId, isGranted: Bool) {
        pendingCount -= 1
        if isGranted { granted.append(peer) }
    }

    var reservation: Reservation {
        let needed = (targets.count + (isReplica ? 1 : 0)) / 2 + 1
        if granted.count >= needed { return .granted }
        return granted.count + pendingCount < needed ? .refused : .pending
    }

    /// The targets that granted a reservation.
    var grantingTargets: [Contact] { targets.filter { granted.contains($0.peerId) } }

    // MARK: Storing

    /// Starts to wait until this node has stored the signed record durably.
    mutating func awaitDisk(storing record: Record) {
        self.record = record
        isDurable = false
    }

    /// Whether the write waits until this record is durable.
    func isAwaitingDisk(_ record: Record) -> Bool {
        !isDurable && id.writer == record.writer && self.record == record
    }

    /// Starts to wait for the acknowledgements of the members to which the record was sent.
    mutating func awaitAcknowledgements(count: Int) {
        isDurable = true
        pendingCount = count
    }

    /// Notes the verdict of a target about the record; nil if it did not respond.
    mutating func noteVerdict(_ verdict: Message.StoreVerdict?) {
        pendingCount -= 1
        guard let verdict else { return }
        if verdict == .accepted { acknowledgedCount += 1 } else { refusals.append(verdict) }
    }

    /// The state of the storing, where this number of acknowledgements is required.
    func storing(acknowledgements: Int) -> Storing {
        let needed = min(max(1, acknowledgements), targets.count)
        let isPending = pendingCount != 0
        if acknowledgedCount >= needed || (!isPending && acknowledgedCount > 0) { return .stored }
        return isPending ? .pending : .failed
    }

    /// The reason why no member stored the record: the most frequent verdict.
    var failure: KademliaError {
        let counts = Message.StoreVerdict.allCases.map { verdict in refusals.count { $0 == verdict } }
        guard let most = counts.max(), most > 0, let code = counts.firstIndex(of: most) else {
            return .timedOut(answered: 0)
        }
        switch Message.StoreVerdict.allCases[code] {
        case .overQuota: return .overQuota
        case .clockDiffers: return .clockDiffers
        case .outdated: return .conflict(current: newest)
        case .refused: return .notAMember
        case .accepted, .notNear: return .timedOut(answered: refusals.count)
        }
    }
}
