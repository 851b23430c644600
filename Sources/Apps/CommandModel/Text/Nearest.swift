/// The search for the name that a person probably meant.
package enum Nearest {
    /// The name with the fewest edits to `word`.
    package static func name(to word: String, among names: [String]) -> String? {
        names.min { distance($0, word) < distance($1, word) }
    }

    /// The nearest name if `word` may be a slip of it: one edit, or one for each `letters` letters.
    package static func likelyName(for word: String, among names: [String], editPer letters: Int = 3) -> String? {
        name(to: word, among: names).flatMap { distance($0, word) <= max(1, word.count / letters) ? $0 : nil }
    }

    /// Insertions, deletions and replacements of letters (Levenshtein), whatever the case.
    package static func distance(_ left: String, _ right: String) -> Int {
        let left = Array(left.lowercased().utf8.prefix(64))
        let right = Array(right.lowercased().utf8.prefix(64))
        var row = Array(0...right.count)
        for (line, byte) in left.enumerated() {
            var diagonal = row[0]
            row[0] = line + 1
            for (column, other) in right.enumerated() {
                let above = row[column + 1]
                row[column + 1] = min(above + 1, row[column] + 1, diagonal + (byte == other ? 0 : 1))
                diagonal = above
            }
        }
        return row[right.count]
    }
}
