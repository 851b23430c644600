/// The bytes of one value in the making, shared by all its containers.
internal final class BincodeOutput {
    private(set) var bytes: [UInt8] = []
    private var depth = 0
    /// The first failure in a place that cannot throw.
    private(set) var failure: (any Error)?

    /// Writes any value, in our own way where Codable's would lose something.
    func encode<Value: Encodable>(_ value: Value) throws {
        if let type = Value.self as? any BincodeEncodable.Type {
            try write(value, as: type)
        } else if let type = Value.self as? any ByteBlob.Type {
            try write(value, asBlob: type)
        } else {
            let cases = (Value.self as? any BincodeEnum.Type)?.bincodeCases
            try nested { try value.encode(to: BincodeEncoder(output: self, cases: cases)) }
        }
    }

    /// Writes an element of a sequence or the key of an entry, which must not be empty: a count of empty values
    /// would cost the reader without costing the writer.
    func encodeElement<Value: Encodable>(_ value: Value) throws {
        let start = bytes.count
        try encode(value)
        guard bytes.count > start else {
            throw Self.unsupported(value, "an element of a collection takes no bytes")
        }
    }

    /// Writes an integer, least significant byte first.
    func write(_ value: some FixedWidthInteger) {
        var rest = value
        for _ in 0..<value.bitWidth / 8 {
            bytes.append(UInt8(truncatingIfNeeded: rest))
            rest >>= 8
        }
    }

    /// Writes a count of elements or bytes.
    func write(count: Int) {
        write(UInt64(count))
    }

    /// Writes bytes without their count.
    func write(raw newBytes: some Sequence<UInt8>) {
        bytes.append(contentsOf: newBytes)
    }

    /// Replaces a count that was written at `position`.
    func overwrite(count: Int, at position: Int) {
        for offset in 0..<8 {
            bytes[position + offset] = UInt8(truncatingIfNeeded: UInt64(count) >> UInt64(8 * offset))
        }
    }

    /// Runs `body` one level deeper.
    func nested(_ body: () throws -> Void) throws {
        guard depth < Bincode.maximumDepth else {
            throw BytesError.tooDeep(limit: Bincode.maximumDepth)
        }
        depth += 1
        defer { depth -= 1 }
        try body()
    }

    /// Makes `serialize` throw in the end; the first failure counts.
    func fail(_ error: any Error) {
        failure = failure ?? error
    }

    /// The bytes of one value apart from the rest.
    func separately(_ body: () throws -> Void) throws -> [UInt8] {
        let outer = bytes
        bytes = []
        defer { bytes = outer }
        try body()
        return bytes
    }

    // `Native` and `Blob` are `Value` itself, which the casts express to the compiler. A cast to `any BincodeEncodable`
    // would unwrap optionals.

    private func write<Value, Native: BincodeEncodable>(_ value: Value, as type: Native.Type) throws {
        guard let native = value as? Native else {
            throw Self.unsupported(value, "\(Value.self) is not \(type)")
        }
        try native.writeBincode(to: self)
    }

    private func write<Value, Blob: ByteBlob>(_ value: Value, asBlob type: Blob.Type) throws {
        guard let blob = value as? Blob else {
            throw Self.unsupported(value, "\(Value.self) is not \(type)")
        }
        write(count: blob.count)
        write(raw: blob)
    }

    /// The error for a value that bincode cannot express.
    static func unsupported(_ value: Any, _ reason: String) -> EncodingError {
        EncodingError.invalidValue(value, EncodingError.Context(codingPath: [], debugDescription: reason))
    }
}
