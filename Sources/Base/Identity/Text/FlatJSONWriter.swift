/// Writes one JSON object on one line, its fields in the order in which they were added.
struct FlatJSONWriter {
    private var text = "{"

    /// Adds a string.
    mutating func add(_ name: String, _ value: String) {
        add(name, literal: Self.quoted(value))
    }

    /// Adds a whole number, or null.
    mutating func add(_ name: String, _ value: UInt64?) {
        add(name, literal: value.map(String.init) ?? "null")
    }

    /// Adds where members listen.
    mutating func add(_ rendezvous: RendezvousKey) {
        add(RendezvousKey.fieldName, rendezvous.base64Encoded)
    }

    /// The object.
    var object: String { text + "}" }

    private mutating func add(_ name: String, literal: String) {
        if text.utf8.count > 1 { text += "," }
        text += Self.quoted(name) + ":" + literal
    }

    private static func quoted(_ string: String) -> String {
        var result = "\""
        for scalar in string.unicodeScalars {
            switch scalar {
            case "\"": result += "\\\""
            case "\\": result += "\\\\"
            case "\u{0}"..."\u{1F}":
                let digits = String(scalar.value, radix: 16)
                result += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
            default: result.unicodeScalars.append(scalar)
            }
        }
        return result + "\""
    }
}
