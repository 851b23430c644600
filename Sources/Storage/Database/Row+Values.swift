package import Essentials
package import GRDB
package import Identity

/// A column that does not hold what this program writes there.
package struct MalformedColumn: Error, CustomStringConvertible {
    let name: String

    package init(name: String) { self.name = name }

    package var description: String { "the column \(name) holds something unexpected" }
}

extension Row {
    /// The bytes of a BLOB.
    package func bytes(_ name: String) throws -> [UInt8] { [UInt8](try value(name, as: Data.self)) }

    /// The bytes of a BLOB, or nil for NULL.
    package func optionalBytes(_ name: String) throws -> [UInt8]? {
        try optionalValue(name, as: Data.self).map { [UInt8]($0) }
    }

    /// A text.
    package func text(_ name: String) throws -> String { try value(name, as: String.self) }

    /// A text, or nil for NULL.
    package func optionalText(_ name: String) throws -> String? { try optionalValue(name, as: String.self) }

    /// A number that is never negative.
    package func number(_ name: String) throws -> UInt64 { try value(name, as: UInt64.self) }

    /// A number that is never negative, or nil for NULL.
    package func optionalNumber(_ name: String) throws -> UInt64? { try optionalValue(name, as: UInt64.self) }

    /// One of the words that an enumeration has.
    package func word<Word: RawRepresentable>(_ name: String, as type: Word.Type = Word.self) throws -> Word
    where Word.RawValue == String {
        guard let word = Word(rawValue: try text(name)) else { throw MalformedColumn(name: name) }
        return word
    }

    /// A peer's id.
    package func peerId(_ name: String = "peer_id") throws -> PeerId {
        try PeerId(rawRepresentation: bytes(name))
    }

    /// A network's id.
    package func networkId(_ name: String = "network_id") throws -> NetworkId {
        try NetworkId(rawRepresentation: bytes(name))
    }

    private func value<Value: DatabaseValueConvertible>(_ name: String, as type: Value.Type) throws -> Value {
        guard let value = try optionalValue(name, as: type) else { throw MalformedColumn(name: name) }
        return value
    }

    /// Returns the value of a column, or nil for NULL.
    ///
    /// GRDB's subscripts trap on a value of another type, and its fast decoding reads any text as a number.
    private func optionalValue<Value: DatabaseValueConvertible>(_ name: String, as type: Value.Type) throws -> Value? {
        guard hasColumn(name) else { throw MalformedColumn(name: name) }
        let stored: DatabaseValue = self[name]
        if stored.isNull { return nil }
        guard let value = type.fromDatabaseValue(stored) else { throw MalformedColumn(name: name) }
        return value
    }
}

extension [UInt8] {
    /// As SQLite takes it.
    package var blob: Data { Data(self) }
}

extension UInt64 {
    /// As SQLite takes it; nothing that is counted here comes near the limit.
    package var integer: Int64 { Int64(clamping: self) }
}
