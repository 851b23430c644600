internal import RunarNode

/// A schema of JSON texts, as in JSON Schema 2020-12, which OpenAPI 3.1 uses.
indirect enum JSONSchema: Hashable, Sendable {
    /// Anything.
    case any
    case string
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
    var choices: [String]? {
        switch self {
        case .choice(let texts): texts
        case .null(let other): other.choices
        case .any, .string, .boolean, .number, .integer, .numberChoice, .constant, .array, .map, .object, .anyOf: nil
        }
    }

    /// As a JSON value; `refer` returns the place of an object that has a name.
    func json(_ refer: (ObjectSchema) -> RunarValue?) -> RunarValue {
        switch self {
        case .any: return [:]
        case .string: return ["type": "string"]
        case .boolean: return ["type": "boolean"]
        case .number: return ["type": "number"]
        case .integer(let minimum, let maximum):
            var members: [String: RunarValue] = ["type": "integer"]
            members["minimum"] = minimum.map { .int($0) }
            members["maximum"] = maximum.map { .int($0) }
            return .object(members)
        case .choice(let texts): return ["type": "string", "enum": .array(texts.map { .string($0) })]
        case .numberChoice(let numbers): return ["type": "integer", "enum": .array(numbers.map { .int($0) })]
        case .constant(let text): return ["const": .string(text)]
        case .array(let element): return ["type": "array", "items": element.json(refer)]
        case .map(let value): return ["type": "object", "additionalProperties": value.json(refer)]
        case .object(let object): return refer(object) ?? object.json(refer)
        case .null(let other): return ["anyOf": [["type": "null"], other.json(refer)]]
        case .anyOf(let schemas): return ["anyOf": .array(schemas.map { $0.json(refer) })]
        }
    }
}

/// An object with fixed names.
struct ObjectSchema: Hashable, Sendable {
    /// A member.
    struct Field: Hashable, Sendable {
        let name: String
        let schema: JSONSchema
        let isRequired: Bool
    }

    /// The name of its type, nil for an inline schema.
    var name: String?
    var fields: [Field]
    /// Whether other members are permitted, too.
    var isOpen = false

    /// With one member more, or another meaning of a member, under another name or none.
    func with(_ member: String, _ schema: JSONSchema, name: String? = nil) -> ObjectSchema {
        var object = self
        object.name = name
        let field = Field(name: member, schema: schema, isRequired: true)
        if let index = fields.firstIndex(where: { $0.name == member }) {
            object.fields[index] = field
        } else {
            object.fields.append(field)
        }
        return object
    }

    func json(_ refer: (ObjectSchema) -> RunarValue?) -> RunarValue {
        var members: [String: RunarValue] = ["type": "object"]
        if !fields.isEmpty {
            let pairs = fields.map { ($0.name, $0.schema.json(refer)) }
            members["properties"] = .object(Dictionary(uniqueKeysWithValues: pairs))
        }
        let required = fields.filter(\.isRequired).map(\.name)
        if !required.isEmpty { members["required"] = .array(required.map { .string($0) }) }
        if isOpen { members["additionalProperties"] = true }
        return .object(members)
    }
}

/// A type with a schema of its own, for one that decoding does not reveal.
protocol SchemaProviding {
    static var schema: JSONSchema { get }
}
