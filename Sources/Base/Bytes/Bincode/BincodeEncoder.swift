/// Codable's view of a ``BincodeOutput``: values are appended in order, and keys are ignored.
internal struct BincodeEncoder: Encoder {
    let output: BincodeOutput
    /// The cases of the enum that is being encoded, if it is one.
    let cases: [String]?

    var codingPath: [any CodingKey] { [] }
    var userInfo: [CodingUserInfoKey: Any] { [:] }

    func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedEncodingContainer<Key> {
        guard let cases else {
            return KeyedEncodingContainer(BincodeFieldEncoder(output: output))
        }
        return KeyedEncodingContainer(BincodeCaseEncoder(output: output, cases: cases))
    }

    func unkeyedContainer() -> any UnkeyedEncodingContainer {
        refuseEnum()
        return BincodeElementEncoder(output: output)
    }

    func singleValueContainer() -> any SingleValueEncodingContainer {
        refuseEnum()
        return BincodeValueEncoder(output: output)
    }

    private func refuseEnum() {
        guard let cases else {
            return
        }
        output.fail(BincodeOutput.unsupported(cases, "an enum with raw values needs no BincodeEnum"))
    }
}

/// The fields of a struct.
internal struct BincodeFieldEncoder<Key: CodingKey>: KeyedEncodingContainerProtocol {
    let output: BincodeOutput
    var codingPath: [any CodingKey] { [] }

    func encode<Value: Encodable>(_ value: Value, forKey key: Key) throws {
        try output.encode(value)
    }

    func encodeNil(forKey key: Key) throws {
        throw BincodeOutput.unsupported(key.stringValue, "use encodeIfPresent, which says whether a value follows")
    }

    func nestedContainer<Nested: CodingKey>(
        keyedBy keyType: Nested.Type,
        forKey key: Key
    ) -> KeyedEncodingContainer<Nested> {
        // Synthesized enums encode their cases through this method. Without the order of the cases there is no tag.
        output.fail(BincodeOutput.unsupported(key.stringValue, "an enum without raw values needs BincodeEnum"))
        return KeyedEncodingContainer(BincodeFieldEncoder<Nested>(output: output))
    }

    func nestedUnkeyedContainer(forKey key: Key) -> any UnkeyedEncodingContainer {
        BincodeElementEncoder(output: output)
    }

    func superEncoder() -> any Encoder {
        BincodeEncoder(output: output, cases: nil)
    }

    func superEncoder(forKey key: Key) -> any Encoder {
        superEncoder()
    }
}

/// The tag of an enum.
internal struct BincodeCaseEncoder<Key: CodingKey>: KeyedEncodingContainerProtocol {
    let output: BincodeOutput
    let cases: [String]
    var codingPath: [any CodingKey] { [] }

    func nestedContainer<Nested: CodingKey>(
        keyedBy keyType: Nested.Type,
        forKey key: Key
    ) -> KeyedEncodingContainer<Nested> {
        if let tag = cases.firstIndex(of: key.stringValue) {
            output.write(UInt32(tag))
        } else {
            output.fail(BincodeOutput.unsupported(key.stringValue, "a case that bincodeCases does not list"))
        }
        return KeyedEncodingContainer(BincodeFieldEncoder<Nested>(output: output))
    }

    func encode<Value: Encodable>(_ value: Value, forKey key: Key) throws {
        throw refusal(of: key)
    }

    func encodeNil(forKey key: Key) throws {
        throw refusal(of: key)
    }

    func nestedUnkeyedContainer(forKey key: Key) -> any UnkeyedEncodingContainer {
        output.fail(refusal(of: key))
        return BincodeElementEncoder(output: output)
    }

    func superEncoder() -> any Encoder {
        output.fail(BincodeOutput.unsupported(cases, "BincodeEnum needs the synthesized conformance to Codable"))
        return BincodeEncoder(output: output, cases: nil)
    }

    func superEncoder(forKey key: Key) -> any Encoder {
        superEncoder()
    }

    private func refusal(of key: Key) -> EncodingError {
        BincodeOutput.unsupported(key.stringValue, "BincodeEnum needs the synthesized conformance to Codable")
    }
}

/// The elements of a collection that writes itself; the count in front grows with them.
internal struct BincodeElementEncoder: UnkeyedEncodingContainer {
    let output: BincodeOutput
    private let start: Int
    private(set) var count = 0
    var codingPath: [any CodingKey] { [] }

    init(output: BincodeOutput) {
        self.output = output
        start = output.bytes.count
        output.write(count: 0)
    }

    mutating func encode<Value: Encodable>(_ value: Value) throws {
        try output.encodeElement(value)
        grow(by: 1)
    }

    mutating func encode<Bytes: Sequence>(contentsOf sequence: Bytes) throws where Bytes.Element == UInt8 {
        let before = output.bytes.count
        output.write(raw: sequence)
        grow(by: output.bytes.count - before)
    }

    func encodeNil() throws {
        throw BincodeOutput.unsupported(count, "encode an optional instead, which says whether a value follows")
    }

    mutating func nestedContainer<Nested: CodingKey>(keyedBy keyType: Nested.Type) -> KeyedEncodingContainer<Nested> {
        grow(by: 1)
        return KeyedEncodingContainer(BincodeFieldEncoder<Nested>(output: output))
    }

    mutating func nestedUnkeyedContainer() -> any UnkeyedEncodingContainer {
        grow(by: 1)
        return BincodeElementEncoder(output: output)
    }

    mutating func superEncoder() -> any Encoder {
        grow(by: 1)
        return BincodeEncoder(output: output, cases: nil)
    }

    private mutating func grow(by newElements: Int) {
        count += newElements
        output.overwrite(count: count, at: start)
    }
}

/// A value that stands for its owner.
internal struct BincodeValueEncoder: SingleValueEncodingContainer {
    let output: BincodeOutput
    var codingPath: [any CodingKey] { [] }

    func encode<Value: Encodable>(_ value: Value) throws {
        try output.encode(value)
    }

    func encodeNil() throws {
        throw BincodeOutput.unsupported("nil", "encode an optional instead, which says whether a value follows")
    }
}
