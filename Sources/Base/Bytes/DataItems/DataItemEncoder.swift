/// The state that the encoders of one value share.
internal final class DataItemOutput {
    private var depth = 0
    /// The first failure in a place that cannot throw.
    private(set) var failure: (any Error)?

    /// Makes `serialize` throw in the end; the first failure counts.
    func fail(_ error: any Error) {
        failure = failure ?? error
    }

    /// The item that any value becomes.
    func item<Value: Encodable>(for value: Value, path: [any CodingKey]) throws -> DataItem {
        if let value = value as? any DataItemConvertible {
            return value.dataItem
        }
        if let value = value as? any ByteBlob {
            return .bytes([UInt8](value))
        }
        // More levels than containers may have, for values that only stand for others.
        guard depth < 2 * CBOR.maximumDepth else {
            throw BytesError.tooDeep(limit: CBOR.maximumDepth)
        }
        depth += 1
        defer { depth -= 1 }
        let encoder = DataItemEncoder(output: self, path: path)
        encoder.unordered = Value.self as? any DataItemUnordered.Type
        try value.encode(to: encoder)
        if case .item(let item) = encoder.content {
            return item
        }
        return .container(encoder)
    }
}

/// Codable's view of one value in the making.
internal final class DataItemEncoder: Encoder {
    /// The encoded form of the value so far.
    enum Content {
        case nothing
        case item(DataItem)
        case array([DataItem])
        case map([(key: String, item: DataItem)])
    }

    private(set) var content = Content.nothing
    /// The type of the value, if its elements have no order of their own.
    var unordered: (any DataItemUnordered.Type)?
    let output: DataItemOutput
    let codingPath: [any CodingKey]
    var userInfo: [CodingUserInfoKey: Any] { [:] }

    init(output: DataItemOutput, path: [any CodingKey]) {
        self.output = output
        codingPath = path
    }

    func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedEncodingContainer<Key> {
        switch content {
        case .nothing: content = .map([])
        case .map: break
        case .item, .array: refuse("keyed")
        }
        return KeyedEncodingContainer(DataItemFieldEncoder(encoder: self))
    }

    func unkeyedContainer() -> any UnkeyedEncodingContainer {
        switch content {
        case .nothing: content = .array([])
        case .array: break
        case .item, .map: refuse("unkeyed")
        }
        return DataItemElementEncoder(encoder: self)
    }

    func singleValueContainer() -> any SingleValueEncodingContainer {
        if case .nothing = content {} else { refuse("single-value") }
        return DataItemValueEncoder(encoder: self)
    }

    /// An encoder for something inside this value.
    func nested(at key: any CodingKey) -> DataItemEncoder {
        DataItemEncoder(output: output, path: codingPath + [key])
    }

    func append(_ item: DataItem) {
        guard case .array(var items) = content else {
            return
        }
        content = .nothing  // So that the array is not copied.
        items.append(item)
        content = .array(items)
    }

    func append(_ item: DataItem, forKey key: any CodingKey) {
        guard case .map(var entries) = content else {
            return
        }
        content = .nothing  // So that the array is not copied.
        entries.append((key.stringValue, item))
        content = .map(entries)
    }

    func set(_ item: DataItem) {
        content = .item(item)
    }

    var count: Int {
        if case .array(let items) = content { items.count } else { 0 }
    }

    private func refuse(_ kind: String) {
        let context = EncodingError.Context(
            codingPath: codingPath,
            debugDescription: "a \(kind) container was asked for after one of another kind"
        )
        output.fail(EncodingError.invalidValue(kind, context))
    }
}

/// The fields of a struct.
internal struct DataItemFieldEncoder<Key: CodingKey>: KeyedEncodingContainerProtocol {
    let encoder: DataItemEncoder
    var codingPath: [any CodingKey] { encoder.codingPath }

    func encode<Value: Encodable>(_ value: Value, forKey key: Key) throws {
        let item = try encoder.output.item(for: value, path: encoder.codingPath + [key])
        encoder.append(item, forKey: key)
    }

    func encodeNil(forKey key: Key) {
        encoder.append(.null, forKey: key)
    }

    func nestedContainer<Nested: CodingKey>(
        keyedBy keyType: Nested.Type,
        forKey key: Key
    ) -> KeyedEncodingContainer<Nested> {
        nested(at: key).container(keyedBy: keyType)
    }

    func nestedUnkeyedContainer(forKey key: Key) -> any UnkeyedEncodingContainer {
        nested(at: key).unkeyedContainer()
    }

    func superEncoder() -> any Encoder {
        nested(at: DataItemKey.parent)
    }

    func superEncoder(forKey key: Key) -> any Encoder {
        nested(at: key)
    }

    private func nested(at key: any CodingKey) -> DataItemEncoder {
        let nested = encoder.nested(at: key)
        encoder.append(.container(nested), forKey: key)
        return nested
    }
}

/// The elements of a collection.
internal struct DataItemElementEncoder: UnkeyedEncodingContainer {
    let encoder: DataItemEncoder
    var codingPath: [any CodingKey] { encoder.codingPath }
    var count: Int { encoder.count }

    func encode<Value: Encodable>(_ value: Value) throws {
        if let value = value as? any DataItemConvertible {
            return encoder.append(value.dataItem)
        }
        let path = encoder.codingPath + [DataItemKey(index: encoder.count)]
        encoder.append(try encoder.output.item(for: value, path: path))
    }

    func encodeNil() {
        encoder.append(.null)
    }

    func nestedContainer<Nested: CodingKey>(keyedBy keyType: Nested.Type) -> KeyedEncodingContainer<Nested> {
        nested().container(keyedBy: keyType)
    }

    func nestedUnkeyedContainer() -> any UnkeyedEncodingContainer {
        nested().unkeyedContainer()
    }

    func superEncoder() -> any Encoder {
        nested()
    }

    private func nested() -> DataItemEncoder {
        let nested = encoder.nested(at: DataItemKey(index: encoder.count))
        encoder.append(.container(nested))
        return nested
    }
}

/// A value that stands for its owner.
internal struct DataItemValueEncoder: SingleValueEncodingContainer {
    let encoder: DataItemEncoder
    var codingPath: [any CodingKey] { encoder.codingPath }

    func encode<Value: Encodable>(_ value: Value) throws {
        encoder.set(try encoder.output.item(for: value, path: codingPath))
    }

    func encodeNil() {
        encoder.set(.null)
    }
}

/// The key of an element of an array, or of a superclass.
internal struct DataItemKey: CodingKey {
    static let parent = DataItemKey(stringValue: "super")

    let stringValue: String
    let intValue: Int?

    init(index: Int) {
        stringValue = "Index \(index)"
        intValue = index
    }

    init(stringValue: String) {
        self.stringValue = stringValue
        intValue = nil
    }

    init(intValue: Int) {
        self.init(index: intValue)
    }
}
