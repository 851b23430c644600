/// From this many entries on, keys are looked up in a dictionary.
private let manyEntries = 12

/// The fields of a struct: a map whose keys are texts, or integers, which stand for their digits.
internal struct DataItemFieldDecoder<Key: CodingKey>: KeyedDecodingContainerProtocol {
    private let decoder: DataItemDecoder
    /// Keys, and how much input was left at their values.
    private var entries: [(key: String, remaining: Int)] = []
    private var places: [String: Int] = [:]

    init(of decoder: DataItemDecoder) throws {
        self.decoder = decoder
        var (head, reader) = try decoder.head()
        guard case .map(let count) = head else {
            throw decoder.mismatch([String: Any].self, head.name)
        }
        while try count.map({ entries.count < $0 }) ?? !reader.skipEnd() {
            let key = try Self.key(DataItemDecoder(reader: reader, path: decoder.codingPath))
            try reader.skipItem()
            try add(key, remaining: reader.remaining)
            try reader.skipItem()
        }
    }

    private mutating func add(_ key: String, remaining: Int) throws {
        guard place(of: key) == nil else {
            throw BytesError.nonCanonical("a key of a map occurs twice")
        }
        if entries.count == manyEntries {
            for (place, entry) in entries.enumerated() { places[entry.key] = place }
        }
        if entries.count >= manyEntries { places[key] = entries.count }
        entries.append((key, remaining))
    }

    private static func key(_ decoder: DataItemDecoder) throws -> String {
        switch try decoder.head().0 {
        case .text, .chunks(ofText: true): return try decoder.readText()
        case .unsigned(let number): return String(number)
        case .negative(let number): return number == .max ? "-18446744073709551616" : "-\(number + 1)"
        case let head: throw decoder.corrupted("\(head.name) is the key of a map where a text is expected")
        }
    }

    private func place(of text: String) -> Int? {
        entries.count > manyEntries ? places[text] : entries.firstIndex { $0.key == text }
    }

    private func place(of key: Key) -> Int? {
        place(of: key.stringValue) ?? key.intValue.flatMap { place(of: String($0)) }
    }

    var codingPath: [any CodingKey] { decoder.codingPath }

    var allKeys: [Key] {
        entries.compactMap { entry in Key(stringValue: entry.key) ?? Int(entry.key).flatMap { Key(intValue: $0) } }
    }

    func contains(_ key: Key) -> Bool { place(of: key) != nil }

    func decodeNil(forKey key: Key) throws -> Bool {
        try value(at: key).isNull
    }

    func decode<Value: Decodable>(_ type: Value.Type, forKey key: Key) throws -> Value {
        try value(at: key).decode(type)
    }

    func nestedContainer<Nested: CodingKey>(
        keyedBy type: Nested.Type,
        forKey key: Key
    ) throws -> KeyedDecodingContainer<Nested> {
        try value(at: key).container(keyedBy: type)
    }

    func nestedUnkeyedContainer(forKey key: Key) throws -> any UnkeyedDecodingContainer {
        try value(at: key).unkeyedContainer()
    }

    func superDecoder() throws -> any Decoder {
        guard let place = place(of: DataItemKey.parent.stringValue) else {
            throw missing(DataItemKey.parent)
        }
        return try value(atPlace: place, key: DataItemKey.parent)
    }

    func superDecoder(forKey key: Key) throws -> any Decoder {
        try value(at: key)
    }

    private func value(at key: Key) throws -> DataItemDecoder {
        guard let place = place(of: key) else {
            throw missing(key)
        }
        return try value(atPlace: place, key: key)
    }

    private func value(atPlace place: Int, key: any CodingKey) throws -> DataItemDecoder {
        var reader = decoder.reader
        _ = try reader.readSlice(count: reader.remaining - entries[place].remaining)
        return DataItemDecoder(reader: reader, path: codingPath + [key])
    }

    private func missing(_ key: any CodingKey) -> DecodingError {
        let context = DecodingError.Context(codingPath: codingPath, debugDescription: "there is no such key")
        return DecodingError.keyNotFound(key, context)
    }
}

/// The elements of a collection: an array, or the bytes of a byte string.
internal struct DataItemElementDecoder: UnkeyedDecodingContainer {
    private let decoder: DataItemDecoder
    private var reader: ByteReader
    /// The bytes of a byte string, for types that read them one by one.
    private let bytes: [UInt8]?
    let count: Int?
    private(set) var currentIndex = 0
    private(set) var isAtEnd: Bool

    init(of decoder: DataItemDecoder) throws {
        self.decoder = decoder
        let head: DataItemHead
        (head, reader) = try decoder.head()
        switch head {
        case .array(let count):
            self.count = count
            bytes = nil
            isAtEnd = count == 0
            if count == nil { isAtEnd = try reader.skipEnd() }
        case .bytes, .chunks(ofText: false):
            let bytes = try decoder.readBytes()
            self.bytes = bytes
            count = bytes.count
            isAtEnd = bytes.isEmpty
        default:
            throw decoder.mismatch([Any].self, head.name)
        }
    }

    var codingPath: [any CodingKey] { decoder.codingPath }

    mutating func decode<Value: Decodable>(_ type: Value.Type) throws -> Value {
        if let bytes, currentIndex < bytes.count {
            guard let value = bytes[currentIndex] as? Value else {
                throw decoder.mismatch(Value.self, "a byte string")
            }
            try advance()
            return value
        }
        let value = try next().decode(type)
        try advance()
        return value
    }

    mutating func decodeNil() throws -> Bool {
        guard bytes == nil, try next().isNull else {
            return false
        }
        try advance()
        return true
    }

    mutating func nestedContainer<Nested: CodingKey>(
        keyedBy type: Nested.Type
    ) throws -> KeyedDecodingContainer<Nested> {
        let container = try next().container(keyedBy: type)
        try advance()
        return container
    }

    mutating func nestedUnkeyedContainer() throws -> any UnkeyedDecodingContainer {
        let container = try next().unkeyedContainer()
        try advance()
        return container
    }

    mutating func superDecoder() throws -> any Decoder {
        let decoder = try next()
        try advance()
        return decoder
    }

    private func next() throws -> DataItemDecoder {
        guard !isAtEnd, bytes == nil else {
            let context = DecodingError.Context(
                codingPath: codingPath,
                debugDescription: "more elements are read than the \(currentIndex) that there are"
            )
            throw DecodingError.valueNotFound(Any.self, context)
        }
        return DataItemDecoder(reader: reader, path: codingPath + [DataItemKey(index: currentIndex)])
    }

    private mutating func advance() throws {
        if bytes == nil { try reader.skipItem() }
        currentIndex += 1
        isAtEnd = currentIndex == count
        if count == nil { isAtEnd = try reader.skipEnd() }
    }
}

/// A value that stands for its owner.
internal struct DataItemValueDecoder: SingleValueDecodingContainer {
    let decoder: DataItemDecoder
    var codingPath: [any CodingKey] { decoder.codingPath }

    func decodeNil() -> Bool { decoder.isNull }

    func decode<Value: Decodable>(_ type: Value.Type) throws -> Value {
        try decoder.decode(type)
    }
}
