package import Identity
internal import OrderedCollections

/// The newest records that an application has read or written lately, so that it need not query the network again.
///
/// The cache keeps the newest record under each key by ``Revision``; older ones never replace newer ones. A record
/// answers until it is older here than ``maximumAge`` or has expired. Without room, the least recently used record is
/// removed.
package struct RecordCache: Sendable {
    private struct Entry: Sendable {
        var record: Record
        var takenAt: Duration
        /// A number that grows with every use.
        var used: UInt64
    }

    /// The most records.
    package let countLimit: Int
    /// The most bytes of records.
    package let byteLimit: Int
    /// The time for which a record answers before the network is queried again.
    package let maximumAge: Duration

    private var entries: OrderedDictionary<[UInt8], Entry> = [:]
    private var uses: UInt64 = 0
    /// The bytes of the stored records.
    package private(set) var byteCount = 0

    package init(countLimit: Int = 1024, byteLimit: Int = 4 << 20, maximumAge: Duration = .seconds(300)) {
        self.countLimit = countLimit
        self.byteLimit = byteLimit
        self.maximumAge = maximumAge
    }

    /// The number of records in the cache.
    package var count: Int { entries.count }

    /// The newest fresh record under `key`; nil if it is a tombstone.
    package mutating func record(for key: [UInt8], at now: NodeTime) -> Record? {
        guard let entry = entries[key], !entry.record.isTombstone else { return nil }
        guard now.monotonic - entry.takenAt <= maximumAge,
            !UnixTime.isPast(entry.record.expirySeconds, at: now.wallSeconds)
        else { return nil }
        uses += 1
        entries[key]?.used = uses
        return entry.record
    }

    /// Stores a record that was read or written unless a newer one is stored; returns whether it is stored now.
    ///
    /// A tombstone replaces its writer's older record, so that a deleted value does not reappear.
    @discardableResult
    package mutating func insert(_ record: Record, at now: NodeTime) -> Bool {
        guard record.byteCount <= byteLimit, countLimit > 0 else { return false }
        if let old = entries[record.key]?.record {
            if record.revision < old.revision { return false }
            if record.isTombstone, record.writer != old.writer, !old.isTombstone { return false }
        }
        delete(record.key)
        while count >= countLimit || byteCount + record.byteCount > byteLimit {
            dropLeastUsed()
        }
        uses += 1
        entries[record.key] = Entry(record: record, takenAt: now.monotonic, used: uses)
        byteCount += record.byteCount
        return true
    }

    /// Removes the record under `key`.
    package mutating func delete(_ key: [UInt8]) {
        guard let entry = entries.removeValue(forKey: key) else { return }
        byteCount -= entry.record.byteCount
    }

    /// Forgets every key that matches `pattern`, in which `*` stands for any bytes; returns how many there were.
    @discardableResult
    package mutating func revoke(matching pattern: String) -> Int {
        let pattern = Array(pattern.utf8)
        let matching = entries.keys.filter { Self.matches($0, pattern) }
        for key in matching { delete(key) }
        return matching.count
    }

    /// Removes the records of `writer`, because it was revoked.
    package mutating func removeAll(of writer: PeerId) {
        for key in entries.keys.filter({ entries[$0]?.record.writer == writer }) { delete(key) }
    }

    private mutating func dropLeastUsed() {
        guard let least = entries.min(by: { $0.value.used < $1.value.used }) else { return }
        delete(least.key)
    }

    /// Whether the pattern matches the whole `key`; on a mismatch the last star is extended.
    package static func matches(_ key: [UInt8], _ pattern: [UInt8]) -> Bool {
        let star = UInt8(ascii: "*")
        var (keyPosition, position) = (0, 0)
        var lastStar: (pattern: Int, key: Int)?
        while keyPosition < key.count {
            if position < pattern.count, pattern[position] == star {
                lastStar = (position, keyPosition)
                position += 1
            } else if position < pattern.count, pattern[position] == key[keyPosition] {
                position += 1
                keyPosition += 1
            } else if let last = lastStar {
                lastStar = (last.pattern, last.key + 1)
                position = last.pattern + 1
                keyPosition = last.key + 1
            } else {
                return false
            }
        }
        return pattern[position...].allSatisfy { $0 == star }
    }
}
