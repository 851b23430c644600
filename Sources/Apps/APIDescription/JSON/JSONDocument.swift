package import Identity

/// A JSON value of a description; an object is written with its names in order.
package enum JSONDocument: Hashable, Sendable {
    case null
    case boolean(Bool)
    case integer(Int64)
    /// Any other number.
    case number(Double)
    case string(String)
    case array([JSONDocument])
    case object([String: JSONDocument])

    /// More than a description needs.
    private static let limits = JSONLimits(byteCount: 16 << 20, fieldCount: 1 << 16, depth: 64)

    /// Reads a text that is one object.
    package init(_ text: [UInt8]) throws(JSONProblem) {
        self.init(.object(try JSONValue.fields(of: text, limits: Self.limits)))
    }

    private init(_ value: JSONValue) {
        switch value {
        case .object(let fields):
            let members = fields.map { ($0.name, Self($0.value)) }
            self = .object(Dictionary(members) { _, last in last })
        case .array(let elements): self = .array(elements.map { Self($0) })
        case .string(let text): self = .string(text)
        case .integer(let number): self = Int64(exactly: number).map { .integer($0) } ?? .number(Double(number))
        case .number(let text): self = Int64(text).map { .integer($0) } ?? .number(Double(text) ?? .nan)
        case .boolean(let isTrue): self = .boolean(isTrue)
        case .null: self = .null
        }
    }

    /// The text, if it is one.
    package var text: String? { if case .string(let text) = self { text } else { nil } }

    /// The elements, if it is an array.
    package var elements: [JSONDocument]? { if case .array(let elements) = self { elements } else { nil } }

    /// The members, if it is an object.
    package var members: [String: JSONDocument]? { if case .object(let members) = self { members } else { nil } }

    /// The value of a member; nil if it is no object, or has no such member.
    package subscript(_ name: String) -> JSONDocument? { members?[name] }
}

extension JSONDocument: Encodable {
    package func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        switch self {
        case .null: try container.encodeNil()
        case .boolean(let isTrue): try container.encode(isTrue)
        case .integer(let number): try container.encode(number)
        case .number(let number): try container.encode(number)
        case .string(let text): try container.encode(text)
        case .array(let elements): try container.encode(elements)
        case .object(let members): try container.encode(members)
        }
    }
}

extension JSONDocument: ExpressibleByBooleanLiteral, ExpressibleByIntegerLiteral, ExpressibleByStringLiteral,
    ExpressibleByArrayLiteral, ExpressibleByDictionaryLiteral
{
    package init(booleanLiteral value: Bool) { self = .boolean(value) }

    package init(integerLiteral value: Int64) { self = .integer(value) }

    package init(stringLiteral value: String) { self = .string(value) }

    package init(arrayLiteral elements: JSONDocument...) { self = .array(elements) }

    /// Creates an object; of two members with one name the later one counts.
    package init(dictionaryLiteral elements: (String, JSONDocument)...) {
        self = .object(Dictionary(elements) { _, last in last })
    }
}
