/// A schema of JSON texts, as in JSON Schema 2020-12, which OpenAPI 3.1 uses.
package indirect enum JSONSchema: Hashable, Sendable {
    /// Anything.
    case any
    case string
    /// A text that a regular expression of ECMA-262 matches; only `^` and `$` tie it to the whole text.
    case pattern(String)
    case boolean
    case number
    /// A whole number; the bounds are those of its type, nil where JSON has none.
    case integer(minimum: Int64?, maximum: Int64?)
    /// One of some texts.
    case choice([String])
    /// One of some whole numbers.
    case numberChoice([Int64])
    case constant(String)
    case array(JSONSchema)
    /// An object with arbitrary names.
    case map(JSONSchema)
    case object(ObjectSchema)
    case null(or: JSONSchema)
    case anyOf([JSONSchema])

    /// The texts, if it is one of some.
    package var choices: [String]? {
        switch self {
        case .choice(let texts): texts
        case .null(let other): other.choices
        case .any, .string, .pattern, .boolean, .number, .integer, .numberChoice, .constant, .array, .map, .object,
            .anyOf:
            nil
        }
    }

    /// As a JSON value; `refer` returns the place of an object that has a name.
    package func json(_ refer: (ObjectSchema) -> JSONDocument?) -> JSONDocument {
        switch self {
        case .any: return [:]
        case .string: return ["type": "string"]
        case .pattern(let pattern): return ["type": "string", "pattern": .string(pattern)]
        case .boolean: return ["type": "boolean"]
        case .number: return ["type": "number"]
        case .integer(let minimum, let maximum):
            var members: [String: JSONDocument] = ["type": "integer"]
            members["minimum"] = minimum.map { .integer($0) }
            members["maximum"] = maximum.map { .integer($0) }
            return .object(members)
        case .choice(let texts): return ["type": "string", "enum": .array(texts.map { .string($0) })]
        case .numberChoice(let numbers): return ["type": "integer", "enum": .array(numbers.map { .integer($0) })]
        case .constant(let text): return ["const": .string(text)]
        case .array(let element): return ["type": "array", "items": element.json(refer)]
        case .map(let value): return ["type": "object", "additionalProperties": value.json(refer)]
        case .object(let object): return refer(object) ?? object.json(refer)
        case .null(let other): return ["anyOf": [["type": "null"], other.json(refer)]]
        case .anyOf(let schemas): return ["anyOf": .array(schemas.map { $0.json(refer) })]
        }
    }
}
