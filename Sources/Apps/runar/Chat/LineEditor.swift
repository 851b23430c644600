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

    var text: String { String(self.characters) }

    /// Empties the text and returns it.
    mutating func take() -> String {
        defer { (self.characters, self.cursor) = ([], 0) }
        return self.text
    }

    /// Applies a key; returns false for one that edits nothing.
    mutating func apply(_ key: Key) -> Bool {
        switch key {
        case .character(let character): self.insert([character])
        case .paste(let text): self.insert(Array(text))
        case .newline: self.insert(["\n"])
        case .backspace: self.remove(from: self.cursor - 1, to: self.cursor)
        case .delete: self.remove(from: self.cursor, to: self.cursor + 1)
        case .left: self.cursor = max(0, self.cursor - 1)
        case .right: self.cursor = min(self.characters.count, self.cursor + 1)
        case .home, .control("a"): self.cursor = 0
        case .end, .control("e"): self.cursor = self.characters.count
        case .control("k"): self.remove(from: self.cursor, to: self.characters.count)
        case .control("u"): self.remove(from: 0, to: self.cursor)
        case .control("w"): self.remove(from: self.wordStart, to: self.cursor)
        case .enter, .up, .down, .pageUp, .pageDown, .escape, .control: return false
        }
        return true
    }

    private mutating func insert(_ new: [Character]) {
        let room = self.byteLimit - self.text.utf8.count
        var (count, size) = (0, 0)
        while count < new.count, size + new[count].utf8.count <= room {
            size += new[count].utf8.count
            count += 1
        }
        self.characters.insert(contentsOf: new.prefix(count), at: self.cursor)
        self.cursor += count
    }

    private mutating func remove(from start: Int, to end: Int) {
        let range = max(0, start)..<min(self.characters.count, end)
        guard start < end, !range.isEmpty else { return }
        self.characters.removeSubrange(range)
        self.cursor = range.lowerBound
    }

    /// The beginning of the word before the cursor.
    private var wordStart: Int {
        var start = self.cursor
        while start > 0, self.characters[start - 1].isWhitespace { start -= 1 }
        while start > 0, !self.characters[start - 1].isWhitespace { start -= 1 }
        return start
    }
}
