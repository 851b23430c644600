/// The encodings of an item that a reader accepts.
package enum CBORForm: Sendable {
    /// Every well-formed encoding: any order of keys, heads of any length, indefinite lengths, and tags, which are
    /// skipped.
    case any
    /// The one encoding of RFC 8949, section 4.2.1, and of CTAP2: the shortest heads, keys in ascending order, no
    /// indefinite lengths and no tags.
    case deterministic
}

extension CBORItem {
    /// Reads an item that takes up all of `bytes`.
    ///
    /// - Throws: ``BytesError``. Duplicate keys of a map are refused in either form, and so are keys other than integers,
    ///   byte strings and texts.
    package init(
        _ bytes: some Collection<UInt8>,
        form: CBORForm,
        limit: Int = CBOR.defaultLimit,
        maximumDepth: Int = CBOR.maximumDepth
    ) throws(BytesError) {
        guard bytes.count <= limit else { throw .tooLong(limit: limit, found: bytes.count) }
        var reader = ByteReader(bytes)
        self = try reader.readCBORItem(form: form, maximumDepth: maximumDepth)
        try reader.finish()
    }
}

extension ByteReader {
    /// Reads the item at the front of the remaining bytes, and stops behind it.
    ///
    /// Arrays and maps nest at most `maximumDepth` deep. An item costs at least one byte of input, so counts are compared
    /// with the remaining bytes before anything is reserved.
    package mutating func readCBORItem(
        form: CBORForm,
        maximumDepth: Int = CBOR.maximumDepth
    ) throws(BytesError) -> CBORItem {
        var reading = CBORReading(reader: self, form: form, maximumDepth: maximumDepth)
        let item = try reading.readItem(depth: 0)
        self = reading.reader
        return item
    }
}

/// A walk over the bytes of one item.
private struct CBORReading {
    var reader: ByteReader
    let form: CBORForm
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
        case .text(let count): return .text(try text(of: reader.readBytes(count: count)))
        case .chunks(ofText: false): return .bytes(try readChunks(ofText: false))
        case .chunks(ofText: true): return .text(try text(of: readChunks(ofText: true)))
        case .array(let count): return .array(try readElements(count, depth: depth + 1))
        case .map(let count): return .map(try readEntries(count, depth: depth + 1))
        case .end: throw .invalidValue("an end without a beginning")
        case .opaque, .tag: throw .invalidValue("a simple value of unknown meaning")
        }
    }

    /// Reads a head, which is written again to compare it with its one deterministic encoding.
    private mutating func readHead() throws(BytesError) -> DataItemHead {
        let start = reader
        var head = try DataItemHead.read(from: &reader)
        guard form == .deterministic else {
            while head == .tag { head = try DataItemHead.read(from: &reader) }
            return head
        }
        switch head {
        case .tag: throw .nonCanonical("a tag")
        case .array(nil), .map(nil), .chunks: throw .nonCanonical("an item of indefinite length")
        case .end, .opaque: return head
        default: break
        }
        var writer = ByteWriter(capacity: 9)
        head.write(to: &writer)
        var read = start
        let bytes = try read.readSlice(count: start.remaining - reader.remaining)
        guard bytes.elementsEqual(writer.bytes) else { throw .nonCanonical("a head that could be shorter") }
        return head
    }

    private mutating func readElements(_ count: Int?, depth: Int) throws(BytesError) -> [CBORItem] {
        try check(count, size: 1, depth: depth)
        var elements: [CBORItem] = []
        while try hasNext(after: elements.count, of: count) {
            elements.append(try readItem(depth: depth))
        }
        return elements
    }

    private mutating func readEntries(_ count: Int?, depth: Int) throws(BytesError) -> [CBORItem: CBORItem] {
        try check(count, size: 2, depth: depth)
        var entries: [CBORItem: CBORItem] = [:]
        var former: ArraySlice<UInt8>?
        while try hasNext(after: entries.count, of: count) {
            var start = reader
            let key = try readItem(depth: depth)
            switch key {
            case .unsigned, .negative, .bytes, .text: break
            default: throw .invalidValue("a map key that is neither an integer nor a string")
            }
            if form == .deterministic {
                let bytes = try start.readSlice(count: start.remaining - reader.remaining)
                if let former, bytes.lexicographicallyPrecedes(former) {
                    throw .nonCanonical("the keys of a map are not in order")
                }
                former = bytes
            }
            guard entries.updateValue(try readItem(depth: depth), forKey: key) == nil else {
                throw .invalidValue("a map with a duplicate key")
            }
        }
        return entries
    }

    private func check(_ count: Int?, size: Int, depth: Int) throws(BytesError) {
        guard depth <= maximumDepth else { throw .tooDeep(limit: maximumDepth) }
        guard let count, count > reader.remaining / size else { return }
        throw .truncated(needed: count, available: reader.remaining)
    }

    private mutating func hasNext(after read: Int, of count: Int?) throws(BytesError) -> Bool {
        guard let count else { return try !reader.skipEnd() }
        return read < count
    }

    private mutating func readChunks(ofText isText: Bool) throws(BytesError) -> [UInt8] {
        var bytes: [UInt8] = []
        while true {
            switch (try DataItemHead.read(from: &reader), isText) {
            case (.text(let count), true):
                // Each chunk of a text is a text of its own.
                let chunk = try reader.readSlice(count: count)
                guard String(utf8: chunk) != nil else { throw .invalidUTF8 }
                bytes += chunk
            case (.bytes(let count), false): bytes += try reader.readSlice(count: count)
            case (.end, _): return bytes
            default: throw .invalidValue("a string is made of strings of another kind")
            }
        }
    }

    private func text(of bytes: [UInt8]) throws(BytesError) -> String {
        guard let text = String(utf8: bytes) else { throw .invalidUTF8 }
        return text
    }
}
