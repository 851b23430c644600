internal import GRDB

/// Codable's view of a row: a member is the column that its coding key names.
struct RowDecoder: Decoder {
    let row: Row
    var codingPath: [any CodingKey] { [] }
    var userInfo: [CodingUserInfoKey: Any] { [:] }

    func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedDecodingContainer<Key> {
        KeyedDecodingContainer(RowColumns(row: row))
    }

    func unkeyedContainer() throws -> any UnkeyedDecodingContainer { throw MalformedColumn(name: "*") }

    func singleValueContainer() throws -> any SingleValueDecodingContainer { throw MalformedColumn(name: "*") }
}

/// The columns of a row.
private struct RowColumns<Key: CodingKey>: KeyedDecodingContainerProtocol {
    let row: Row
    var codingPath: [any CodingKey] { [] }
    var allKeys: [Key] { row.columnNames.compactMap { Key(stringValue: $0) } }

    /// Always true, so that an optional member without its column is an error.
    func contains(_ key: Key) -> Bool { true }

    func decodeNil(forKey key: Key) throws -> Bool { try row.stored(key.stringValue).isNull }

    func decode<Value: Decodable>(_ type: Value.Type, forKey key: Key) throws -> Value {
        try row.value(key.stringValue)
    }

    func nestedContainer<Nested: CodingKey>(
        keyedBy type: Nested.Type,
        forKey key: Key
    ) throws -> KeyedDecodingContainer<Nested> {
        throw MalformedColumn(name: key.stringValue)
    }

    func nestedUnkeyedContainer(forKey key: Key) throws -> any UnkeyedDecodingContainer {
        throw MalformedColumn(name: key.stringValue)
    }

    func superDecoder() throws -> any Decoder { throw MalformedColumn(name: "super") }

    func superDecoder(forKey key: Key) throws -> any Decoder { throw MalformedColumn(name: key.stringValue) }
}

/// Codable's view of one column, for types that are coded as a ``ColumnValue``.
struct ColumnDecoder: Decoder, SingleValueDecodingContainer {
    private let stored: DatabaseValue
    var codingPath: [any CodingKey] { [] }
    var userInfo: [CodingUserInfoKey: Any] { [:] }

    /// Reads a stored value; nil if it is NULL, or of another type.
    static func value<Value>(_ type: Value.Type, of stored: DatabaseValue) -> Value? {
        if let type = type as? any ColumnValue.Type { return type.init(column: stored) as? Value }
        guard let type = type as? any Decodable.Type, !stored.isNull else { return nil }
        do {
            return try type.init(from: ColumnDecoder(stored: stored)) as? Value
        } catch {
            return nil
        }
    }

    func container<Key: CodingKey>(keyedBy type: Key.Type) throws -> KeyedDecodingContainer<Key> {
        throw MalformedColumn(name: "*")
    }

    func unkeyedContainer() throws -> any UnkeyedDecodingContainer { throw MalformedColumn(name: "*") }

    func singleValueContainer() -> any SingleValueDecodingContainer { self }

    func decodeNil() -> Bool { stored.isNull }

    func decode<Value: Decodable>(_ type: Value.Type) throws -> Value {
        // Anything else would be decoded from this column again, without an end.
        guard let type = type as? any ColumnValue.Type, let value = type.init(column: stored) as? Value else {
            throw MalformedColumn(name: "*")
        }
        return value
    }
}
