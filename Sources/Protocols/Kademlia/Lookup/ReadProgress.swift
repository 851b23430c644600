internal import Identity
internal import OrderedCollections

/// The records that a lookup has read so far.
struct ReadProgress: Sendable {
    /// The query for the records.
    struct Query: Sendable {
        let location: Bytes32
        let key: [UInt8]
        let selection: Message.Selection
        let inlineLimit: Int

        /// Whether a record answers the query, and its value, if there is one, belongs to its head.
        func fits(_ found: Message.Found) -> Bool {
            if found.head.key != key { return false }
            if case .one(let writer) = selection, found.head.writer != writer { return false }
            guard let value = found.value else { return true }
            return Record(head: found.head, value: value) != nil
        }
    }

    /// The newest known record of one writer.
    struct Known: Sendable {
        fileprivate(set) var head: Record.Head
        fileprivate(set) var value: [UInt8]?
        /// The peers that have it, for fetching the value.
        fileprivate var sources: [PeerId]
        fileprivate(set) var isFetching = false

        var record: Record? { value.flatMap { Record(head: head, value: $0) } }
    }

    /// The result of taking in one response.
    enum Step: Sendable {
        /// The peer violated the protocol.
        case refused
        case taken(isFirstResult: Bool)
    }

    let query: Query
    let policy: Kademlia.Reading
    private var known: OrderedDictionary<PeerId, Known> = [:]
    private(set) var quorum: ReadQuorum
    /// The distance of the first record's source in steps, 0 for this node; nil before the first record.
    private(set) var firstHops: Int?
    /// Whether members crowd around the location as only attackers' do: then all responses are awaited, and more.
    var isBesieged = false
    /// Whether enough is known and only values are awaited.
    var isConcluding = false

    /// Starts a read; `radius` is that of ``ReadQuorum``.
    init(_ query: Query, _ policy: Kademlia.Reading, radius: UInt64) {
        self.query = query
        self.policy = policy
        quorum = ReadQuorum(location: query.location, radius: radius)
    }

    // MARK: Results

    /// The newest revision, live or not.
    var newest: Revision? { known.values.map(\.head.revision).max() }

    /// The live records by writer, the newest first.
    var live: [Known] {
        known.values.filter { !$0.head.isTombstone }.sorted { $0.head.revision > $1.head.revision }
    }

    /// The live records that the query selects.
    var wanted: [Known] {
        switch query.selection {
        case .newest: Array(live.prefix(1))
        case .all, .one: live
        }
    }

    /// Whether further responses are unnecessary.
    var isEnough: Bool {
        switch (policy, query.selection) {
        case (.everyone, _), (_, .all): return false
        case (.first, _): return !live.isEmpty
        case (.agreeing(let count), _):
            guard let newest, !isBesieged else { return false }
            return quorum.agrees(on: newest, count: count)
        }
    }

    /// Returns the head of the newest known record of a writer.
    func head(of writer: PeerId) -> Record.Head? { known[writer]?.head }

    // MARK: Responses

    /// Counts the records that this node holds itself as one more response.
    mutating func take(_ replicas: [RecordStore.Replica], of local: PeerId, at nowSeconds: UInt64) {
        var newest: Revision?
        for stored in replicas {
            guard let record = stored.record, !UnixTime.isPast(record.expirySeconds, at: nowSeconds) else { continue }
            if case .one(let writer) = query.selection, writer != stored.id.writer { continue }
            take(record.head, value: record.value, from: local)
            newest = max(newest ?? record.revision, record.revision)
        }
        guard let newest else { return }
        quorum.note(newest, by: local)
        firstHops = 0
    }

    /// Adds the records that a peer, `hops` steps away, found at the location.
    mutating func take(
        _ found: [Message.Found],
        from peer: PeerId,
        hops: Int,
        _ validator: inout RecordValidator,
        _ turn: inout Kademlia.Turn
    ) -> Step {
        var newest: Revision?
        for one in found {
            guard query.fits(one) else {
                turn.emit(.violation(peer, "a record that was not asked for"))
                return .refused
            }
            if head(of: one.head.writer) != one.head,
                let problem = validator.problem(with: one.head, at: turn.now.wallSeconds)
            {
                if problem.mayBeHonest { continue }
                turn.emit(.violation(peer, "a forged record: \(problem)"))
                return .refused
            }
            take(one.head, value: one.value, from: peer)
            newest = max(newest ?? one.head.revision, one.head.revision)
        }
        guard let newest else { return .taken(isFirstResult: false) }
        quorum.note(newest, by: peer)
        guard firstHops == nil else { return .taken(isFirstResult: false) }
        firstHops = hops
        return .taken(isFirstResult: true)
    }

    /// Adds a verified record.
    private mutating func take(_ head: Record.Head, value: [UInt8]?, from source: PeerId) {
        let writer = head.writer
        guard let old = known[writer], old.head.version >= head.version else {
            known[writer] = Known(head: head, value: value, sources: [source])
            return
        }
        guard old.head == head else { return }
        known[writer]?.sources.append(source)
        if old.value == nil, let value { known[writer]?.value = value }
    }

    // MARK: Fetching values

    /// The writers of wanted records without a value, and whether it is being fetched.
    var missing: [(writer: PeerId, isFetching: Bool)] {
        wanted.filter { $0.value == nil }.map { ($0.head.writer, $0.isFetching) }
    }

    /// Returns the next peer that has the record of a writer, each once.
    mutating func takeSource(of writer: PeerId) -> PeerId? {
        guard known[writer]?.sources.isEmpty == false else { return nil }
        return known[writer]?.sources.removeFirst()
    }

    mutating func setFetching(_ isFetching: Bool, _ writer: PeerId) { known[writer]?.isFetching = isFetching }

    /// Adds a peer's response to the query for one writer's value.
    mutating func takeFetched(
        _ found: [Message.Found],
        of writer: PeerId,
        from peer: PeerId,
        _ validator: inout RecordValidator,
        _ turn: inout Kademlia.Turn
    ) {
        setFetching(false, writer)
        let knownHead = head(of: writer)
        for one in found where one.head.writer == writer {
            guard query.fits(one) else {
                turn.emit(.violation(peer, "a record that was not asked for"))
                continue
            }
            if knownHead == one.head || validator.problem(with: one.head, at: turn.now.wallSeconds) == nil {
                take(one.head, value: one.value, from: peer)
            }
        }
    }
}
