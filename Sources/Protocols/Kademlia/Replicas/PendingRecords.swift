internal import Identity

/// The records that are being stored on disk, each with the members that wait for the verdict.
///
/// A record counts only once it is durable, so that a member that acknowledged it still has it after a crash.
struct PendingRecords: Sendable {
    /// A member that waits for the verdict about a record.
    struct Source: Hashable, Sendable {
        let peer: PeerId
        /// The peer's number of the RPC.
        let number: UInt32
    }

    /// One version of a record; a newer one may follow before it is stored.
    private struct Key: Hashable {
        let id: RecordId
        let version: UInt64
    }

    private struct Pending {
        let record: Record
        var sources: [Source]
    }

    /// Records that wait for the disk: a slow one delays this many writes of peers, and refuses further ones.
    private static let limit = 256
    /// Members that wait for one record: more than the replicas that send it to this node.
    private static let sourceLimit = 64

    private var pending: [Key: Pending] = [:]
    /// The newest version of each record that is being stored.
    private var versions: [RecordId: UInt64] = [:]

    /// Whether there is room for the record of another writer.
    var hasRoom: Bool { pending.count < Self.limit }

    /// The newest version of a record that is being stored; nil if there is none.
    func version(of id: RecordId) -> UInt64? { versions[id] }

    /// Adds a record; returns false if this version is being stored already.
    mutating func add(_ record: Record, _ id: RecordId, source: Source?) -> Bool {
        let key = Key(id: id, version: record.version)
        guard pending[key] == nil else { return false }
        pending[key] = Pending(record: record, sources: source.map { [$0] } ?? [])
        versions[id] = max(versions[id] ?? 0, record.version)
        return true
    }

    /// Adds a member that sent the same version; returns false if too many wait.
    mutating func join(_ id: RecordId, version: UInt64, _ source: Source) -> Bool {
        let key = Key(id: id, version: version)
        guard let count = pending[key]?.sources.count, count < Self.sourceLimit else { return false }
        pending[key]?.sources.append(source)
        return true
    }

    /// Removes and returns a record of which the disk has reported the outcome.
    mutating func take(_ id: RecordId, version: UInt64) -> (record: Record, sources: [Source])? {
        guard let done = pending.removeValue(forKey: Key(id: id, version: version)) else { return nil }
        if versions[id] == version { versions[id] = nil }
        return (done.record, done.sources)
    }
}
