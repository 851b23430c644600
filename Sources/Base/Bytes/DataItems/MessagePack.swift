/// MessagePack (the specification of August 2017, with its byte strings) for Codable types.
///
/// Types are mapped as described at ``CBOR``, with `bin` for bytes and `str` for text. Integers and lengths have their
/// shortest form, entries of maps are sorted by the bytes of their keys, and floating-point numbers keep their width,
/// so that equal values have equal bytes.
///
/// Reading is liberal in the same way: any order of entries and any length of heads, an array of integers for bytes,
/// integral floating-point numbers for integers, integers for keys. Extensions are passed over and have no counterpart
/// in Swift. Duplicate keys are refused.
///
/// Input is not trusted: it is at most `limit` bytes, all of it is walked through before any of it is believed, arrays
/// and maps nest at most ``maximumDepth`` deep, and bytes after the value are refused.
public enum MessagePack {
    /// The deepest nesting of arrays and maps.
    public static let maximumDepth = DataItems.maximumDepth
    /// The most bytes that are read unless the caller says otherwise: 1 MiB.
    public static let defaultLimit = 1 << 20

    /// Encodes a value.
    ///
    /// - Throws: `EncodingError` if the type cannot be expressed, ``BytesError/tooDeep(limit:)`` if it is nested too
    ///   deeply, or what its own `encode(to:)` throws.
    public static func serialize<Value: Encodable>(_ value: Value) throws -> [UInt8] {
        try DataItems.serialize(value, in: MessagePackFormat.self)
    }

    /// Decodes a value that takes up all of `bytes`.
    ///
    /// - Throws: ``BytesError`` if the bytes are wrong, `DecodingError` or the type's own errors if their values are.
    public static func deserialize<Value: Decodable>(
        _ type: Value.Type,
        from bytes: some Collection<UInt8>,
        limit: Int = defaultLimit
    ) throws -> Value {
        try DataItems.deserialize(type, from: bytes, limit: limit, in: MessagePackFormat.self)
    }
}

/// The first bytes of MessagePack's formats.
internal enum MessagePackFormat: DataItemFormat {
    static func readHead(from reader: inout ByteReader) throws(BytesError) -> DataItemHead {
        let first = try reader.readUInt8()
        switch first {
        case 0x00...0x7F: return .unsigned(UInt64(first))
        case 0x80...0x8F: return .map(count: Int(first & 0x0F))
        case 0x90...0x9F: return .array(count: Int(first & 0x0F))
        case 0xA0...0xBF: return .text(count: Int(first & 0x1F))
        case 0xE0...0xFF: return .negative(UInt64(0xFF - first))
        case 0xC0: return .null
        case 0xC2: return .boolean(false)
        case 0xC3: return .boolean(true)
        case 0xC4...0xC6: return .bytes(count: try readCount(first - 0xC4, from: &reader))
        case 0xC7...0xC9: return .opaque(count: try readCount(first - 0xC7, from: &reader) + 1)
        case 0xCA: return .single(Float(bitPattern: try reader.readUInt32()))
        case 0xCB: return .double(Double(bitPattern: try reader.readUInt64()))
        case 0xCC...0xCE: return .unsigned(UInt64(try readCount(first - 0xCC, from: &reader)))
        case 0xCF: return .unsigned(try reader.readUInt64())
        case 0xD0: return signed(Int64(Int8(bitPattern: try reader.readUInt8())))
        case 0xD1: return signed(Int64(Int16(bitPattern: try reader.readUInt16())))
        case 0xD2: return signed(Int64(Int32(bitPattern: try reader.readUInt32())))
        case 0xD3: return signed(Int64(bitPattern: try reader.readUInt64()))
        case 0xD4...0xD8: return .opaque(count: 1 + 1 << Int(first - 0xD4))
        case 0xD9...0xDB: return .text(count: try readCount(first - 0xD9, from: &reader))
        case 0xDC, 0xDD: return .array(count: try readCount(first - 0xDC + 1, from: &reader))
        case 0xDE, 0xDF: return .map(count: try readCount(first - 0xDE + 1, from: &reader))
        default: throw .invalidValue("the first byte \(first) of an item")
        }
    }

    /// A number of 1, 2 or 4 bytes.
    private static func readCount(_ power: UInt8, from reader: inout ByteReader) throws(BytesError) -> Int {
        switch power {
        case 0: Int(try reader.readUInt8())
        case 1: Int(try reader.readUInt16())
        default: Int(try reader.readUInt32())
        }
    }

    private static func signed(_ value: Int64) -> DataItemHead {
        value < 0 ? .negative(UInt64(-1 - value)) : .unsigned(UInt64(value))
    }

    static func write(_ head: DataItemHead, to writer: inout ByteWriter) {
        switch head {
        case .null: writer.write(UInt8(0xC0))
        case .boolean(let value): writer.write(UInt8(value ? 0xC3 : 0xC2))
        case .unsigned(let value): write(value, to: &writer)
        case .negative(let value): write(negative: value, to: &writer)
        case .bytes(let count): write(count, short: nil, [0xC4, 0xC5, 0xC6], to: &writer)
        case .text(let count): write(count, short: (0xA0, 32), [0xD9, 0xDA, 0xDB], to: &writer)
        case .array(let count?): write(count, short: (0x90, 16), [nil, 0xDC, 0xDD], to: &writer)
        case .map(let count?): write(count, short: (0x80, 16), [nil, 0xDE, 0xDF], to: &writer)
        case .single(let value):
            writer.write(UInt8(0xCA))
            writer.write(value.bitPattern)
        case .double(let value):
            writer.write(UInt8(0xCB))
            writer.write(value.bitPattern)
        case .array(nil), .map(nil), .chunks, .tag, .end, .opaque:
            preconditionFailure("\(head) is only read")
        }
    }

    private static func write(_ value: UInt64, to writer: inout ByteWriter) {
        switch value {
        case 0...0x7F: writer.write(UInt8(value))
        case 0x80...0xFF:
            writer.write(UInt8(0xCC))
            writer.write(UInt8(value))
        case 0x100...0xFFFF:
            writer.write(UInt8(0xCD))
            writer.write(UInt16(value))
        case 0x1_0000...0xFFFF_FFFF:
            writer.write(UInt8(0xCE))
            writer.write(UInt32(value))
        default:
            writer.write(UInt8(0xCF))
            writer.write(value)
        }
    }

    /// Writes -1 - `number`.
    private static func write(negative number: UInt64, to writer: inout ByteWriter) {
        let bits = ~number  // -1 - n in two's complement
        switch number {
        case 0..<32: writer.write(UInt8(truncatingIfNeeded: bits))
        case 0...0x7F:
            writer.write(UInt8(0xD0))
            writer.write(UInt8(truncatingIfNeeded: bits))
        case 0...0x7FFF:
            writer.write(UInt8(0xD1))
            writer.write(UInt16(truncatingIfNeeded: bits))
        case 0...0x7FFF_FFFF:
            writer.write(UInt8(0xD2))
            writer.write(UInt32(truncatingIfNeeded: bits))
        default:
            writer.write(UInt8(0xD3))
            writer.write(bits)
        }
    }

    /// Writes a count in the first byte if it is below the limit of `short`, or behind the byte for 1, 2 or 4 bytes.
    private static func write(
        _ count: Int,
        short: (first: UInt8, limit: Int)?,
        _ firsts: [UInt8?],
        to writer: inout ByteWriter
    ) {
        precondition(count <= UInt32.max, "MessagePack cannot express a length of \(count)")
        if let short, count < short.limit {
            writer.write(short.first | UInt8(count))
        } else if count <= 0xFF, let first = firsts[0] {
            writer.write(first)
            writer.write(UInt8(count))
        } else if count <= 0xFFFF, let first = firsts[1] {
            writer.write(first)
            writer.write(UInt16(count))
        } else if let first = firsts[2] {
            writer.write(first)
            writer.write(UInt32(count))
        }
    }
}
