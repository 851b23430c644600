/// A decoder that has nothing, and notes the members that are asked for.
final class FieldRecorder: Decoder {
    private(set) var fields: [ObjectSchema.Field] = []
    /// The members that may be missing: the decoder checked their presence first.
    private var optional: Set<String> = []

    let codingPath: [any CodingKey] = []
    let userInfo: [CodingUserInfoKey: Any] = [:]

    fileprivate func noteOptional(_ name: String) { optional.insert(name) }

    fileprivate func value<Value: Decodable>(of name: String) throws -> Value {
        let (schema, value) = try SchemaReader.read(Value.self)
        fields.removeAll { $0.name == name }
        fields.append(ObjectSchema.Field(name: name, schema: schema, isRequired: !optional.contains(name)))
        return value
    }

    func container<Key: CodingKey>(keyedBy type: Key.Type) throws -> KeyedDecodingContainer<Key> {
        KeyedDecodingContainer(FieldContainer<Key>(recorder: self))
    }

    func unkeyedContainer() throws -> any UnkeyedDecodingContainer {
        throw SchemaReader.Failure(description: "an array that reads itself")
    }

    func singleValueContainer() throws -> any SingleValueDecodingContainer {
        throw SchemaReader.Failure(description: "a single value: make the type CaseIterable or SampleProviding")
    }
}

private struct FieldContainer<Key: CodingKey>: KeyedDecodingContainerProtocol {
    let recorder: FieldRecorder

    let codingPath: [any CodingKey] = []
    let allKeys: [Key] = []

    func contains(_ key: Key) -> Bool { true }

    func decodeNil(forKey key: Key) -> Bool {
        recorder.noteOptional(key.stringValue)
        return false
    }

    func decode<Value: Decodable>(_ type: Value.Type, forKey key: Key) throws -> Value {
        try recorder.value(of: key.stringValue)
    }

    func nestedContainer<Nested: CodingKey>(
        keyedBy type: Nested.Type,
        forKey key: Key
    ) throws -> KeyedDecodingContainer<Nested> {
        throw SchemaReader.Failure(description: "\(key.stringValue) is an object that reads itself")
    }

    func nestedUnkeyedContainer(forKey key: Key) throws -> any UnkeyedDecodingContainer {
        throw SchemaReader.Failure(description: "\(key.stringValue) is an array that reads itself")
    }

    func superDecoder() throws -> any Decoder { recorder }

    func superDecoder(forKey key: Key) throws -> any Decoder { recorder }
}
