internal import Concurrency
internal import Essentials
internal import Identity
internal import Kademlia
internal import Node

/// The latest answers of one service's cacheable actions, by `action:argument`.
final class AnswerCache: Sendable {
    fileprivate struct Entry: Sendable {
        let answer: EncodedAnswer
        let expiry: Duration
    }

    /// The key of a request.
    struct Key: Sendable {
        /// As it is written where keys are deleted or revoked.
        let text: String
        /// Whether the argument is a text, which may be spelt like another value.
        let hasTextArgument: Bool
    }

    /// The properties that distinguish answers under one key.
    fileprivate struct Form: Hashable, Sendable {
        let encoding: PayloadEncoding
        let hasTextArgument: Bool
    }

    fileprivate struct State: Sendable {
        /// By the text of the key.
        var entries: [String: [Form: Entry]] = [:]
        var byteCount = 0
        /// The number of invalidations.
        var generation: UInt64 = 0
    }

    /// The most bytes of keys and answers; when there are more, all are forgotten.
    private static let byteLimit = 16 << 20
    /// The longest argument that is part of a key, in bytes; answers to longer ones are not kept.
    private static let argumentLimit = 1024

    private let state = Locked(State())
    private let clock: NodeClock

    init(_ clock: NodeClock) {
        self.clock = clock
    }

    /// The key of a request: the action, a colon, and the payload as JSON, a text without its quotes; nil when it is too
    /// long or no value.
    static func key(of request: RunarRequest) -> Key? {
        let action = request.path.drop { $0 != "/" }.dropFirst()
        guard request.payload.count <= argumentLimit else { return nil }
        guard !request.payload.isEmpty else { return Key(text: "\(action):", hasTextArgument: false) }
        guard let encoding = request.encoding,
            let value = try? encoding.decode(RunarValue.self, from: request.payload)  // the handler reports the error
        else { return nil }
        let isText = if case .string = value { true } else { false }
        return value.argument.map { Key(text: "\(action):\($0)", hasTextArgument: isText) }
    }

    func answer(_ key: Key?, in encoding: PayloadEncoding) -> EncodedAnswer? {
        guard let key else { return nil }
        let form = Form(encoding: encoding, hasTextArgument: key.hasTextArgument)
        let now = clock.now().monotonic
        return state.withLock { state in
            guard let entry = state.entries[key.text]?[form] else { return nil }
            guard entry.expiry > now else {
                state.remove(key.text)
                return nil
            }
            return entry.answer
        }
    }

    /// The number of invalidations; `insert` ignores an answer that was begun before the latest one.
    var generation: UInt64 { state.withLock { $0.generation } }

    /// Stores an answer, unless an entry was removed while it was computed: it may depend on outdated data.
    func insert(
        _ answer: EncodedAnswer,
        _ key: Key?,
        in encoding: PayloadEncoding,
        age: Duration,
        unlessForgottenSince generation: UInt64
    ) {
        guard let key else { return }
        let form = Form(encoding: encoding, hasTextArgument: key.hasTextArgument)
        let entry = Entry(answer: answer, expiry: clock.now().monotonic + age)
        state.withLock { state in
            let byteCount = key.text.utf8.count + answer.bytes.count
            guard byteCount <= Self.byteLimit, state.generation == generation else { return }
            if state.byteCount + byteCount > Self.byteLimit { state = State(generation: generation) }
            state.entries[key.text, default: [:]][form] = entry
            state.byteCount += byteCount
        }
    }

    func clear() { state.withLock { $0 = State(generation: $0.generation + 1) } }

    /// Forgets one key; one without a colon is that of an action without an argument.
    func delete(_ key: String) {
        state.withLock { state in
            state.generation += 1
            state.remove(key.contains(":") ? key : "\(key):")
        }
    }

    /// Removes the keys that match `pattern`, in which `*` matches any characters; returns their number.
    func revoke(matching pattern: String) -> Int {
        let pattern = Array(pattern.utf8)
        return state.withLock { state in
            let keys = state.entries.keys.filter { RecordCache.matches(Array($0.utf8), pattern) }
            state.generation += 1
            for key in keys { state.remove(key) }
            return keys.count
        }
    }
}

extension AnswerCache.State {
    fileprivate mutating func remove(_ key: String) {
        guard let found = entries.removeValue(forKey: key) else { return }
        for entry in found.values { byteCount -= key.utf8.count + entry.answer.bytes.count }
    }
}

extension RunarValue {
    private static let encoder: JSONEncoder = {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return encoder
    }()

    /// The value in the form of a cached answer's key.
    fileprivate var argument: String? {
        if case .string(let text) = self { return text }
        guard let bytes = try? Self.encoder.encode(self) else { return nil }  // not a number, for example
        return String(decoding: bytes, as: UTF8.self)
    }
}
