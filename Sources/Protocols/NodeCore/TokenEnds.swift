internal import HeapModule
internal import Identity

/// The ends of the tokens that peers showed in one network, by connection.
struct TokenEnds: Sendable {
    private struct Entry: Comparable, Sendable {
        /// Since 1970.
        let seconds: UInt64
        let connection: ConnectionId

        static func < (left: Entry, right: Entry) -> Bool {
            left.seconds == right.seconds ? left.connection < right.connection : left.seconds < right.seconds
        }
    }

    /// The earliest first; an entry that differs from `byConnection` is stale.
    private var entries: Heap<Entry> = []
    /// The end of the last token on each connection, in seconds since 1970.
    private var byConnection: [ConnectionId: UInt64] = [:]

    /// The number of entries in memory, stale ones included.
    var count: Int { entries.count }

    /// The earliest end, which may be stale.
    var next: UInt64? { entries.min?.seconds }

    mutating func note(_ token: AccessToken, on id: ConnectionId) {
        guard let seconds = token.expirationSeconds else { return forget(on: id) }
        guard byConnection.updateValue(seconds, forKey: id) != seconds else { return }
        entries.insert(Entry(seconds: seconds, connection: id))
        dropStale()
    }

    /// Forgets the end of the token that a peer showed on a connection.
    mutating func forget(on id: ConnectionId) {
        if byConnection.removeValue(forKey: id) != nil { dropStale() }
    }

    /// Takes the connection of a token that has ended by `seconds`.
    mutating func takeEnded(at seconds: UInt64) -> ConnectionId? {
        while let first = entries.min, UnixTime.isPast(first.seconds, at: seconds) {
            entries.removeMin()
            guard byConnection[first.connection] == first.seconds else { continue }
            byConnection[first.connection] = nil
            return first.connection
        }
        return nil
    }

    /// Rebuilds the heap when most of it is stale, so that its size stays proportional to the live entries.
    private mutating func dropStale() {
        guard entries.count > 2 * byConnection.count + 16 else { return }
        entries = Heap(byConnection.map { Entry(seconds: $0.value, connection: $0.key) })
    }
}
