/// A reader of values, one after another, from untrusted bytes.
///
/// Every read either succeeds, or throws a ``BytesError`` and leaves the reader at its position. Integers are big endian
/// unless a method's name states otherwise. A length in the input is compared with the remaining bytes before it is used, so
/// a peer cannot cause an allocation larger than its input.
package struct ByteReader: Sendable {
    private let bytes: ArraySlice<UInt8>
    private var position: Int

    /// Starts at the first of `bytes`; arrays and their slices are not copied.
    package init(_ bytes: some Collection<UInt8>) {
        if let array = bytes as? [UInt8] {
            self.bytes = array[...]
        } else if let slice = bytes as? ArraySlice<UInt8> {
            self.bytes = slice
        } else {
            self.bytes = [UInt8](bytes)[...]
        }
        position = self.bytes.startIndex
    }

    /// The number of bytes that are left.
    package var remaining: Int { bytes.endIndex - position }

    /// Whether everything has been read.
    package var isAtEnd: Bool { position == bytes.endIndex }

    /// The next byte, without consuming it.
    package var next: UInt8? { isAtEnd ? nil : bytes[position] }

    /// Reads one byte.
    package mutating func readUInt8() throws(BytesError) -> UInt8 {
        guard let byte = next else {
            throw .truncated(needed: 1, available: 0)
        }
        position += 1
        return byte
    }

    /// Reads two bytes, most significant first.
    package mutating func readUInt16() throws(BytesError) -> UInt16 { try readInteger() }

    /// Reads three bytes, most significant first.
    package mutating func readUInt24() throws(BytesError) -> Int {
        guard remaining >= 3 else {
            throw .truncated(needed: 3, available: remaining)
        }
        defer { position += 3 }
        return bytes[position..<position + 3].reduce(0) { $0 << 8 | Int($1) }
    }

    /// Reads four bytes, most significant first.
    package mutating func readUInt32() throws(BytesError) -> UInt32 { try readInteger() }

    /// Reads eight bytes, most significant first.
    package mutating func readUInt64() throws(BytesError) -> UInt64 { try readInteger() }

    /// Reads `count` bytes.
    package mutating func readBytes(count: Int) throws(BytesError) -> [UInt8] {
        [UInt8](try readSlice(count: count))
    }

    /// Reads `count` bytes without copying them.
    package mutating func readSlice(count: Int) throws(BytesError) -> ArraySlice<UInt8> {
        precondition(count >= 0, "cannot read \(count) bytes")
        guard count <= remaining else {
            throw .truncated(needed: count, available: remaining)
        }
        defer { position += count }
        return bytes[position..<position + count]
    }

    /// Reads everything that is left.
    package mutating func readRemaining() -> [UInt8] {
        defer { position = bytes.endIndex }
        return [UInt8](bytes[position...])
    }

    /// Reads a variable-length integer of RFC 9000, section 16; `canonical` accepts its shortest encoding only.
    package mutating func readVarint(canonical: Bool = true) throws(BytesError) -> UInt64 {
        guard let first = next else {
            throw .truncated(needed: 1, available: 0)
        }
        let count = 1 << Int(first >> 6)
        guard remaining >= count else {
            throw .truncated(needed: count, available: remaining)
        }
        var value = UInt64(first & 0x3F)
        for offset in 1..<count {
            value = value << 8 | UInt64(bytes[position + offset])
        }
        guard !canonical || ByteWriter.varintByteCount(value) == count else {
            throw .nonCanonical("a variable-length integer of \(count) bytes for \(value)")
        }
        position += count
        return value
    }

    /// Reads a variable-length count of at most `limit`, and as many bytes.
    package mutating func readVarintPrefixedBytes(limit: Int) throws(BytesError) -> [UInt8] {
        var reader = self
        let count = Int(clamping: try reader.readVarint())
        guard count <= limit else {
            throw .tooLong(limit: limit, found: count)
        }
        let bytes = try reader.readBytes(count: count)
        self = reader
        return bytes
    }

    /// Throws unless everything has been read.
    package func finish() throws(BytesError) {
        guard isAtEnd else {
            throw .trailingBytes(remaining)
        }
    }

    private mutating func readInteger<Integer: FixedWidthInteger & UnsignedInteger>() throws(BytesError) -> Integer {
        let count = Integer.bitWidth / 8
        guard remaining >= count else {
            throw .truncated(needed: count, available: remaining)
        }
        var value: Integer = 0
        for offset in 0..<count {
            value = value << 8 | Integer(bytes[position + offset])
        }
        position += count
        return value
    }
}
