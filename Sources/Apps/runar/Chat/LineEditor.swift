/// A text that a person edits, with the place of the cursor.
struct LineEditor: Hashable, Sendable {
    private(set) var characters: [Character] = []
    /// The number of characters before the cursor.
    private(set) var cursor = 0
    /// The most bytes of the text.
    let byteLimit: Int

    init(byteLimit: Int) {
        self.byteLimit = byteLimit
    }

    var text: String { String(characters) }

    /// Empties the text and returns it.
    mutating func take() -> String {
        defer { (characters, cursor) = ([], 0) }
        return text
    }

    /// Applies a key; returns false for one that edits nothing.
    mutating func apply(_ key: Key) -> Bool {
        switch key {
        case .character(let character): insert([character])
        case .paste(let text): insert(Array(text))
        case .newline: insert(["\n"])
        case .backspace: remove(from: cursor - 1, to: cursor)
        case .delete: remove(from: cursor, to: cursor + 1)
        case .left: cursor = max(0, cursor - 1)
        case .right: cursor = min(characters.count, cursor + 1)
        case .home, .control("a"): cursor = 0
        case .end, .control("e"): cursor = characters.count
        case .control("k"): remove(from: cursor, to: characters.count)
        case .control("u"): remove(from: 0, to: cursor)
        case .control("w"): remove(from: wordStart, to: cursor)
        case .enter, .up, .down, .pageUp, .pageDown, .escape, .control: return false
        }
        return true
    }

    private mutating func insert(_ new: [Character]) {
        let room = byteLimit - text.utf8.count
        var (count, size) = (0, 0)
        while count < new.count, size + new[count].utf8.count <= room {
            size += new[count].utf8.count
            count += 1
        }
        characters.insert(contentsOf: new.prefix(count), at: cursor)
        cursor += count
    }

    private mutating func remove(from start: Int, to end: Int) {
        let range = max(0, start)..<min(characters.count, end)
        guard start < end, !range.isEmpty else { return }
        characters.removeSubrange(range)
        cursor = range.lowerBound
    }

    /// The beginning of the word before the cursor.
    private var wordStart: Int {
        var start = cursor
        while start > 0, characters[start - 1].isWhitespace { start -= 1 }
        while start > 0, !characters[start - 1].isWhitespace { start -= 1 }
        return start
    }
}
