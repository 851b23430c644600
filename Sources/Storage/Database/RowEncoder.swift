internal import GRDB

/// The columns that a row was encoded to.
final class EncodedRow {
    private(set) var columns: [StoredColumn] = []
    /// The first column whose value is no ``ColumnValue``; nil if each one is.
    private(set) var refused: String?

    func append(_ value: Any, to column: String?) {
        guard let column, let value = value as? any ColumnValue else { return refuse(column) }
        columns.append((column, value.column))
    }

    func appendNull(to column: String?) {
        guard let column else { return refuse(column) }
        columns.append((column, .null))
    }

    func refuse(_ column: String?) { refused = refused ?? column ?? "*" }
}

/// Codable's view of a row in the making, or of one column.
struct RowEncoder: Encoder {
    let output: EncodedRow
    /// The column; nil for the row.
    let column: String?
    var codingPath: [any CodingKey] { [] }
    var userInfo: [CodingUserInfoKey: Any] { [:] }

    func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedEncodingContainer<Key> {
        if let column { output.refuse(column) }
        return KeyedEncodingContainer(RowColumns(output: output))
    }

    func unkeyedContainer() -> any UnkeyedEncodingContainer {
        output.refuse(column)
        return RefusedElements(output: output, column: column)
    }

    func singleValueContainer() -> any SingleValueEncodingContainer { RowColumn(output: output, column: column) }
}

/// One column.
private struct RowColumn: SingleValueEncodingContainer {
    let output: EncodedRow
    let column: String?
    var codingPath: [any CodingKey] { [] }

    func encodeNil() { output.appendNull(to: column) }

    func encode<Value: Encodable>(_ value: Value) { output.append(value, to: column) }
}

/// The columns of a row.
private struct RowColumns<Key: CodingKey>: KeyedEncodingContainerProtocol {
    let output: EncodedRow
    var codingPath: [any CodingKey] { [] }

    func encodeNil(forKey key: Key) { output.appendNull(to: key.stringValue) }

    func encode<Value: Encodable>(_ value: Value, forKey key: Key) throws {
        guard !(value is any ColumnValue) else { return output.append(value, to: key.stringValue) }
        try value.encode(to: RowEncoder(output: output, column: key.stringValue))
    }

    // Codable omits absent values, and declares one method per type; a row has the same columns always.

    func encodeIfPresent<Value: Encodable>(_ value: Value?, forKey key: Key) throws {
        guard let value else { return encodeNil(forKey: key) }
        try encode(value, forKey: key)
    }

    func encodeIfPresent(_ value: Bool?, forKey key: Key) { append(value, to: key) }

    func encodeIfPresent(_ value: String?, forKey key: Key) { append(value, to: key) }

    func encodeIfPresent(_ value: Int?, forKey key: Key) { append(value, to: key) }

    func encodeIfPresent(_ value: UInt16?, forKey key: Key) { append(value, to: key) }

    func encodeIfPresent(_ value: UInt32?, forKey key: Key) { append(value, to: key) }

    func encodeIfPresent(_ value: UInt64?, forKey key: Key) { append(value, to: key) }

    private func append(_ value: (any ColumnValue)?, to key: Key) {
        guard let value else { return encodeNil(forKey: key) }
        output.append(value, to: key.stringValue)
    }

    func nestedContainer<Nested: CodingKey>(
        keyedBy type: Nested.Type,
        forKey key: Key
    ) -> KeyedEncodingContainer<Nested> {
        RowEncoder(output: output, column: key.stringValue).container(keyedBy: type)
    }

    func nestedUnkeyedContainer(forKey key: Key) -> any UnkeyedEncodingContainer {
        RowEncoder(output: output, column: key.stringValue).unkeyedContainer()
    }

    func superEncoder() -> any Encoder { RowEncoder(output: output, column: "super") }

    func superEncoder(forKey key: Key) -> any Encoder { RowEncoder(output: output, column: key.stringValue) }
}

/// The elements of a member that no column holds; the row is refused.
private struct RefusedElements: UnkeyedEncodingContainer {
    let output: EncodedRow
    let column: String?
    var codingPath: [any CodingKey] { [] }
    var count: Int { 0 }

    func encodeNil() {}

    func encode<Value: Encodable>(_ value: Value) {}

    func nestedContainer<Nested: CodingKey>(keyedBy type: Nested.Type) -> KeyedEncodingContainer<Nested> {
        RowEncoder(output: output, column: column ?? "*").container(keyedBy: type)
    }

    func nestedUnkeyedContainer() -> any UnkeyedEncodingContainer { self }

    func superEncoder() -> any Encoder { RowEncoder(output: output, column: column) }
}
