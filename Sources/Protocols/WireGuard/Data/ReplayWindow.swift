/// The counters that one session has received: a window behind the largest one, as a ring of words (RFC 6479).
struct ReplayWindow: Sendable {
    /// The counters behind the largest one that are distinguished.
    static let size: UInt64 = 8192

    /// The window needs one word more than its size: the word that the largest counter is in is only partly used.
    private static let wordCount = size / 64 + 1

    /// Empty until the first counter.
    private var words: [UInt64] = []
    private var largest: UInt64 = 0

    /// Whether no counter was received.
    var isUnused: Bool { words.isEmpty }

    /// Whether a counter is larger than all received ones.
    func isNewest(_ counter: UInt64) -> Bool { words.isEmpty || counter > largest }

    /// Whether a packet with this counter is neither a repetition nor too old; the window stays as it is.
    func accepts(_ counter: UInt64) -> Bool {
        guard counter < Constants.rejectAfterMessages else { return false }
        guard !words.isEmpty, counter <= largest else { return true }
        guard largest - counter < Self.size else { return false }
        return words[Self.index(counter)] & Self.bit(counter) == 0
    }

    /// Marks a counter as received; returns false, without a change, if it is a repetition or too old.
    mutating func receive(_ counter: UInt64) -> Bool {
        guard accepts(counter) else { return false }
        if words.isEmpty { words = Array(repeating: 0, count: Int(Self.wordCount)) }
        if counter > largest {
            let passed = min(counter >> 6 - largest >> 6, Self.wordCount)
            let first = largest >> 6 + 1
            for word in first..<first + passed { words[Int(word % Self.wordCount)] = 0 }
            largest = counter
        }
        words[Self.index(counter)] |= Self.bit(counter)
        return true
    }

    private static func index(_ counter: UInt64) -> Int { Int((counter >> 6) % wordCount) }
    private static func bit(_ counter: UInt64) -> UInt64 { 1 << (counter & 63) }
}
