/// Reads values one after another from bytes that somebody else made.
///
/// Every read either succeeds or throws a ``BytesError`` and leaves the reader where it was. Integers are big endian
/// unless a name says otherwise. No length found in the input is believed before it has been compared with what is
/// left, so nothing is ever allocated on the word of a peer.
package struct ByteReader: Sendable {
    private var rest: ArraySlice<UInt8>

    /// Starts at the first of `bytes`; arrays and their slices are not copied.
    package init(_ bytes: some Collection<UInt8>) {
        if let array = bytes as? [UInt8] {
            rest = array[...]
        } else if let slice = bytes as? ArraySlice<UInt8> {
            rest = slice
        } else {
            rest = [UInt8](bytes)[...]
        }
    }

    /// How many bytes are left.
    package var remaining: Int { rest.count }

    /// Whether everything has been read.
    package var isAtEnd: Bool { rest.isEmpty }

    /// The next byte, without consuming it.
    package var next: UInt8? { rest.first }

    /// Reads one byte.
    package mutating func readUInt8() throws(BytesError) -> UInt8 {
        guard let byte = rest.popFirst() else {
            throw .truncated(needed: 1, available: 0)
        }
        return byte
    }

    /// Reads two bytes, most significant first.
    package mutating func readUInt16() throws(BytesError) -> UInt16 { try readInteger() }

    /// Reads four bytes, most significant first.
    package mutating func readUInt32() throws(BytesError) -> UInt32 { try readInteger() }

    /// Reads eight bytes, most significant first.
    package mutating func readUInt64() throws(BytesError) -> UInt64 { try readInteger() }

    /// Reads two bytes, least significant first.
    package mutating func readUInt16LittleEndian() throws(BytesError) -> UInt16 {
        let value: UInt16 = try readInteger()
        return value.byteSwapped
    }

    /// Reads four bytes, least significant first.
    package mutating func readUInt32LittleEndian() throws(BytesError) -> UInt32 {
        let value: UInt32 = try readInteger()
        return value.byteSwapped
    }

    /// Reads eight bytes, least significant first.
    package mutating func readUInt64LittleEndian() throws(BytesError) -> UInt64 {
        let value: UInt64 = try readInteger()
        return value.byteSwapped
    }

    /// Reads `count` bytes.
    package mutating func readBytes(count: Int) throws(BytesError) -> [UInt8] {
        [UInt8](try readSlice(count: count))
    }

    /// Reads `count` bytes without copying them.
    package mutating func readSlice(count: Int) throws(BytesError) -> ArraySlice<UInt8> {
        precondition(count >= 0, "cannot read \(count) bytes")
        guard count <= rest.count else {
            throw .truncated(needed: count, available: rest.count)
        }
        let slice = rest.prefix(count)
        rest = rest.dropFirst(count)
        return slice
    }

    /// Reads everything that is left.
    package mutating func readRemaining() -> [UInt8] {
        defer { rest = [] }
        return [UInt8](rest)
    }

    /// Reads a variable-length integer of RFC 9000, section 16; `canonical` accepts its shortest encoding only.
    package mutating func readVarint(canonical: Bool = true) throws(BytesError) -> UInt64 {
        guard let first = rest.first else {
            throw .truncated(needed: 1, available: 0)
        }
        let count = 1 << Int(first >> 6)
        guard rest.count >= count else {
            throw .truncated(needed: count, available: rest.count)
        }
        var value = UInt64(first & 0x3F)
        for byte in rest.dropFirst().prefix(count - 1) {
            value = value << 8 | UInt64(byte)
        }
        guard !canonical || ByteWriter.varintByteCount(value) == count else {
            throw .nonCanonical("a variable-length integer of \(count) bytes for \(value)")
        }
        rest = rest.dropFirst(count)
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
        guard rest.isEmpty else {
            throw .trailingBytes(rest.count)
        }
    }

    private mutating func readInteger<Integer: FixedWidthInteger & UnsignedInteger>() throws(BytesError) -> Integer {
        let count = Integer.bitWidth / 8
        guard rest.count >= count else {
            throw .truncated(needed: count, available: rest.count)
        }
        var value: Integer = 0
        for byte in rest.prefix(count) {
            value = value << 8 | Integer(byte)
        }
        rest = rest.dropFirst(count)
        return value
    }
}
