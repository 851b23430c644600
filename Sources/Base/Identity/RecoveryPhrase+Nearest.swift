extension RecoveryPhrase {
    /// The longest typed word that is compared; the longest words of the list have eight letters.
    private static let maximumTypedCount = 16
    /// More slips than this and a suggestion would be a guess.
    private static let maximumDistance = 3

    /// The word of the list that takes the fewest slips to become `word`; nil when none is near.
    ///
    /// Among equally near words, the one that begins alike wins, since the first letters are what people copy best.
    static func nearestWord(to word: String) -> String? {
        let typed = Array(word.unicodeScalars)
        guard (1...maximumTypedCount).contains(typed.count) else { return nil }
        var best: (word: String, distance: Int, shared: Int)?
        for candidate in wordList {
            let letters = Array(candidate.unicodeScalars)
            let distance = distance(typed, letters)
            let shared = zip(typed, letters).prefix { $0 == $1 }.count
            if let best, (best.distance, -best.shared) <= (distance, -shared) { continue }
            best = (candidate, distance, shared)
        }
        guard let best, best.distance <= maximumDistance, best.distance < typed.count else { return nil }
        return best.word
    }

    /// Returns the number of letters left out, added, changed or swapped with their neighbour (optimal string
    /// alignment).
    private static func distance(_ left: [Unicode.Scalar], _ right: [Unicode.Scalar]) -> Int {
        var beforePrevious: [Int] = []
        var previous = Array(0...right.count)
        for row in 0..<left.count {
            var current = [row + 1]
            for column in 0..<right.count {
                var cost = previous[column] + (left[row] == right[column] ? 0 : 1)
                cost = min(cost, previous[column + 1] + 1, current[column] + 1)
                if row > 0, column > 0, left[row] == right[column - 1], left[row - 1] == right[column] {
                    cost = min(cost, beforePrevious[column - 1] + 1)
                }
                current.append(cost)
            }
            beforePrevious = previous
            previous = current
        }
        return previous[right.count]
    }
}
