internal import Bytes
internal import Identity

/// The fields of one object of a scenario; a field that the parser does not ask for is a mistake.
struct ScenarioFields {
    /// A scenario of a thousand steps fits well.
    static let limits = JSONLimits(byteCount: Scenario.byteLimit, fieldCount: 4096, depth: 12)

    private let path: String
    private let fields: [JSONField]
    private var asked: Set<String> = []

    init(_ value: JSONValue, path: String) throws(ScenarioError) {
        guard case .object(let fields) = value else { throw .invalid(path: path, reason: "must be an object") }
        self.path = path
        self.fields = fields
    }

    init(text: [UInt8]) throws(ScenarioError) {
        do throws(JSONProblem) {
            fields = try JSONValue.fields(of: text, limits: Self.limits)
        } catch {
            throw .unreadable(reason: error.description)
        }
        path = ""
    }

    /// The names of the fields, in the order of the text.
    var names: [String] { fields.map(\.name) }

    /// The way to a field, for errors.
    func path(to name: String) -> String { path.isEmpty ? name : "\(path).\(name)" }

    /// The value of an optional field.
    mutating func value(_ name: String) -> JSONValue? {
        asked.insert(name)
        return fields.first { $0.name == name }?.value
    }

    /// Refuses fields that the parser did not ask for.
    func finish() throws(ScenarioError) {
        guard let unknown = names.first(where: { !asked.contains($0) }) else { return }
        let known = asked.sorted().joined(separator: ", ")
        throw .invalid(path: path(to: unknown), reason: "is not a field here; there are \(known)")
    }

    /// Reads the object in a field with `body`, which must ask for all of its fields.
    mutating func object<Value>(
        _ name: String,
        _ body: (inout ScenarioFields) throws(ScenarioError) -> Value
    ) throws(ScenarioError) -> Value? {
        guard let value = self.value(name) else { return nil }
        return try Self.read(value, path: path(to: name), body)
    }

    /// Reads the objects in a field with `body`; none if the field is missing.
    mutating func objects<Value>(
        _ name: String,
        _ body: (inout ScenarioFields) throws(ScenarioError) -> Value
    ) throws(ScenarioError) -> [Value] {
        guard let value = self.value(name) else { return [] }
        guard case .array(let elements) = value else {
            throw .invalid(path: path(to: name), reason: "must be an array of objects")
        }
        var values: [Value] = []
        for (index, element) in elements.enumerated() {
            values.append(try Self.read(element, path: "\(path(to: name))[\(index)]", body))
        }
        return values
    }

    private static func read<Value>(
        _ value: JSONValue,
        path: String,
        _ body: (inout ScenarioFields) throws(ScenarioError) -> Value
    ) throws(ScenarioError) -> Value {
        var fields = try ScenarioFields(value, path: path)
        let result = try body(&fields)
        try fields.finish()
        return result
    }
}

// MARK: - Kinds of values

extension ScenarioFields {
    /// A text, required unless there is a `fallback`.
    mutating func text(_ name: String) throws(ScenarioError) -> String {
        guard case .string(let text)? = value(name), !text.isEmpty else {
            throw .invalid(path: path(to: name), reason: "must be a text")
        }
        return text
    }

    /// One of the words of an enumeration.
    mutating func word<Word: RawRepresentable & CaseIterable>(
        _ name: String,
        or fallback: Word?
    ) throws(ScenarioError) -> Word where Word.RawValue == String {
        let value = self.value(name)
        if value == nil, let fallback { return fallback }
        guard case .string(let text)? = value, let word = Word(rawValue: text) else {
            let words = Word.allCases.map { "\"\($0.rawValue)\"" }.joined(separator: ", ")
            throw .invalid(path: path(to: name), reason: "must be one of \(words)")
        }
        return word
    }

    /// A whole number within bounds.
    mutating func count(
        _ name: String,
        in range: ClosedRange<Int>,
        or fallback: Int? = nil
    ) throws(ScenarioError) -> Int {
        let value = self.value(name)
        if value == nil, let fallback { return fallback }
        guard case .integer(let number)? = value, let count = Int(exactly: number), range.contains(count) else {
            let reason = "must be a whole number from \(range.lowerBound) to \(range.upperBound)"
            throw .invalid(path: path(to: name), reason: reason)
        }
        return count
    }

    /// A number from 0 to 1.
    mutating func share(_ name: String, or fallback: Double? = nil) throws(ScenarioError) -> Double {
        let value = self.value(name)
        if value == nil, let fallback { return fallback }
        guard let share = value.flatMap(Self.number), (0...1).contains(share) else {
            throw .invalid(path: path(to: name), reason: "must be a number from 0 to 1")
        }
        return share
    }

    /// Any number.
    mutating func number(_ name: String) throws(ScenarioError) -> Double {
        guard let number = value(name).flatMap(Self.number), number.isFinite else {
            throw .invalid(path: path(to: name), reason: "must be a number")
        }
        return number
    }

    static func number(_ value: JSONValue) -> Double? {
        switch value {
        case .integer(let number): Double(number)
        case .number(let text): Double(text)
        default: nil
        }
    }

    mutating func flag(_ name: String) throws(ScenarioError) -> Bool {
        switch value(name) {
        case nil: return false
        case .boolean(let flag): return flag
        default: throw .invalid(path: path(to: name), reason: "must be true or false")
        }
    }

    /// A span of time, as in `90s`.
    mutating func duration(_ name: String, or fallback: Duration? = nil) throws(ScenarioError) -> Duration {
        let value = self.value(name)
        if value == nil, let fallback { return fallback }
        guard let value else { throw .invalid(path: path(to: name), reason: "is missing") }
        return try Self.duration(value, path: path(to: name))
    }

    /// The longest time that a simulation can have, in nanoseconds of 64 bits, with room for timers.
    private static let longest = Duration.seconds(100 * 86_400)

    static func duration(_ value: JSONValue, path: String) throws(ScenarioError) -> Duration {
        guard case .string(let text) = value else {
            throw .invalid(path: path, reason: "must be a duration, as in \"90s\"")
        }
        let duration: Duration
        do throws(DurationTextError) {
            duration = try DurationText.parse(text)
        } catch {
            throw .invalid(path: path, reason: "cannot be used: \(error)")
        }
        guard duration <= longest else {
            throw .invalid(path: path, reason: "is longer than a hundred days")
        }
        return duration
    }

    /// Two spans of time, the shorter first.
    mutating func range(_ name: String) throws(ScenarioError) -> (Duration, Duration)? {
        guard let value = self.value(name) else { return nil }
        let path = self.path(to: name)
        guard case .array(let pair) = value, pair.count == 2 else {
            throw .invalid(path: path, reason: "must be two durations, as in [\"20ms\", \"200ms\"]")
        }
        let (low, high) = (try Self.duration(pair[0], path: path), try Self.duration(pair[1], path: path))
        guard low <= high else { throw .invalid(path: path, reason: "must have the shorter duration first") }
        return (low, high)
    }

    /// A distribution: pairs of a share and a duration.
    mutating func quantiles(_ name: String) throws(ScenarioError) -> Quantiles {
        let path = self.path(to: name)
        let reason = "must be pairs that ascend from 0 to 1, as in [[0, \"1m\"], [0.5, \"2h\"], [1, \"9h\"]]"
        guard case .array(let pairs)? = value(name) else { throw .invalid(path: path, reason: reason) }
        var points: [Quantiles.Point] = []
        for pair in pairs {
            guard case .array(let parts) = pair, parts.count == 2, let share = Self.number(parts[0]) else {
                throw .invalid(path: path, reason: reason)
            }
            points.append(Quantiles.Point(share: share, value: try Self.duration(parts[1], path: path)))
        }
        guard let quantiles = Quantiles(points) else { throw .invalid(path: path, reason: reason) }
        return quantiles
    }
}
