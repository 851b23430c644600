internal import NodeModel
internal import NodeService

/// A conversation on a terminal, as a value without I/O.
///
/// ``handle(_:)`` takes keys, changes of the window and updates of the node, and returns the effects to perform.
struct ChatScreen {
    enum Input: Sendable {
        case key(Key)
        case resized(columns: Int, lines: Int)
        case circle(CircleReport)
        case thought(ThoughtReport)
        /// A thought of this device's person as it was stored; a later state may have arrived before.
        case said(ThoughtReport)
        /// Older thoughts, the newest first; none if there are none.
        case older([ThoughtReport])
        case found([ThoughtReport])
        /// Something that the person asked for did not work.
        case failed(String)
        /// A text that could not be sent, which is restored in the input line.
        case notSent(String, why: String)
    }

    enum Effect: Hashable, Sendable {
        case send(String)
        /// Send the file at a path.
        case sendFile(String)
        case loadOlder(before: UInt64)
        case search(String)
        case noteOpened(from: UInt64, to: UInt64)
        case end
    }

    /// The search in the conversation.
    struct Search {
        var editor = LineEditor(byteLimit: 1_024)
        /// The thoughts that were found, the oldest first; nil before a search.
        var found: [ThoughtReport]?
    }

    static let textLimit = 192 * 1_024
    /// The smallest window in which something is drawn.
    static let (fewestColumns, fewestLines) = (20, 4)

    /// The other person; nil in a stream.
    private(set) var person: PersonReport?
    /// The stream; nil in the conversation with a person.
    private(set) var stream: StreamReport?
    private(set) var thoughts: [ThoughtReport] = []
    private(set) var editor = LineEditor(byteLimit: textLimit)
    private(set) var search: Search?
    private(set) var notice: String?
    private(set) var (columns, lines): (Int, Int)
    /// The lines between the end of the conversation and the bottom of the window.
    private(set) var scroll = 0
    private(set) var hasAll = false
    private var isLoading = false
    /// The last thought of another person that was noted as seen.
    private var lastOpened: UInt64 = 0

    init(_ report: ThoughtsReport, columns: Int, lines: Int) {
        self.person = report.person
        self.stream = report.stream
        self.thoughts = report.thoughts.reversed()
        (self.columns, self.lines) = (columns, lines)
    }

    /// Returns the first effects.
    mutating func start() -> [Effect] { self.noteOpened() }

    mutating func handle(_ input: Input) -> [Effect] {
        switch input {
        case .key(let key): return self.press(key)
        case .resized(let columns, let lines):
            (self.columns, self.lines) = (columns, lines)
            self.scrollBy(0)
        case .circle(let report):
            if let person = report.people.first(where: { $0.personId == self.person?.personId }) {
                self.person = person
            }
            if let stream = report.streams.first(where: { $0.streamId == self.stream?.streamId }) {
                self.stream = stream
            }
        case .said(let thought):
            if !self.thoughts.contains(where: { $0.number == thought.number }) { self.add(thought) }
        case .thought(let thought):
            self.add(thought)
            return self.noteOpened()
        case .older(let older):
            self.isLoading = false
            self.hasAll = older.isEmpty
            let first = self.thoughts.first?.number ?? .max
            self.thoughts.insert(contentsOf: older.reversed().filter { $0.number < first }, at: 0)
        case .found(let found): self.search?.found = found.reversed()
        case .failed(let why):
            self.isLoading = false
            self.notice = why
        case .notSent(let text, let why):
            self.notice = why
            let typed = self.editor.take()
            _ = self.editor.apply(.paste(typed.isEmpty ? text : "\(text) \(typed)"))
        }
        return []
    }

    /// Adds a thought at its place, or replaces it with its new state.
    private mutating func add(_ thought: ThoughtReport) {
        if let place = self.thoughts.lastIndex(where: { $0.number == thought.number }) {
            self.thoughts[place] = thought
        } else {
            let place = (self.thoughts.lastIndex { $0.number < thought.number } ?? -1) + 1
            // An older one that is not loaded arrives when the person scrolls to it.
            guard place > 0 || self.hasAll || self.thoughts.isEmpty else { return }
            self.thoughts.insert(thought, at: place)
        }
    }

    private mutating func noteOpened() -> [Effect] {
        let unseen = self.thoughts.filter { !$0.own && $0.number > self.lastOpened }
        guard let first = unseen.first, let last = unseen.last else { return [] }
        self.lastOpened = last.number
        return [.noteOpened(from: first.number, to: last.number)]
    }

    // MARK: Keys

    private mutating func press(_ key: Key) -> [Effect] {
        self.notice = nil
        switch key {
        case .control("c"): return [.end]
        case .control("d") where self.editor.characters.isEmpty && self.search == nil: return [.end]
        case .control("f"):
            self.search = self.search ?? Search()
            self.scroll = 0
        case .escape:
            self.search = nil
            self.scroll = 0
        case .enter: return self.enter()
        case .up: return self.scrollBy(1)
        case .down: return self.scrollBy(-1)
        case .pageUp: return self.scrollBy(self.bodyLines)
        case .pageDown: return self.scrollBy(-self.bodyLines)
        case .character, .paste, .newline, .backspace, .delete, .left, .right, .home, .end, .control:
            if self.search != nil {
                _ = self.search?.editor.apply(key == .newline ? .character(" ") : key)
            } else {
                _ = self.editor.apply(key)
            }
        }
        return []
    }

    private mutating func enter() -> [Effect] {
        self.scroll = 0
        if let search = self.search {
            let text = search.editor.text
            return text.isEmpty ? [] : [.search(text)]
        }
        guard self.editor.characters.contains(where: { !$0.isWhitespace }) else { return [] }
        if let reason = self.stream?.reasonForSilence {
            self.notice = reason
            return []
        }
        switch ChatCommand(self.editor.text) {
        case .text: return [.send(self.editor.take())]
        case .literal(let text):
            _ = self.editor.take()
            return [.send(text)]
        case .send(let path) where path.isEmpty: self.notice = "write the path of a file after /send"
        case .send(let path):
            _ = self.editor.take()
            return [.sendFile(path)]
        case .help:
            _ = self.editor.take()
            self.notice = ChatCommand.helpText
        case .unknown(let word):
            self.notice = "there is no command \(word). \(ChatCommand.helpText)"
        }
        return []
    }

    /// Scrolls towards the past, and asks for older thoughts at its end.
    @discardableResult
    private mutating func scrollBy(_ count: Int) -> [Effect] {
        let most = max(0, self.conversation.count - self.bodyLines)
        let wanted = self.scroll + count
        self.scroll = min(max(0, wanted), most)
        guard wanted > most, self.search == nil, !self.hasAll, !self.isLoading, let first = self.thoughts.first else {
            return []
        }
        self.isLoading = true
        return [.loadOlder(before: first.number)]
    }
}
