internal import GRDB
internal import Identity

#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

/// A column that does not hold what this program writes there.
struct MalformedColumn: Error, CustomStringConvertible {
    let name: String
    var description: String { "the column \(name) holds something unexpected" }
}

extension Row {
    /// The bytes of a BLOB.
    func bytes(_ name: String) throws -> [UInt8] {
        guard let bytes = try optionalBytes(name) else { throw MalformedColumn(name: name) }
        return bytes
    }

    /// The bytes of a BLOB, or nil for NULL.
    func optionalBytes(_ name: String) throws -> [UInt8]? {
        guard let data = try Data?.fromDatabaseValue(value(name), column: name) else { return nil }
        return [UInt8](data)
    }

    /// A text.
    func text(_ name: String) throws -> String {
        guard let text = try optionalText(name) else { throw MalformedColumn(name: name) }
        return text
    }

    /// A text, or nil for NULL.
    func optionalText(_ name: String) throws -> String? {
        try String?.fromDatabaseValue(value(name), column: name)
    }

    /// A number that is never negative.
    func number(_ name: String) throws -> UInt64 {
        guard let number = try optionalNumber(name) else { throw MalformedColumn(name: name) }
        return number
    }

    /// A number that is never negative, or nil for NULL.
    func optionalNumber(_ name: String) throws -> UInt64? {
        guard let number = try Int64?.fromDatabaseValue(value(name), column: name) else { return nil }
        guard let positive = UInt64(exactly: number) else { throw MalformedColumn(name: name) }
        return positive
    }

    /// One of the words that an enumeration has.
    func word<Word: RawRepresentable>(_ name: String, as type: Word.Type = Word.self) throws -> Word
    where Word.RawValue == String {
        guard let word = Word(rawValue: try text(name)) else { throw MalformedColumn(name: name) }
        return word
    }

    /// A peer's id.
    func peerId(_ name: String = "peer_id") throws -> PeerId {
        try PeerId(rawRepresentation: bytes(name))
    }

    /// A network's id.
    func networkId(_ name: String = "network_id") throws -> NetworkId {
        try NetworkId(rawRepresentation: bytes(name))
    }

    private func value(_ name: String) throws -> DatabaseValue {
        guard hasColumn(name) else { throw MalformedColumn(name: name) }
        return self[name]
    }
}

extension Optional where Wrapped: DatabaseValueConvertible {
    fileprivate static func fromDatabaseValue(_ value: DatabaseValue, column: String) throws -> Wrapped? {
        if value.isNull { return nil }
        guard let wrapped = Wrapped.fromDatabaseValue(value) else { throw MalformedColumn(name: column) }
        return wrapped
    }
}

extension [UInt8] {
    /// As SQLite takes it.
    var blob: Data { Data(self) }
}

extension UInt64 {
    /// As SQLite takes it; nothing that is counted here comes near the limit.
    var integer: Int64 { Int64(clamping: self) }
}
