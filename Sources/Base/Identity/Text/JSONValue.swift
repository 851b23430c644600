/// A JSON value, read strictly and within bounds.
package enum JSONValue: Hashable, Sendable {
    /// Fields in the order of the text; no two have one name.
    case object([JSONField])
    case array([JSONValue])
    case string(String)
    /// A whole number from 0, written without fraction and exponent.
    case integer(UInt64)
    /// Any other number, as it is written.
    case number(String)
    case boolean(Bool)
    case null

    /// Reads the fields of the one object that `text` must be.
    package static func fields(of text: [UInt8], limits: JSONLimits) throws(JSONProblem) -> [JSONField] {
        guard text.count <= limits.byteCount else { throw .tooLong(limit: limits.byteCount) }
        var scanner = JSONScanner(text, limits: limits)
        return try scanner.scanDocument()
    }
}

/// A field of a JSON object.
package struct JSONField: Hashable, Sendable {
    package let name: String
    package let value: JSONValue
}

/// The bounds on the cost of a JSON text for its reader.
package struct JSONLimits: Hashable, Sendable {
    /// The longest text, in bytes.
    package var byteCount: Int
    /// The most fields of one object, and elements of one array.
    package var fieldCount: Int
    /// The deepest nesting of objects and arrays, the outermost object included.
    package var depth: Int

    package init(byteCount: Int, fieldCount: Int, depth: Int) {
        self.byteCount = byteCount
        self.fieldCount = fieldCount
        self.depth = depth
    }
}

/// Why a text is not the JSON that is expected.
package enum JSONProblem: Error, Equatable, CustomStringConvertible {
    /// The bytes from this offset on are not JSON.
    case notJSON(at: Int)
    case notAnObject
    case duplicateField(String)
    case tooManyFields
    case tooDeep
    case tooLong(limit: Int)

    package var description: String {
        switch self {
        case .notJSON(let offset): "it is not JSON from character \(offset + 1) on"
        case .notAnObject: "it is not a JSON object"
        case .duplicateField(let name): "its field \(PlainText.quoted(name)) is there twice"
        case .tooManyFields: "it has too many fields"
        case .tooDeep: "it is nested too deeply"
        case .tooLong(let limit): "it is longer than \(limit) bytes"
        }
    }
}
