/// Codable's view of a ``BincodeInput``: fields are read in the order of the requests, and keys are ignored.
internal struct BincodeDecoder: Decoder {
    let input: BincodeInput
    /// The cases of the enum that is being decoded, if it is one.
    let cases: [String]?

    var codingPath: [any CodingKey] { [] }
    var userInfo: [CodingUserInfoKey: Any] { [:] }

    func container<Key: CodingKey>(keyedBy type: Key.Type) throws -> KeyedDecodingContainer<Key> {
        guard let cases else {
            return KeyedDecodingContainer(BincodeFieldDecoder(input: input))
        }
        let tag: UInt32 = try input.read()
        guard tag < cases.count else {
            throw BytesError.invalidValue("the tag \(tag) of an enum with \(cases.count) cases")
        }
        return KeyedDecodingContainer(BincodeCaseDecoder(input: input, name: cases[Int(tag)]))
    }

    func unkeyedContainer() throws -> any UnkeyedDecodingContainer {
        try refuseEnum()
        return try BincodeElementDecoder(input: input)
    }

    func singleValueContainer() throws -> any SingleValueDecodingContainer {
        try refuseEnum()
        return BincodeValueDecoder(input: input)
    }

    private func refuseEnum() throws {
        guard cases == nil else {
            throw BincodeInput.unsupported("an enum with raw values needs no BincodeEnum")
        }
    }
}

/// The fields of a struct.
internal struct BincodeFieldDecoder<Key: CodingKey>: KeyedDecodingContainerProtocol {
    let input: BincodeInput
    var codingPath: [any CodingKey] { [] }
    /// Nothing on the wire names fields.
    var allKeys: [Key] { [] }

    func contains(_ key: Key) -> Bool { true }

    func decode<Value: Decodable>(_ type: Value.Type, forKey key: Key) throws -> Value {
        try input.decode(type)
    }

    func decodeNil(forKey key: Key) throws -> Bool {
        throw BincodeInput.unsupported("use decodeIfPresent, which reads whether a value follows")
    }

    func nestedContainer<Nested: CodingKey>(
        keyedBy type: Nested.Type,
        forKey key: Key
    ) throws -> KeyedDecodingContainer<Nested> {
        throw BincodeInput.unsupported("an enum without raw values needs BincodeEnum")
    }

    func nestedUnkeyedContainer(forKey key: Key) throws -> any UnkeyedDecodingContainer {
        try BincodeElementDecoder(input: input)
    }

    func superDecoder() throws -> any Decoder {
        BincodeDecoder(input: input, cases: nil)
    }

    func superDecoder(forKey key: Key) throws -> any Decoder {
        try superDecoder()
    }
}

/// The case that a tag stands for.
internal struct BincodeCaseDecoder<Key: CodingKey>: KeyedDecodingContainerProtocol {
    let input: BincodeInput
    let name: String
    var codingPath: [any CodingKey] { [] }
    var allKeys: [Key] { [Key(stringValue: name)].compactMap { $0 } }

    func contains(_ key: Key) -> Bool { key.stringValue == name }

    func nestedContainer<Nested: CodingKey>(
        keyedBy type: Nested.Type,
        forKey key: Key
    ) throws -> KeyedDecodingContainer<Nested> {
        guard contains(key) else {
            throw refusal
        }
        return KeyedDecodingContainer(BincodeFieldDecoder<Nested>(input: input))
    }

    func decode<Value: Decodable>(_ type: Value.Type, forKey key: Key) throws -> Value {
        throw refusal
    }

    func decodeNil(forKey key: Key) throws -> Bool {
        throw refusal
    }

    func nestedUnkeyedContainer(forKey key: Key) throws -> any UnkeyedDecodingContainer {
        throw refusal
    }

    func superDecoder() throws -> any Decoder {
        throw refusal
    }

    func superDecoder(forKey key: Key) throws -> any Decoder {
        throw refusal
    }

    private var refusal: DecodingError {
        BincodeInput.unsupported("BincodeEnum needs the synthesized conformance to Codable")
    }
}

/// The elements of a collection that reads itself.
internal struct BincodeElementDecoder: UnkeyedDecodingContainer {
    let input: BincodeInput
    private let total: Int
    private(set) var currentIndex = 0
    var codingPath: [any CodingKey] { [] }
    var count: Int? { total }
    var isAtEnd: Bool { currentIndex == total }

    init(input: BincodeInput) throws {
        self.input = input
        total = try input.readCount()
    }

    mutating func decode<Value: Decodable>(_ type: Value.Type) throws -> Value {
        try advance()
        return try input.decodeElement(type)
    }

    mutating func decodeNil() throws -> Bool {
        throw BincodeInput.unsupported("decode an optional instead, which reads whether a value follows")
    }

    mutating func nestedContainer<Nested: CodingKey>(
        keyedBy type: Nested.Type
    ) throws -> KeyedDecodingContainer<Nested> {
        try advance()
        return KeyedDecodingContainer(BincodeFieldDecoder<Nested>(input: input))
    }

    mutating func nestedUnkeyedContainer() throws -> any UnkeyedDecodingContainer {
        try advance()
        return try BincodeElementDecoder(input: input)
    }

    mutating func superDecoder() throws -> any Decoder {
        try advance()
        return BincodeDecoder(input: input, cases: nil)
    }

    private mutating func advance() throws {
        guard !isAtEnd else {
            throw BincodeInput.unsupported("more elements are read than the \(total) that there are")
        }
        currentIndex += 1
    }
}

/// A value that stands for its owner.
internal struct BincodeValueDecoder: SingleValueDecodingContainer {
    let input: BincodeInput
    var codingPath: [any CodingKey] { [] }

    func decode<Value: Decodable>(_ type: Value.Type) throws -> Value {
        try input.decode(type)
    }

    /// Optional values are read before Codable is asked.
    func decodeNil() -> Bool { false }
}
