/// The head of a data item; the bytes of strings and the items of containers follow it.
internal enum DataItemHead: Equatable {
    case null
    case boolean(Bool)
    case unsigned(UInt64)
    /// The number -1 - n.
    case negative(UInt64)
    case single(Float)
    case double(Double)
    case text(count: Int)
    case bytes(count: Int)
    /// Items follow; without a count they go on until `end`.
    case array(count: Int?)
    /// Twice as many items follow, keys and values in turn.
    case map(count: Int?)
    /// Strings of one kind follow until `end`, and together they are one string.
    case chunks(ofText: Bool)
    /// The item behind it has a meaning beyond its kind, which is not looked at.
    case tag
    /// The end of what has no count.
    case end
    /// This number of bytes of unknown meaning follows.
    case opaque(count: Int)

    /// The announced item in words.
    var name: String {
        switch self {
        case .null: "null"
        case .boolean: "a boolean"
        case .unsigned, .negative: "an integer"
        case .single, .double: "a floating-point number"
        case .text, .chunks(ofText: true): "a text"
        case .bytes, .chunks(ofText: false): "a byte string"
        case .array: "an array"
        case .map: "a map"
        case .tag, .end, .opaque: "an item without a counterpart in Swift"
        }
    }
}

/// The byte format of the heads of data items, in which CBOR and MessagePack differ.
internal protocol DataItemFormat {
    /// Reads a head. Counts are not believed yet.
    static func readHead(from reader: inout ByteReader) throws(BytesError) -> DataItemHead
    /// Writes a head with a count, in its shortest form.
    static func write(_ head: DataItemHead, to writer: inout ByteWriter)
}

/// The serialization that CBOR and MessagePack share.
internal enum DataItems {
    /// The deepest nesting of arrays and maps.
    static let maximumDepth = 64

    static func serialize<Value: Encodable>(
        _ value: Value,
        in format: (some DataItemFormat).Type
    ) throws -> [UInt8] {
        let output = DataItemOutput()
        let item = try output.item(for: value, path: [])
        if let failure = output.failure {
            throw failure
        }
        var writer = ByteWriter(capacity: 64)
        try item.write(to: &writer, in: format, depth: 0)
        return writer.bytes
    }

    static func deserialize<Value: Decodable, Format: DataItemFormat>(
        _ type: Value.Type,
        from bytes: some Collection<UInt8>,
        limit: Int,
        in format: Format.Type
    ) throws -> Value {
        guard bytes.count <= limit else {
            throw BytesError.tooLong(limit: limit, found: bytes.count)
        }
        let reader = ByteReader(bytes)
        var rest = reader
        try rest.skipItem(in: format)
        try rest.finish()
        return try DataItemDecoder<Format>(reader: reader, path: []).decode(type)
    }
}
