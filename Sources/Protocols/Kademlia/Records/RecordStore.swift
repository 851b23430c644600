internal import Algorithms
internal import Identity

/// The records that this node holds, by location and writer, with the bounds of each member and of all.
struct RecordStore: Sendable {
    /// A record and its other replicas that this node knows.
    struct Replica: Sendable {
        /// Nil once the record has expired; the rest stays until ``storedUntil`` so that no older version can return.
        var record: Record?
        let id: RecordId
        var version: UInt64
        /// The highest expiry that was seen for this writer here.
        var storedUntil: UInt64
        var byteCount: Int
        /// Whether this node wrote it.
        let isOwn: Bool
        /// The first words of the ids of members that are known to hold this version.
        var replicaPeers: [UInt64] = []
        /// The next time at which the replicas are compared with the nearest members.
        var checkAt: Duration

        mutating func noteReplicaPeer(_ peer: PeerId) {
            if !isKnown(replicaAt: peer), replicaPeers.count < RecordStore.replicaPeerLimit {
                replicaPeers.append(peer.words.first)
            }
        }

        func isKnown(replicaAt peer: PeerId) -> Bool { replicaPeers.contains(peer.words.first) }
    }

    /// All that lies at one location, by writer.
    struct Place: Sendable {
        let location: Bytes32
        var stored: [Replica]
        /// The first word of the distance within which a change of members concerns this location.
        var radius = UInt64.max
    }

    struct Usage: Hashable, Sendable {
        var records = 0
        var bytes = 0
    }

    /// Twice the number of holders that a record should have.
    static let replicaPeerLimit = 40

    /// Sorted by location.
    private(set) var places: [Place] = []
    private(set) var total = Usage()
    private(set) var own = Usage()
    private var usage: [PeerId: Usage] = [:]

    func usage(of writer: PeerId) -> Usage { usage[writer] ?? Usage() }

    func position(of location: Bytes32) -> (position: Int, isThere: Bool) {
        let position = places.partitioningIndex { $0.location >= location }
        return (position, position < places.count && places[position].location == location)
    }

    /// Returns the records at a location, in the order of the writers.
    func stored(at location: Bytes32) -> [Replica] {
        let found = position(of: location)
        return found.isThere ? places[found.position].stored : []
    }

    subscript(id: RecordId) -> Replica? {
        let found = position(of: id.location)
        guard found.isThere else { return nil }
        return places[found.position].stored.first { $0.id.writer == id.writer }
    }

    /// The live records at a location that no tombstone stands for, the newest first.
    func live(at location: Bytes32, now: UInt64) -> [Record] {
        stored(at: location).compactMap(\.record)
            .filter { !$0.isTombstone && !UnixTime.isPast($0.expirySeconds, at: now) }
            .sorted { $0.revision > $1.revision }
    }

    /// Whether there is room for the record once its predecessor is replaced.
    func hasRoom(for record: Record, id: RecordId, limits: Kademlia.Limits) -> Bool {
        let old = self[id].map { Usage(records: 1, bytes: $0.byteCount) } ?? Usage()
        let used = usage(of: id.writer)
        let bytes = record.byteCount - old.bytes
        let count = 1 - old.records
        if count == 1, stored(at: id.location).count >= limits.writersPerKey { return false }
        return used.records + count <= limits.recordsPerMember && used.bytes + bytes <= limits.recordBytesPerMember
            && total.records + count <= limits.records && total.bytes + bytes <= limits.recordBytes
    }

    /// Stores the record in place of an older one of the same writer.
    mutating func put(_ record: Record, id: RecordId, isOwn: Bool, checkAt: Duration) {
        let old = self[id]
        let stored = Replica(
            record: record,
            id: id,
            version: record.version,
            storedUntil: max(record.expirySeconds, old?.storedUntil ?? 0),
            byteCount: record.byteCount,
            isOwn: isOwn,
            checkAt: checkAt
        )
        remove(id)
        let found = position(of: id.location)
        if !found.isThere {
            places.insert(Place(location: id.location, stored: []), at: found.position)
        }
        let writers = places[found.position].stored
        let slot = writers.firstIndex { id.writer < $0.id.writer } ?? writers.count
        places[found.position].stored.insert(stored, at: slot)
        count(stored, sign: 1)
    }

    mutating func update(_ id: RecordId, _ change: (inout Replica) -> Void) {
        let found = position(of: id.location)
        guard found.isThere,
            let slot = places[found.position].stored.firstIndex(where: { $0.id.writer == id.writer })
        else { return }
        change(&places[found.position].stored[slot])
    }

    mutating func setRadius(_ radius: UInt64, at position: Int) { places[position].radius = radius }

    @discardableResult
    mutating func remove(_ id: RecordId) -> Replica? {
        let found = position(of: id.location)
        guard found.isThere,
            let slot = places[found.position].stored.firstIndex(where: { $0.id.writer == id.writer })
        else { return nil }
        let stored = places[found.position].stored.remove(at: slot)
        if places[found.position].stored.isEmpty { places.remove(at: found.position) }
        count(stored, sign: -1)
        return stored
    }

    private mutating func count(_ stored: Replica, sign: Int) {
        func add(to usage: inout Usage) {
            usage.records += sign
            usage.bytes += sign * stored.byteCount
        }
        add(to: &total)
        if stored.isOwn { add(to: &own) }
        var member = usage(of: stored.id.writer)
        add(to: &member)
        usage[stored.id.writer] = member.records == 0 ? nil : member
    }

    /// Drops the values of expired records, and removes those of which no older version can return.
    ///
    /// Returns the records that no longer need to be persisted.
    mutating func expire(at now: UInt64) -> [RecordId] {
        var gone: [RecordId] = []
        var freed: [RecordId] = []
        for place in places {
            for stored in place.stored {
                if UnixTime.isPast(stored.storedUntil, at: now) {
                    gone.append(stored.id)
                } else if let record = stored.record, UnixTime.isPast(record.expirySeconds, at: now) {
                    freed.append(stored.id)
                }
            }
        }
        for id in gone { remove(id) }
        for id in freed { free(id) }
        return gone
    }

    /// Stores only the version of an expired record.
    private mutating func free(_ id: RecordId) {
        guard var stored = self[id], let record = stored.record else { return }
        count(stored, sign: -1)
        stored.byteCount = record.head.byteCount
        stored.record = nil
        count(stored, sign: 1)
        update(id) { $0 = stored }
    }

    /// Removes every record of a writer; returns their names.
    mutating func removeAll(of writer: PeerId) -> [RecordId] {
        guard usage[writer] != nil else { return [] }
        let ids = places.flatMap(\.stored).map(\.id).filter { $0.writer == writer }
        for id in ids { remove(id) }
        return ids
    }
}
