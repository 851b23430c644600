public import Essentials

/// A value of any shape, for requests and events whose types a program does not know or does not want to declare.
///
/// It can be written as a literal, and in JSON and CBOR it is encoded as the plain value. JSON has no bytes: they are
/// encoded as base64 text, and decode as that.
public enum RunarValue: Hashable, Sendable {
    /// Nothing.
    case null
    /// True or false.
    case bool(Bool)
    /// A whole number.
    case int(Int64)
    /// Any other number.
    case double(Double)
    /// A text.
    case string(String)
    /// Bytes.
    case data(Data)
    /// Values in order.
    case array([RunarValue])
    /// Values by name.
    case object([String: RunarValue])

    /// The truth value, if it is one.
    public var boolValue: Bool? { if case .bool(let value) = self { value } else { nil } }

    /// The whole number, if it is one or can be one without loss.
    public var intValue: Int64? {
        switch self {
        case .int(let value): value
        case .double(let value): Int64(exactly: value)
        default: nil
        }
    }

    /// The number, if it is one.
    public var doubleValue: Double? {
        switch self {
        case .int(let value): Double(value)
        case .double(let value): value
        default: nil
        }
    }

    /// The text, if it is one.
    public var stringValue: String? { if case .string(let value) = self { value } else { nil } }

    /// The bytes of a value of bytes, or of a base64 text.
    public var dataValue: Data? {
        switch self {
        case .data(let value): value
        case .string(let text): Data(base64Encoded: text)
        default: nil
        }
    }

    /// The values in order, if it is an array.
    public var arrayValue: [RunarValue]? { if case .array(let value) = self { value } else { nil } }

    /// The values by name, if it is an object.
    public var objectValue: [String: RunarValue]? { if case .object(let value) = self { value } else { nil } }

    /// The value of a name in an object; nil when it is none, or has no such name.
    public subscript(_ name: String) -> RunarValue? { objectValue?[name] }

    /// The value at a place in an array; nil when it is none, or shorter.
    public subscript(_ place: Int) -> RunarValue? {
        guard let values = arrayValue, values.indices.contains(place) else { return nil }
        return values[place]
    }
}

extension RunarValue: Codable {
    /// Decodes a value of any kind.
    public init(from decoder: any Decoder) throws {
        // A dictionary or an array must be tried by its container: each wrong attempt costs an error.
        if let object = try? decoder.container(keyedBy: Name.self) {  // not an object: tried on
            var values: [String: RunarValue] = [:]
            for name in object.allKeys { values[name.stringValue] = try object.decode(RunarValue.self, forKey: name) }
            self = .object(values)
            return
        }
        if var array = try? decoder.unkeyedContainer() {  // not an array: tried on
            var values: [RunarValue] = []
            while !array.isAtEnd { values.append(try array.decode(RunarValue.self)) }
            self = .array(values)
            return
        }
        try self.init(from: decoder.singleValueContainer())
    }

    private init(from container: any SingleValueDecodingContainer) throws {
        if container.decodeNil() {
            self = .null
        } else if let value = try? container.decode(Bool.self) {  // another kind: tried on
            self = .bool(value)
        } else if let value = try? container.decode(Int64.self) {  // another kind: tried on
            self = .int(value)
        } else if let value = try? container.decode(Double.self) {  // another kind: tried on
            self = .double(value)
        } else if let value = try? container.decode(String.self) {  // another kind: tried on
            self = .string(value)
        } else {
            self = .data(try container.decode(Data.self))
        }
    }

    /// Encodes the plain value.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        switch self {
        case .null: try container.encodeNil()
        case .bool(let value): try container.encode(value)
        case .int(let value): try container.encode(value)
        case .double(let value): try container.encode(value)
        case .string(let value): try container.encode(value)
        case .data(let value): try container.encode(value)
        case .array(let value): try container.encode(value)
        case .object(let value): try container.encode(value)
        }
    }

    private struct Name: CodingKey {
        let stringValue: String
        var intValue: Int? { nil }

        init(stringValue: String) { self.stringValue = stringValue }

        init?(intValue: Int) { nil }
    }
}

extension RunarValue: ExpressibleByNilLiteral, ExpressibleByBooleanLiteral, ExpressibleByIntegerLiteral,
    ExpressibleByFloatLiteral, ExpressibleByStringLiteral, ExpressibleByArrayLiteral, ExpressibleByDictionaryLiteral
{
    /// Null.
    public init(nilLiteral: ()) { self = .null }

    /// `true` or `false`.
    public init(booleanLiteral value: Bool) { self = .bool(value) }

    /// A whole number.
    public init(integerLiteral value: Int64) { self = .int(value) }

    /// A number.
    public init(floatLiteral value: Double) { self = .double(value) }

    /// A text.
    public init(stringLiteral value: String) { self = .string(value) }

    /// Values in order.
    public init(arrayLiteral elements: RunarValue...) { self = .array(elements) }

    /// Values by name; of two with the same name the later one counts.
    public init(dictionaryLiteral elements: (String, RunarValue)...) {
        self = .object(Dictionary(elements) { _, last in last })
    }
}
