internal import DequeModule

/// Bytes in the order of their arrival, stored in the pieces in which they arrived.
package struct ByteQueue: Sendable {
    private var pieces: Deque<ArraySlice<UInt8>> = []

    /// The number of waiting bytes.
    package private(set) var count = 0

    /// Creates an empty queue.
    package init() {}

    /// Adds `bytes` at the end.
    package mutating func append(_ bytes: [UInt8]) {
        guard !bytes.isEmpty else { return }
        pieces.append(bytes[...])
        count += bytes.count
    }

    /// Takes up to `maximum` bytes from the front, across pieces.
    package mutating func take(atMost maximum: Int) -> [UInt8] {
        guard let first = pieces.first, maximum > 0 else { return [] }
        if first.count <= maximum, pieces.count == 1 || first.count == maximum {
            pieces.removeFirst()
            count -= first.count
            return Array(first)
        }
        var taken: [UInt8] = []
        taken.reserveCapacity(min(maximum, count))
        while taken.count < maximum, let piece = pieces.popFirst() {
            let share = piece.prefix(maximum - taken.count)
            taken.append(contentsOf: share)
            if share.count < piece.count { pieces.prepend(piece.dropFirst(share.count)) }
        }
        count -= taken.count
        return taken
    }

    /// Removes all bytes and returns their number.
    package mutating func removeAll() -> Int {
        defer {
            pieces = []
            count = 0
        }
        return count
    }
}
