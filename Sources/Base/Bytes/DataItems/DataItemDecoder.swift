/// The decoder of a single item that was located before; its reader is at the item's head.
///
/// The whole input was validated before, so heads, counts and depths are correct.
internal struct DataItemDecoder: Decoder {
    let reader: ByteReader
    let codingPath: [any CodingKey]
    var userInfo: [CodingUserInfoKey: Any] { [:] }

    init(reader: ByteReader, path: [any CodingKey]) {
        self.reader = reader
        codingPath = path
    }

    /// Reads the item as any type, in our own way where Codable's would lose something.
    func decode<Value: Decodable>(_ type: Value.Type) throws -> Value {
        if let native = Value.self as? any DataItemConvertible.Type {
            return try read(native)
        }
        if let blob = Value.self as? any ByteBlob.Type {
            return try read(blob: blob)
        }
        return try Value(from: self)
    }

    func container<Key: CodingKey>(keyedBy type: Key.Type) throws -> KeyedDecodingContainer<Key> {
        KeyedDecodingContainer(try DataItemFieldDecoder<Key>(of: self))
    }

    func unkeyedContainer() throws -> any UnkeyedDecodingContainer {
        try DataItemElementDecoder(of: self)
    }

    func singleValueContainer() -> any SingleValueDecodingContainer {
        DataItemValueDecoder(decoder: self)
    }

    // `Native` and `Blob` are `Value` itself, which the casts express to the compiler.

    private func read<Value, Native: DataItemConvertible>(_ type: Native.Type) throws -> Value {
        guard let value = try type.init(from: self) as? Value else {
            throw mismatch(Value.self, "the type itself")
        }
        return value
    }

    private func read<Value, Blob: ByteBlob>(blob type: Blob.Type) throws -> Value {
        guard let value = type.init(try readBytes()[...]) as? Value else {
            throw mismatch(Value.self, "the type itself")
        }
        return value
    }
}

// The values that single items decode to.
extension DataItemDecoder {
    /// The head of the item after its tags, and a reader of the bytes that follow the head.
    func head() throws(BytesError) -> (DataItemHead, ByteReader) {
        var reader = self.reader
        var head = try DataItemHead.read(from: &reader)
        while head == .tag {
            head = try DataItemHead.read(from: &reader)
        }
        return (head, reader)
    }

    var isNull: Bool {
        let found = try? head().0  // It was read before; whoever reads the value gets the error.
        return found == .null
    }

    func readBoolean() throws -> Bool {
        let (head, _) = try head()
        guard case .boolean(let value) = head else {
            throw mismatch(Bool.self, head.name)
        }
        return value
    }

    func readInteger<Value: FixedWidthInteger>() throws -> Value {
        let (head, _) = try head()
        let value: Value?
        switch head {
        case .unsigned(let number): value = Value(exactly: number)
        case .negative(let number): value = Int64(exactly: number).flatMap { Value(exactly: -1 - $0) }
        // Languages with one kind of number write integers like this.
        case .single(let number): value = Value(exactly: number)
        case .double(let number): value = Value(exactly: number)
        default: throw mismatch(Value.self, head.name)
        }
        guard let value else {
            throw corrupted("the number does not fit \(Value.self)")
        }
        return value
    }

    func readDouble() throws -> Double {
        let (head, _) = try head()
        let value: Double?
        switch head {
        case .single(let number): value = Double(number)
        case .double(let number): value = number
        case .unsigned(let number): value = Double(exactly: number)
        case .negative(let number): value = Int64(exactly: number).flatMap { Double(exactly: -1 - $0) }
        default: throw mismatch(Double.self, head.name)
        }
        guard let value else {
            throw corrupted("the integer is no floating-point number")
        }
        return value
    }

    func readText() throws -> String {
        var (head, reader) = try head()
        let bytes: [UInt8]
        switch head {
        case .text(let count): bytes = try reader.readBytes(count: count)
        case .chunks(ofText: true): bytes = try readChunks(from: reader)
        default: throw mismatch(String.self, head.name)
        }
        let text = String(decoding: bytes, as: UTF8.self)
        // Decoding replaces invalid sequences, so the bytes differ.
        guard text.utf8.elementsEqual(bytes) else {
            throw BytesError.invalidUTF8
        }
        return text
    }

    /// A byte string; other languages also write an array of small integers.
    func readBytes() throws -> [UInt8] {
        var (head, reader) = try head()
        switch head {
        case .bytes(let count): return try reader.readBytes(count: count)
        case .chunks(ofText: false): return try readChunks(from: reader)
        case .array:
            var elements = try DataItemElementDecoder(of: self)
            var bytes: [UInt8] = []
            while !elements.isAtEnd { bytes.append(try elements.decode(UInt8.self)) }
            return bytes
        default: throw mismatch([UInt8].self, head.name)
        }
    }

    private func readChunks(from start: ByteReader) throws -> [UInt8] {
        var reader = start
        var bytes: [UInt8] = []
        while true {
            switch try DataItemHead.read(from: &reader) {
            case .text(let count), .bytes(let count): bytes += try reader.readSlice(count: count)
            default: return bytes
            }
        }
    }

    func mismatch(_ type: Any.Type, _ found: String) -> DecodingError {
        let context = DecodingError.Context(codingPath: codingPath, debugDescription: "found \(found)")
        return DecodingError.typeMismatch(type, context)
    }

    func corrupted(_ reason: String) -> DecodingError {
        DecodingError.dataCorrupted(DecodingError.Context(codingPath: codingPath, debugDescription: reason))
    }
}

extension ByteReader {
    /// Skips an item with everything in it.
    ///
    /// Counts are not trusted: an item takes at least one byte.
    mutating func skipItem(depth: Int = 0) throws(BytesError) {
        var head = try DataItemHead.read(from: &self)
        while head == .tag {
            head = try DataItemHead.read(from: &self)
        }
        switch head {
        case .text(let count), .bytes(let count): _ = try readSlice(count: count)
        case .array(let count): try skipItems(count, by: 1, depth: depth + 1)
        case .map(let count): try skipItems(count, by: 2, depth: depth + 1)
        case .chunks(let isText): try skipChunks(ofText: isText)
        case .end: throw .invalidValue("an end without a beginning")
        default: break
        }
    }

    private mutating func skipItems(
        _ count: Int?,
        by size: Int,
        depth: Int
    ) throws(BytesError) {
        guard depth <= CBOR.maximumDepth else {
            throw .tooDeep(limit: CBOR.maximumDepth)
        }
        if let count {
            guard count <= remaining / size else {
                throw .truncated(needed: count, available: remaining)
            }
            for _ in 0..<count * size { try skipItem(depth: depth) }
            return
        }
        while try !skipEnd() {
            for _ in 0..<size { try skipItem(depth: depth) }
        }
    }

    /// Consumes the end of an item without a count, if it is next.
    mutating func skipEnd() throws(BytesError) -> Bool {
        var reader = self
        guard try DataItemHead.read(from: &reader) == .end else {
            return false
        }
        self = reader
        return true
    }

    private mutating func skipChunks(ofText isText: Bool) throws(BytesError) {
        while true {
            switch (try DataItemHead.read(from: &self), isText) {
            case (.text(let count), true), (.bytes(let count), false): _ = try readSlice(count: count)
            case (.end, _): return
            default: throw .invalidValue("a string is made of strings of another kind")
            }
        }
    }
}
