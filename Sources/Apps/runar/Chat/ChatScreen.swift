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
        person = report.person
        stream = report.stream
        thoughts = report.thoughts.reversed()
        (self.columns, self.lines) = (columns, lines)
    }

    /// Returns the first effects.
    mutating func start() -> [Effect] { noteOpened() }

    mutating func handle(_ input: Input) -> [Effect] {
        switch input {
        case .key(let key): return press(key)
        case .resized(let columns, let lines):
            (self.columns, self.lines) = (columns, lines)
            scrollBy(0)
        case .circle(let report):
            if let person = report.people.first(where: { $0.personId == self.person?.personId }) {
                self.person = person
            }
            if let stream = report.streams.first(where: { $0.streamId == self.stream?.streamId }) {
                self.stream = stream
            }
        case .said(let thought):
            if !thoughts.contains(where: { $0.number == thought.number }) { add(thought) }
        case .thought(let thought):
            add(thought)
            return noteOpened()
        case .older(let older):
            isLoading = false
            hasAll = older.isEmpty
            let first = thoughts.first?.number ?? .max
            thoughts.insert(contentsOf: older.reversed().filter { $0.number < first }, at: 0)
        case .found(let found): search?.found = found.reversed()
        case .failed(let why):
            isLoading = false
            notice = why
        case .notSent(let text, let why):
            notice = why
            let typed = editor.take()
            _ = editor.apply(.paste(typed.isEmpty ? text : "\(text) \(typed)"))
        }
        return []
    }

    /// Adds a thought at its place, or replaces it with its new state.
    private mutating func add(_ thought: ThoughtReport) {
        if let place = thoughts.lastIndex(where: { $0.number == thought.number }) {
            thoughts[place] = thought
        } else {
            let place = (thoughts.lastIndex { $0.number < thought.number } ?? -1) + 1
            // An older one that is not loaded arrives when the person scrolls to it.
            guard place > 0 || hasAll || thoughts.isEmpty else { return }
            thoughts.insert(thought, at: place)
        }
    }

    private mutating func noteOpened() -> [Effect] {
        let unseen = thoughts.filter { !$0.own && $0.number > lastOpened }
        guard let first = unseen.first, let last = unseen.last else { return [] }
        lastOpened = last.number
        return [.noteOpened(from: first.number, to: last.number)]
    }

    // MARK: Keys

    private mutating func press(_ key: Key) -> [Effect] {
        notice = nil
        switch key {
        case .control("c"): return [.end]
        case .control("d") where editor.characters.isEmpty && search == nil: return [.end]
        case .control("f"):
            search = search ?? Search()
            scroll = 0
        case .escape:
            search = nil
            scroll = 0
        case .enter: return enter()
        case .up: return scrollBy(1)
        case .down: return scrollBy(-1)
        case .pageUp: return scrollBy(bodyLines)
        case .pageDown: return scrollBy(-bodyLines)
        case .character, .paste, .newline, .backspace, .delete, .left, .right, .home, .end, .control:
            if search != nil {
                _ = search?.editor.apply(key == .newline ? .character(" ") : key)
            } else {
                _ = editor.apply(key)
            }
        }
        return []
    }

    private mutating func enter() -> [Effect] {
        scroll = 0
        if let search {
            let text = search.editor.text
            return text.isEmpty ? [] : [.search(text)]
        }
        guard editor.characters.contains(where: { !$0.isWhitespace }) else { return [] }
        if let reason = stream?.reasonForSilence {
            notice = reason
            return []
        }
        switch ChatCommand(editor.text) {
        case .text: return [.send(editor.take())]
        case .literal(let text):
            _ = editor.take()
            return [.send(text)]
        case .send(let path) where path.isEmpty: notice = "write the path of a file after /send"
        case .send(let path):
            _ = editor.take()
            return [.sendFile(path)]
        case .help:
            _ = editor.take()
            notice = ChatCommand.helpText
        case .unknown(let word):
            notice = "there is no command \(word). \(ChatCommand.helpText)"
        }
        return []
    }

    /// Scrolls towards the past, and asks for older thoughts at its end.
    @discardableResult
    private mutating func scrollBy(_ count: Int) -> [Effect] {
        let most = max(0, conversation.count - bodyLines)
        let wanted = scroll + count
        scroll = min(max(0, wanted), most)
        guard wanted > most, search == nil, !hasAll, !isLoading, let first = thoughts.first else { return [] }
        isLoading = true
        return [.loadOlder(before: first.number)]
    }
}
