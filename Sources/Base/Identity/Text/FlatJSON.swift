/// The fields of one JSON object, read strictly and within bounds.
///
/// Only the types that our texts use have a value: strings, whole numbers and null. Anything else, nested or not, is checked
/// to be JSON and stored as `other`, so that fields of a later version are skipped but never misinterpreted. Two fields of
/// one name are refused: two readers could each use another one.
struct FlatJSON {
    /// The longest text that is read.
    static let maximumByteCount = 16 * 1024
    /// The most fields of one object, and elements of one array.
    static let maximumFieldCount = 64
    /// The deepest nesting of skipped values.
    static let maximumDepth = 8

    /// A field's value.
    enum Value: Equatable {
        case string(String)
        case integer(UInt64)
        case null
        /// A fraction, a negative number, true, false, an array or an object.
        case other
    }

    private static let limits = JSONLimits(
        byteCount: maximumByteCount,
        fieldCount: maximumFieldCount,
        depth: maximumDepth
    )

    private let fields: [JSONField]
    private let subject: String

    /// Reads `text`, which is `subject` in the words of an error.
    init(_ text: String, of subject: String) throws(IdentityError) {
        do {
            fields = try JSONValue.fields(of: Array(text.utf8), limits: Self.limits)
        } catch {
            throw .invalidText(of: subject, reason: error.description)
        }
        self.subject = subject
    }

    /// The value of a field, or nil if there is none.
    subscript(name: String) -> Value? {
        guard let field = fields.first(where: { $0.name.utf8.elementsEqual(name.utf8) }) else { return nil }
        switch field.value {
        case .string(let text): return .string(text)
        case .integer(let number): return .integer(number)
        case .null: return .null
        default: return .other
        }
    }

    /// The value of a field that must be a string.
    func string(_ name: String) throws(IdentityError) -> String {
        guard case .string(let text)? = self[name] else {
            throw .invalidText(of: subject, reason: "its field \"\(name)\" is missing or not a string")
        }
        return text
    }

    /// Returns the key under which members listen; nil if the text has none.
    func rendezvous() throws(IdentityError) -> RendezvousKey? {
        guard self[RendezvousKey.fieldName] != nil else { return nil }
        return try RendezvousKey(base64Encoded: string(RendezvousKey.fieldName))
    }

    /// The value of a field that must be a whole number from 0.
    func integer(_ name: String) throws(IdentityError) -> UInt64 {
        guard case .integer(let number)? = self[name] else {
            throw .invalidText(of: subject, reason: "its field \"\(name)\" is missing or not a whole number from 0")
        }
        return number
    }

    /// The value of a field that must be there, as a whole number from 0 or as null.
    func integerOrNull(_ name: String) throws(IdentityError) -> UInt64? {
        switch self[name] {
        case .integer(let number): return number
        case .null: return nil
        default:
            let reason = "its field \"\(name)\" is missing or neither a whole number from 0 nor null"
            throw .invalidText(of: subject, reason: reason)
        }
    }

    /// Refuses a text of another kind.
    func expectType(_ type: String) throws(IdentityError) {
        guard try string("type") == type else {
            throw .invalidText(of: subject, reason: "its field \"type\" is not \"\(type)\"")
        }
    }
}
