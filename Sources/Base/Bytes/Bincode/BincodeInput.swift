/// The bytes of one value being read, shared by all its containers.
internal final class BincodeInput {
    var reader: ByteReader
    private var depth = 0

    init(_ bytes: some Collection<UInt8>) {
        reader = ByteReader(bytes)
    }

    /// Reads any value, in our own way where Codable's would lose something.
    func decode<Value: Decodable>(_ type: Value.Type) throws -> Value {
        if let native = type as? any BincodeDecodable.Type {
            return try read(native)
        }
        if let blob = type as? any ByteBlob.Type {
            return try read(blob: blob)
        }
        let cases = (type as? any BincodeEnum.Type)?.bincodeCases
        return try nested { try Value(from: BincodeDecoder(input: self, cases: cases)) }
    }

    /// Reads an element of a sequence or the key of an entry, which must not be empty.
    ///
    /// Otherwise a few bytes could ask for as many elements as there are bytes left, again and again.
    func decodeElement<Value: Decodable>(_ type: Value.Type) throws -> Value {
        let before = reader.remaining
        let value = try decode(type)
        guard reader.remaining < before else {
            throw BytesError.invalidValue("an element of a collection takes no bytes")
        }
        return value
    }

    /// Reads an integer, least significant byte first.
    func read<Integer: FixedWidthInteger>(_ type: Integer.Type = Integer.self) throws -> Integer {
        let bytes = try reader.readSlice(count: Integer.bitWidth / 8)
        var value: Integer = 0
        for byte in bytes.reversed() {
            value = value << 8 | Integer(truncatingIfNeeded: byte)
        }
        return value
    }

    /// Reads a count of bytes, or of elements of at least one byte, that can be there.
    func readCount() throws -> Int {
        let count = Int(clamping: try read(UInt64.self))
        guard count <= reader.remaining else {
            throw BytesError.truncated(needed: count, available: reader.remaining)
        }
        return count
    }

    /// Reads the byte before an optional value: whether there is one.
    func readIsPresent() throws -> Bool {
        switch try reader.readUInt8() {
        case 0: false
        case 1: true
        case let byte: throw BytesError.invalidValue("\(byte) where 0 or 1 says whether a value is present")
        }
    }

    /// Runs `body` one level deeper.
    func nested<Result>(_ body: () throws -> Result) throws -> Result {
        guard depth < Bincode.maximumDepth else {
            throw BytesError.tooDeep(limit: Bincode.maximumDepth)
        }
        depth += 1
        defer { depth -= 1 }
        return try body()
    }

    // `Native` and `Blob` are `Value` itself, which the casts express to the compiler.

    private func read<Value, Native: BincodeDecodable>(_ type: Native.Type) throws -> Value {
        guard let value = try type.readBincode(from: self) as? Value else {
            throw Self.unsupported("\(type) is not \(Value.self)")
        }
        return value
    }

    private func read<Value, Blob: ByteBlob>(blob type: Blob.Type) throws -> Value {
        guard let value = type.init(try reader.readSlice(count: readCount())) as? Value else {
            throw Self.unsupported("\(type) is not \(Value.self)")
        }
        return value
    }

    /// The error for a type that bincode cannot express.
    static func unsupported(_ reason: String) -> DecodingError {
        DecodingError.dataCorrupted(DecodingError.Context(codingPath: [], debugDescription: reason))
    }
}
