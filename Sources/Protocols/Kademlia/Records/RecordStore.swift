internal import Algorithms
internal import Identity

/// The records that this node holds, by location and writer, with the bounds of each member and of all.
struct RecordStore: Sendable {
    /// A record and what this node knows about its other holders.
    struct Held: Sendable {
        /// Nil once the record has expired; the rest stays until ``keptUntil`` so that no older version can return.
        var record: Record?
        let id: RecordId
        var version: UInt64
        /// The highest expiry that was seen for this writer here.
        var keptUntil: UInt64
        var byteCount: Int
        /// Whether this node wrote it.
        let isOwn: Bool
        /// The first words of the ids of members that are known to hold this version.
        var holders: [UInt64] = []
        /// The next time at which the holders are compared with the nearest members.
        var checkAt: Duration

        mutating func noteHolder(_ peer: PeerId) {
            if !self.isKnown(holder: peer), self.holders.count < RecordStore.holderLimit {
                self.holders.append(peer.words.first)
            }
        }

        func isKnown(holder peer: PeerId) -> Bool { self.holders.contains(peer.words.first) }
    }

    /// All that lies at one location, by writer.
    struct Place: Sendable {
        let location: Bytes32
        var held: [Held]
        /// The first word of the distance within which a change of members concerns this location.
        var radius = UInt64.max
    }

    struct Usage: Hashable, Sendable {
        var records = 0
        var bytes = 0
    }

    /// Twice the number of holders that a record should have.
    static let holderLimit = 40

    /// Sorted by location.
    private(set) var places: [Place] = []
    private(set) var total = Usage()
    private(set) var own = Usage()
    private var usage: [PeerId: Usage] = [:]

    func usage(of writer: PeerId) -> Usage { self.usage[writer] ?? Usage() }

    func position(of location: Bytes32) -> (position: Int, isThere: Bool) {
        let position = self.places.partitioningIndex { $0.location >= location }
        return (position, position < self.places.count && self.places[position].location == location)
    }

    /// Returns the records at a location, in the order of the writers.
    func held(at location: Bytes32) -> [Held] {
        let found = self.position(of: location)
        return found.isThere ? self.places[found.position].held : []
    }

    subscript(id: RecordId) -> Held? {
        let found = self.position(of: id.location)
        guard found.isThere else { return nil }
        return self.places[found.position].held.first { $0.id.writer == id.writer }
    }

    /// The live records at a location that no tombstone stands for, the newest first.
    func live(at location: Bytes32, now: UInt64) -> [Record] {
        self.held(at: location).compactMap(\.record)
            .filter { !$0.isTombstone && !UnixTime.isPast($0.expirySeconds, at: now) }
            .sorted { $0.revision > $1.revision }
    }

    /// Whether there is room for the record beside what it replaces.
    func hasRoom(for record: Record, id: RecordId, limits: Kademlia.Limits) -> Bool {
        let old = self[id].map { Usage(records: 1, bytes: $0.byteCount) } ?? Usage()
        let used = self.usage(of: id.writer)
        let bytes = record.byteCount - old.bytes
        let count = 1 - old.records
        if count == 1, self.held(at: id.location).count >= limits.writersPerKey { return false }
        return used.records + count <= limits.recordsPerMember && used.bytes + bytes <= limits.recordBytesPerMember
            && self.total.records + count <= limits.records && self.total.bytes + bytes <= limits.recordBytes
    }

    /// Keeps the record in place of an older one of the same writer.
    mutating func put(_ record: Record, id: RecordId, isOwn: Bool, checkAt: Duration) {
        let old = self[id]
        let held = Held(
            record: record,
            id: id,
            version: record.version,
            keptUntil: max(record.expirySeconds, old?.keptUntil ?? 0),
            byteCount: record.byteCount,
            isOwn: isOwn,
            checkAt: checkAt
        )
        self.remove(id)
        let found = self.position(of: id.location)
        if !found.isThere {
            self.places.insert(Place(location: id.location, held: []), at: found.position)
        }
        let writers = self.places[found.position].held
        let slot = writers.firstIndex { id.writer < $0.id.writer } ?? writers.count
        self.places[found.position].held.insert(held, at: slot)
        self.count(held, sign: 1)
    }

    mutating func update(_ id: RecordId, _ change: (inout Held) -> Void) {
        let found = self.position(of: id.location)
        guard found.isThere,
            let slot = self.places[found.position].held.firstIndex(where: { $0.id.writer == id.writer })
        else { return }
        change(&self.places[found.position].held[slot])
    }

    mutating func setRadius(_ radius: UInt64, at position: Int) { self.places[position].radius = radius }

    @discardableResult
    mutating func remove(_ id: RecordId) -> Held? {
        let found = self.position(of: id.location)
        guard found.isThere,
            let slot = self.places[found.position].held.firstIndex(where: { $0.id.writer == id.writer })
        else { return nil }
        let held = self.places[found.position].held.remove(at: slot)
        if self.places[found.position].held.isEmpty { self.places.remove(at: found.position) }
        self.count(held, sign: -1)
        return held
    }

    private mutating func count(_ held: Held, sign: Int) {
        func add(to usage: inout Usage) {
            usage.records += sign
            usage.bytes += sign * held.byteCount
        }
        add(to: &self.total)
        if held.isOwn { add(to: &self.own) }
        var member = self.usage(of: held.id.writer)
        add(to: &member)
        self.usage[held.id.writer] = member.records == 0 ? nil : member
    }

    /// Drops the values of expired records, and removes those of which no older version can return.
    ///
    /// Returns what need no longer be persisted.
    mutating func expire(at now: UInt64) -> [RecordId] {
        var gone: [RecordId] = []
        var freed: [RecordId] = []
        for place in self.places {
            for held in place.held {
                if UnixTime.isPast(held.keptUntil, at: now) {
                    gone.append(held.id)
                } else if let record = held.record, UnixTime.isPast(record.expirySeconds, at: now) {
                    freed.append(held.id)
                }
            }
        }
        for id in gone { self.remove(id) }
        for id in freed { self.free(id) }
        return gone
    }

    /// Keeps only the version of an expired record.
    private mutating func free(_ id: RecordId) {
        guard var held = self[id], let record = held.record else { return }
        self.count(held, sign: -1)
        held.byteCount = record.head.byteCount
        held.record = nil
        self.count(held, sign: 1)
        self.update(id) { $0 = held }
    }

    /// Removes every record of a writer; returns their names.
    mutating func removeAll(of writer: PeerId) -> [RecordId] {
        guard self.usage[writer] != nil else { return [] }
        let ids = self.places.flatMap(\.held).map(\.id).filter { $0.writer == writer }
        for id in ids { self.remove(id) }
        return ids
    }
}
