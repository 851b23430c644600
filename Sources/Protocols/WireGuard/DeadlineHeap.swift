/// The next deadline of each peer, as a binary heap with one entry a peer: each change costs O(log n).
struct DeadlineHeap: Sendable {
    private struct Entry: Sendable {
        var deadline: Duration
        var peer: Int
    }

    private var entries: [Entry] = []
    /// The place of each peer's entry, or -1.
    private var places: [Int32] = []

    /// The earliest deadline.
    var first: Duration? { entries.first?.deadline }

    /// Returns the deadline of a peer.
    func deadline(of peer: Int) -> Duration? { place(of: peer).map { entries[$0].deadline } }

    /// Sets the deadline of a peer unless it has an earlier one.
    mutating func advance(_ peer: Int, to deadline: Duration) {
        guard let place = place(of: peer) else {
            while places.count <= peer { places.append(-1) }
            places[peer] = Int32(entries.count)
            entries.append(Entry(deadline: deadline, peer: peer))
            raise(entries.count - 1)
            return
        }
        guard deadline < entries[place].deadline else { return }
        entries[place].deadline = deadline
        raise(place)
    }

    /// Removes and returns the peer with the earliest deadline if that is at most `now`.
    mutating func popFirst(at now: Duration) -> Int? {
        guard let first = entries.first, first.deadline <= now else { return nil }
        remove(first.peer)
        return first.peer
    }

    /// Removes a peer's deadline.
    mutating func remove(_ peer: Int) {
        guard let place = place(of: peer) else { return }
        places[peer] = -1
        let moved = entries.removeLast()
        guard place < entries.count else { return }
        entries[place] = moved
        places[moved.peer] = Int32(place)
        raise(place)
        lower(Int(places[moved.peer]))
    }

    private func place(of peer: Int) -> Int? {
        guard peer < places.count, places[peer] >= 0 else { return nil }
        return Int(places[peer])
    }

    private mutating func raise(_ start: Int) {
        var place = start
        while place > 0, entries[place].deadline < entries[(place - 1) / 2].deadline {
            swap(place, (place - 1) / 2)
            place = (place - 1) / 2
        }
    }

    private mutating func lower(_ start: Int) {
        var place = start
        while true {
            var least = place
            for child in [2 * place + 1, 2 * place + 2]
            where child < entries.count && entries[child].deadline < entries[least].deadline {
                least = child
            }
            guard least != place else { return }
            swap(place, least)
            place = least
        }
    }

    private mutating func swap(_ one: Int, _ other: Int) {
        entries.swapAt(one, other)
        places[entries[one].peer] = Int32(one)
        places[entries[other].peer] = Int32(other)
    }
}
