internal import Identity

/// Reports ignored datagrams with their count, each reason at most once a minute.
struct Reports: Sendable {
    private static let pause = Duration.seconds(60)

    private struct Entry: Sendable {
        var count = 0
        var quietUntil = Duration.zero
    }

    /// There are some ten reasons and 256 versions, so this is bounded.
    private var entries: [Discovery.Reason: Entry] = [:]

    /// Counts an ignored datagram; returns the report that is due, if any.
    mutating func ignored(
        _ reason: Discovery.Reason,
        from source: SocketAddress,
        at now: Duration
    ) -> Discovery.Effect? {
        var entry = entries[reason] ?? Entry()
        defer { entries[reason] = entry }
        entry.count += 1
        guard entry.quietUntil <= now else { return nil }
        defer { entry = Entry(count: 0, quietUntil: now + Self.pause) }
        return .host(.ignored(reason, from: source, count: entry.count))
    }
}
