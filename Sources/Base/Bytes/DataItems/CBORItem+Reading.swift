extension CBORItem {
    /// Reads an item that takes up all of `bytes`, in the one encoding of RFC 8949, section 4.2.1, and of CTAP2: the
    /// shortest heads, keys in ascending order, no indefinite lengths and no tags.
    ///
    /// - Throws: ``BytesError``. Duplicate keys of a map are refused, and so are keys other than integers, byte strings and
    ///   texts.
    package init(
        _ bytes: some Collection<UInt8>,
        limit: Int = CBOR.defaultLimit,
        maximumDepth: Int = CBOR.maximumDepth
    ) throws(BytesError) {
        guard bytes.count <= limit else { throw .tooLong(limit: limit, found: bytes.count) }
        var reader = ByteReader(bytes)
        self = try reader.readCBORItem(maximumDepth: maximumDepth)
        try reader.finish()
    }
}

extension ByteReader {
    /// Reads the item at the front of the remaining bytes, in the encoding of ``CBORItem/init(_:limit:maximumDepth:)``, and
    /// stops behind it.
    ///
    /// Arrays and maps nest at most `maximumDepth` deep. An item costs at least one byte of input, so counts are compared
    /// with the remaining bytes before anything is reserved.
    package mutating func readCBORItem(maximumDepth: Int = CBOR.maximumDepth) throws(BytesError) -> CBORItem {
        var reading = CBORReading(reader: self, maximumDepth: maximumDepth)
        let item = try reading.readItem(depth: 0)
        self = reading.reader
        return item
    }
}

/// A walk over the bytes of one item.
private struct CBORReading {
    var reader: ByteReader
    let maximumDepth: Int

    mutating func readItem(depth: Int) throws(BytesError) -> CBORItem {
        switch try readHead() {
        case .null: return .null
        case .boolean(let value): return .boolean(value)
        case .unsigned(let value): return .unsigned(value)
        case .negative(let value): return .negative(value)
        case .single(let value): return .number(Double(value))
        case .double(let value): return .number(value)
        case .bytes(let count): return .bytes(try reader.readBytes(count: count))
        case .text(let count):
            guard let text = String(utf8: try reader.readSlice(count: count)) else { throw .invalidUTF8 }
            return .text(text)
        case .array(let count?): return .array(try readElements(count, depth: depth + 1))
        case .map(let count?): return .map(try readEntries(count, depth: depth + 1))
        case .array(nil), .map(nil), .chunks: throw .nonCanonical("an item of indefinite length")
        case .tag: throw .nonCanonical("a tag")
        case .end: throw .invalidValue("an end without a beginning")
        case .opaque: throw .invalidValue("a simple value of unknown meaning")
        }
    }

    /// Reads a head, which is written again to compare it with its one encoding.
    private mutating func readHead() throws(BytesError) -> DataItemHead {
        var start = reader
        let head = try DataItemHead.read(from: &reader)
        var writer = ByteWriter(capacity: 9)
        switch head {
        case .array(nil), .map(nil), .chunks, .tag, .end, .opaque: return head  // refused by the caller
        case .null, .boolean, .unsigned, .negative, .single, .double, .bytes, .text, .array, .map:
            head.write(to: &writer)
        }
        let bytes = try start.readSlice(count: start.remaining - reader.remaining)
        guard bytes.elementsEqual(writer.bytes) else { throw .nonCanonical("a head that could be shorter") }
        return head
    }

    private mutating func readElements(_ count: Int, depth: Int) throws(BytesError) -> [CBORItem] {
        try check(count, size: 1, depth: depth)
        var elements: [CBORItem] = []
        for _ in 0..<count { elements.append(try readItem(depth: depth)) }
        return elements
    }

    private mutating func readEntries(_ count: Int, depth: Int) throws(BytesError) -> [CBORItem: CBORItem] {
        try check(count, size: 2, depth: depth)
        var entries: [CBORItem: CBORItem] = [:]
        var former: ArraySlice<UInt8>?
        for _ in 0..<count {
            var start = reader
            let key = try readItem(depth: depth)
            switch key {
            case .unsigned, .negative, .bytes, .text: break
            case .number, .array, .map, .boolean, .null:
                throw .invalidValue("a map key that is neither an integer nor a string")
            }
            let bytes = try start.readSlice(count: start.remaining - reader.remaining)
            if let former, bytes.lexicographicallyPrecedes(former) {
                throw .nonCanonical("the keys of a map are not in order")
            }
            former = bytes
            guard entries.updateValue(try readItem(depth: depth), forKey: key) == nil else {
                throw .invalidValue("a map with a duplicate key")
            }
        }
        return entries
    }

    private func check(_ count: Int, size: Int, depth: Int) throws(BytesError) {
        guard depth <= maximumDepth else { throw .tooDeep(limit: maximumDepth) }
        guard count <= reader.remaining / size else { throw .truncated(needed: count, available: reader.remaining) }
    }
}
