package import CommandModel
internal import Identity

/// The kind of a text, its validity, and its parts.
package struct InspectionReport {
    /// A part of an artefact.
    package struct Field: Hashable, Sendable {
        enum Value: Hashable, Sendable {
            case text(String)
            case number(UInt64)
            case answer(Bool)
            case texts([String])
            case none
        }

        let name: String
        let value: Value

        init(_ name: String, _ value: Value) {
            self.name = name
            self.value = value
        }
    }

    let kind: String
    /// Why it does not count; nil when it does.
    let problem: String?
    /// Its parts, in order; in JSON they are members next to `kind`.
    let fields: [Field]
    /// Set when it could not be read at all.
    package var failure: CommandFailure?

    package init(kind: String, problem: String?, fields: [Field]) {
        self.kind = kind
        self.problem = problem
        self.fields = fields
    }

    /// A report of a text in none of the known formats.
    package init(malformed problem: String) {
        self.init(kind: "unknown", problem: problem, fields: [])
        failure = CommandFailure("malformed", .data, problem)
    }

    /// For people.
    package var lines: [String] {
        var lines = [Self.line("kind", kind), Self.line("valid", problem == nil ? "yes" : "no")]
        if let problem { lines.append(Self.line("problem", problem)) }
        for field in fields {
            switch field.value {
            case .text(let text): lines.append(Self.line(field.name, text))
            case .number(let number): lines.append(Self.line(field.name, String(number)))
            case .answer(let answer): lines.append(Self.line(field.name, answer ? "yes" : "no"))
            case .none: lines.append(Self.line(field.name, "none"))
            case .texts(let texts): lines += texts.map { Self.line(field.name, $0) }
            }
        }
        return lines
    }

    private static func line(_ name: String, _ value: String) -> String { name.padding(to: 18) + value }
}

extension InspectionReport: Encodable {
    private struct Key: CodingKey {
        let stringValue: String
        var intValue: Int? { nil }

        init(stringValue: String) { self.stringValue = stringValue }
        init?(intValue: Int) { nil }
        init(_ name: String) { stringValue = name }
    }

    package func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: Key.self)
        try container.encode(kind, forKey: Key("kind"))
        try container.encode(problem == nil, forKey: Key("valid"))
        try container.encode(problem, forKey: Key("problem"))
        if let failure { try container.encode(failure, forKey: Key("error")) }
        for field in fields {
            let key = Key(field.name)
            switch field.value {
            case .text(let text): try container.encode(text, forKey: key)
            case .number(let number): try container.encode(number, forKey: key)
            case .answer(let answer): try container.encode(answer, forKey: key)
            case .texts(let texts): try container.encode(texts, forKey: key)
            case .none: try container.encodeNil(forKey: key)
            }
        }
    }
}
