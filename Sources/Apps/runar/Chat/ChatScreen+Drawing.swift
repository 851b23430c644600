internal import CircleModel
internal import CommandModel
internal import Foundation
internal import NodeModel
internal import NodeService
internal import Platform

// The lines of the window: a head, the conversation, a notice, and the text that is being written.
extension ChatScreen {
    /// The content of the window.
    struct Drawing: Hashable {
        /// As many as the window has, without line ends; texts from the node are escaped.
        var lines: [String]
        /// The place of the cursor, from 1.
        var (row, column): (Int, Int)
    }

    private enum Style {
        static let plain = "\u{1B}[0m"
        static let reverse = "\u{1B}[7m"
        static let dim = "\u{1B}[2m"
    }

    /// The most lines of a notice, which may explain a failure.
    private static let mostNoteLines = 4

    /// The lines for the conversation.
    var bodyLines: Int { max(1, lines - 2 - notes.count) }

    func draw() -> Drawing {
        guard columns >= Self.fewestColumns, lines >= Self.fewestLines else {
            let line = TextColumns.cut("too small", columns: max(1, columns))
            let rest = Array(repeating: "", count: max(0, lines - 1))
            return Drawing(lines: [line] + rest, row: 1, column: 1)
        }
        let end = conversation.count - scroll
        let shown = conversation[max(0, end - bodyLines)..<max(0, end)]
        let empty = Array(repeating: "", count: bodyLines - shown.count)
        let (input, column) = self.input
        return Drawing(lines: [head] + empty + shown + notes + [input], row: lines, column: column)
    }

    private var head: String {
        let left = " \(title)"
        let right = "Ctrl-F searches, Ctrl-C ends "
        let space = columns - TextColumns.count(of: left) - TextColumns.count(of: right)
        let line = space > 0 ? left + String(repeating: " ", count: space) + right : left
        let cut = TextColumns.cut(line, columns: columns)
        let padding = String(repeating: " ", count: max(0, columns - TextColumns.count(of: cut)))
        return Style.reverse + cut + padding + Style.plain
    }

    /// The name of the conversation, and its state.
    private var title: String {
        if let stream { return "\(Terminal.escaped(stream.name))  \(Terminal.escaped(stream.summary))" }
        guard let person else { return "" }
        let state = person.trust == .trusted ? person.verified ? "verified" : "not verified" : person.trust.rawValue
        let keys = person.keysLeft
        return "\(Terminal.escaped(person.name))  \(state), \(keys) key\(keys == 1 ? "" : "s") left"
    }

    /// All lines of the conversation, or of the search results.
    var conversation: [String] {
        let shown = search?.found ?? thoughts
        var lines: [String] = []
        var day = ""
        for thought in shown {
            let time = LocalTime(seconds: thought.createdAt / 1_000)
            if time.day != day {
                day = time.day
                lines.append(Style.dim + TextColumns.cut("--- \(day) ---", columns: columns) + Style.plain)
            }
            lines += self.lines(of: thought, at: time.clock)
        }
        return lines
    }

    private func lines(of thought: ThoughtReport, at clock: String) -> [String] {
        let name = thought.own ? "you" : Terminal.escaped(person?.name ?? thought.creator, limit: 16)
        let indent = "      "
        var lines = TextColumns.wrap(thought.words, columns: columns - indent.count).map { indent + $0 }
        let progress = thought.progress.map { "  \(Style.dim)(\($0))\(Style.plain)" } ?? ""
        let title = TextColumns.cut("\(name)", columns: columns - indent.count)
        lines.insert("\(Style.dim)\(clock)\(Style.plain) \(title)\(progress)", at: 0)
        return lines
    }

    /// The notice, at least one line.
    private var notes: [String] {
        let text =
            if let notice {
                "! \(notice)"
            } else if let search {
                search.found.map { "\($0.count) found; Esc returns" } ?? "Return searches, Esc returns"
            } else {
                scroll > 0 ? "\(scroll) lines below" : ""
            }
        let room = min(Self.mostNoteLines, max(1, lines - 3))
        let wrapped = TextColumns.wrap(text, columns: columns).prefix(room)
        return (wrapped.isEmpty ? [""] : wrapped).map { Style.dim + $0 + Style.plain }
    }

    /// The line in which the person writes, and the column of the cursor.
    private var input: (String, Int) {
        let (prompt, editor) = search.map { ("search: ", $0.editor) } ?? ("> ", self.editor)
        // A line end is shown as a sign of one column.
        let characters = editor.characters.map { $0 == "\n" ? "\u{23CE}" : $0 }
        let room = columns - prompt.count - 1
        var first = editor.cursor
        var width = 0
        while first > 0 {
            width += TextColumns.count(of: characters[first - 1])
            guard width <= room else { break }
            first -= 1
        }
        let before = Terminal.escaped(String(characters[first..<editor.cursor]))
        let after = Terminal.escaped(String(characters[editor.cursor...].prefix(room)))
        let line = TextColumns.cut(prompt + before + after, columns: columns)
        return (line, min(columns, TextColumns.count(of: prompt + before) + 1))
    }
}
