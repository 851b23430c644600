internal import Identity

extension [JSONField] {
    /// Returns the value of a field; one that is null counts as absent.
    func value(of name: String) -> JSONValue? {
        guard let value = first(where: { $0.name == name })?.value, value != .null else { return nil }
        return value
    }

    /// Returns a claim that must be a text.
    func text(_ name: String) throws(PurchaseError) -> String {
        guard let text = value(of: name)?.text else { throw .invalidClaim(name) }
        return text
    }

    /// Returns a claim that must be a date in whole milliseconds since 1970, in seconds rounded down.
    func seconds(_ name: String) throws(PurchaseError) -> UInt64 {
        guard case .integer(let milliseconds)? = value(of: name), milliseconds / 1_000 <= UnixTime.maximum else {
            throw .invalidClaim(name)
        }
        return milliseconds / 1_000
    }

    /// Returns a claim that is true or false; an absent one is false.
    func flag(_ name: String) throws(PurchaseError) -> Bool {
        switch value(of: name) {
        case nil: false
        case .boolean(let flag)?: flag
        default: throw .invalidClaim(name)
        }
    }
}

extension JSONValue {
    /// The text of a string, or nil for any other value.
    var text: String? {
        if case .string(let text) = self { text } else { nil }
    }
}
