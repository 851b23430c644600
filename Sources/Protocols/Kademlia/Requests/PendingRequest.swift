internal import Identity
internal import OrderedCollections

/// A request of the application that is under way.
struct PendingRequest: Sendable {
    let request: Kademlia.Request
    let policy: Kademlia.RequestPolicy
    let startedAt: Duration
    let deadlineAt: Duration
    /// The deadline, or the end of the pause before another attempt.
    var wakeAt: Duration
    var attempts = 0
    var lookup: UInt32?
    var writing: Writing?
    var effort = Kademlia.Effort()
    var lastError: KademliaError?
}

/// A put or delete after its lookup.
struct Writing: Sendable {
    let id: RecordId
    /// The holders to be, the nearest first.
    var targets: [Contact]
    /// Whether this node is one of the nearest itself.
    let isHolder: Bool
    /// The newest revision that is known under the key, with those that a tombstone stands for.
    let newest: Revision?
    /// The newest live one.
    let current: Revision?
    /// Answers that are still to come.
    var waiting = 0
    var granted: [PeerId] = []
    var acknowledged = 0
    var verdicts: [Message.StoreVerdict] = []
    /// What was signed; nil while holders are asked for reservations.
    var record: Record?
}

/// A lookup and what it is for.
struct LookupTask: Sendable {
    enum Purpose: Sendable {
        case request(Kademlia.RequestId)
        case neighbourhood(isJoin: Bool)
        case refresh
        /// To take this node's own record to the nearest members again.
        case republish(RecordId)
    }

    var lookup: Lookup
    let purpose: Purpose
    var reading: ReadProgress?

    init(lookup: Lookup, purpose: Purpose, reading: ReadProgress? = nil) {
        self.lookup = lookup
        self.purpose = purpose
        self.reading = reading
    }
}

/// What a lookup has read so far.
struct ReadProgress: Sendable {
    /// The newest that is known of one writer.
    struct Known: Sendable {
        var head: Record.Head
        var value: [UInt8]?
        /// Who has it, for fetching the value.
        var sources: [PeerId]
        var isFetching = false

        var record: Record? { self.value.flatMap { Record(head: self.head, value: $0) } }
    }

    let location: Bytes32
    let key: [UInt8]
    let selection: Message.Selection
    let policy: Kademlia.Reading
    let inlineLimit: Int
    var known: OrderedDictionary<PeerId, Known> = [:]
    /// How far from the location holders are to be expected, by the first word of the distance.
    let radius: UInt64
    /// The newest revision that each answerer gave, if it gave any.
    var given: [Revision] = []
    /// How many of these answerers are within the ``radius``.
    ///
    /// Accomplices name each other, but only as many of them as of all members lie where holders do.
    var givenNear = 0
    /// When and how far away the first record was found.
    var firstAt: Duration?
    var firstHops = 0
    /// Whether members crowd around the location as only those do that chose their ids: then all are heard, and more.
    var isBesieged = false
    /// Whether enough is known and only values are waited for.
    var isConcluding = false

    /// The newest revision, live or not.
    var newest: Revision? { self.known.values.map(\.head.revision).max() }

    /// The live records' writers, the newest first.
    var live: [Known] {
        self.known.values.filter { !$0.head.isTombstone }.sorted { $0.head.revision > $1.head.revision }
    }

    /// Those of the live ones that were asked for.
    var wanted: [Known] {
        switch self.selection {
        case .newest: Array(self.live.prefix(1))
        case .all, .one: self.live
        }
    }

    /// Whether no more need be read.
    var isEnough: Bool {
        switch (self.policy, self.selection) {
        case (.everyone, _), (_, .all): return false
        case (.first, _): return !self.live.isEmpty
        case (.agreeing(let count), _):
            guard let newest = self.newest, !self.isBesieged else { return false }
            return self.givenNear >= count && self.given.allSatisfy { $0 == newest }
        }
    }

    /// Notes the newest that an answerer gave.
    mutating func note(_ revision: Revision, by peer: PeerId) {
        self.given.append(revision)
        if Distance(peer.words, self.location).first <= self.radius { self.givenNear += 1 }
    }

    /// Takes in a verified record.
    mutating func take(_ head: Record.Head, value: [UInt8]?, from source: PeerId) {
        let writer = head.writer
        guard let old = self.known[writer], old.head.version >= head.version else {
            self.known[writer] = Known(head: head, value: value, sources: [source])
            return
        }
        guard old.head == head else { return }
        self.known[writer]?.sources.append(source)
        if old.value == nil, let value { self.known[writer]?.value = value }
    }
}

/// A location that is kept for one member's conditional write.
struct Reservation: Sendable {
    let peer: PeerId
    let until: Duration
}
