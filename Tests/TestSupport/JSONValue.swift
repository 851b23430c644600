/// A value of JSON, of which a test expects some fields.
package enum JSONValue: Hashable, Sendable {
    case null
    case truth(Bool)
    case number(Double)
    case text(String)
    case list([JSONValue])
    case object([String: JSONValue])

    /// Whether `found` has all fields of this value, and lists of the same elements in any order.
    package func isContained(in found: JSONValue?) -> Bool {
        switch (self, found) {
        case (.object(let fields), .object(let others)):
            fields.allSatisfy { name, value in value.isContained(in: others[name]) }
        case (.list(let elements), .list(let others)):
            Self.areContained(elements, in: others)
        case (_, nil):
            self == .null
        case (.null, _), (.truth, _), (.number, _), (.text, _), (.list, _), (.object, _):
            self == found
        }
    }

    private static func areContained(_ elements: [JSONValue], in others: [JSONValue]) -> Bool {
        var rest = others
        for element in elements {
            guard let index = rest.firstIndex(where: { element.isContained(in: $0) }) else { return false }
            rest.remove(at: index)
        }
        return rest.isEmpty
    }
}

extension JSONValue: Decodable {
    package init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        if container.decodeNil() {
            self = .null
        } else if let value = try? container.decode(Bool.self) {  // the next kind is tried
            self = .truth(value)
        } else if let value = try? container.decode(Double.self) {  // the next kind is tried
            self = .number(value)
        } else if let value = try? container.decode(String.self) {  // the next kind is tried
            self = .text(value)
        } else if let value = try? container.decode([JSONValue].self) {  // the next kind is tried
            self = .list(value)
        } else {
            self = .object(try container.decode([String: JSONValue].self))
        }
    }
}
