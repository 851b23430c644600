/// CBOR (RFC 8949) for Codable types.
///
/// | Swift | CBOR |
/// |---|---|
/// | integers | unsigned or negative integers |
/// | `Float`, `Double` | the shortest floating-point number that is exactly the value |
/// | `String`, `Bool`, nil | text, true or false, null |
/// | `[UInt8]`, `Data` | byte string |
/// | arrays, sets | array; a set in the order of its encoded elements |
/// | structs, classes, dictionaries with keys of text or integers | map with keys of text |
/// | enums with raw values | the raw value |
/// | other enums | what Codable makes of them: a map of the case's name to its values |
///
/// The output is deterministic (RFC 8949, section 4.2.1): shortest heads, no indefinite lengths, and the entries of maps
/// sorted by the bytes of their keys. It has the shape of the JSON of the same type, so that either can be chosen for a
/// service; only bytes are bytes and not text.
///
/// Reading is liberal towards other implementations: any order of entries, any length of heads, indefinite lengths, an
/// array of integers for bytes, integral floating-point numbers for integers, integers for keys, and tags, which are
/// passed over. Duplicate keys are refused.
///
/// Input is not trusted: it is at most `limit` bytes, all of it is walked through before any of it is believed, arrays
/// and maps nest at most ``maximumDepth`` deep, and bytes after the value are refused.
public enum CBOR {
    /// The deepest nesting of arrays and maps.
    public static let maximumDepth = DataItems.maximumDepth
    /// The most bytes that are read unless the caller says otherwise: 1 MiB.
    public static let defaultLimit = 1 << 20

    /// Encodes a value.
    ///
    /// - Throws: `EncodingError` if the type cannot be expressed, ``BytesError/tooDeep(limit:)`` if it is nested too
    ///   deeply, or what its own `encode(to:)` throws.
    public static func serialize<Value: Encodable>(_ value: Value) throws -> [UInt8] {
        try DataItems.serialize(value, in: CBORFormat.self)
    }

    /// Decodes a value that takes up all of `bytes`.
    ///
    /// - Throws: ``BytesError`` if the bytes are wrong, `DecodingError` or the type's own errors if their values are.
    public static func deserialize<Value: Decodable>(
        _ type: Value.Type,
        from bytes: some Collection<UInt8>,
        limit: Int = defaultLimit
    ) throws -> Value {
        try DataItems.deserialize(type, from: bytes, limit: limit, in: CBORFormat.self)
    }
}

/// The heads of RFC 8949, section 3: three bits of major type, five of additional information, and its argument.
internal enum CBORFormat: DataItemFormat {
    static func readHead(from reader: inout ByteReader) throws(BytesError) -> DataItemHead {
        let first = try reader.readUInt8()
        let (major, information) = (first >> 5, first & 0x1F)
        if major == 7 {
            return try readSimple(information, from: &reader)
        }
        let argument: UInt64
        switch information {
        case 24: argument = UInt64(try reader.readUInt8())
        case 25: argument = UInt64(try reader.readUInt16())
        case 26: argument = UInt64(try reader.readUInt32())
        case 27: argument = try reader.readUInt64()
        case 28...30: throw .invalidValue("the head \(first) of an item")
        case 31: return try indefinite(major)
        default: argument = UInt64(information)
        }
        return switch major {
        case 0: .unsigned(argument)
        case 1: .negative(argument)
        case 2: .bytes(count: Int(clamping: argument))
        case 3: .text(count: Int(clamping: argument))
        case 4: .array(count: Int(clamping: argument))
        case 5: .map(count: Int(clamping: argument))
        default: .tag
        }
    }

    private static func indefinite(_ major: UInt8) throws(BytesError) -> DataItemHead {
        switch major {
        case 2: return .chunks(ofText: false)
        case 3: return .chunks(ofText: true)
        case 4: return .array(count: nil)
        case 5: return .map(count: nil)
        default: throw .invalidValue("an item of major type \(major) without a length")
        }
    }

    private static func readSimple(
        _ information: UInt8,
        from reader: inout ByteReader
    ) throws(BytesError) -> DataItemHead {
        switch information {
        case 20: return .boolean(false)
        case 21: return .boolean(true)
        case 22, 23: return .null  // 23 is JavaScript's undefined.
        case 24:
            let value = try reader.readUInt8()
            guard value >= 32 else {
                throw .invalidValue("the simple value \(value) in two bytes")
            }
            return .opaque(count: 0)
        case 25: return .single(HalfPrecision.value(of: try reader.readUInt16()))
        case 26: return .single(Float(bitPattern: try reader.readUInt32()))
        case 27: return .double(Double(bitPattern: try reader.readUInt64()))
        case 28...30: throw .invalidValue("the simple value \(information)")
        case 31: return .end
        default: return .opaque(count: 0)
        }
    }

    static func write(_ head: DataItemHead, to writer: inout ByteWriter) {
        switch head {
        case .null: writer.write(UInt8(0xF6))
        case .boolean(let value): writer.write(UInt8(value ? 0xF5 : 0xF4))
        case .unsigned(let value): write(major: 0, value, to: &writer)
        case .negative(let value): write(major: 1, value, to: &writer)
        case .bytes(let count): write(major: 2, UInt64(count), to: &writer)
        case .text(let count): write(major: 3, UInt64(count), to: &writer)
        case .array(let count?): write(major: 4, UInt64(count), to: &writer)
        case .map(let count?): write(major: 5, UInt64(count), to: &writer)
        case .single(let value): write(value, to: &writer)
        case .double(let value):
            let single = Float(value)
            if Double(single) == value || value.isNaN {
                write(single, to: &writer)
            } else {
                writer.write(UInt8(0xFB))
                writer.write(value.bitPattern)
            }
        case .array(nil), .map(nil), .chunks, .tag, .end, .opaque:
            preconditionFailure("\(head) is only read")
        }
    }

    private static func write(_ value: Float, to writer: inout ByteWriter) {
        if let half = HalfPrecision.bits(exactly: value) {
            writer.write(UInt8(0xF9))
            writer.write(half)
        } else {
            writer.write(UInt8(0xFA))
            writer.write(value.bitPattern)
        }
    }

    private static func write(major: UInt8, _ argument: UInt64, to writer: inout ByteWriter) {
        switch argument {
        case 0..<24: writer.write(major << 5 | UInt8(argument))
        case 24...0xFF:
            writer.write(major << 5 | 24)
            writer.write(UInt8(argument))
        case 0x100...0xFFFF:
            writer.write(major << 5 | 25)
            writer.write(UInt16(argument))
        case 0x1_0000...0xFFFF_FFFF:
            writer.write(major << 5 | 26)
            writer.write(UInt32(argument))
        default:
            writer.write(major << 5 | 27)
            writer.write(argument)
        }
    }
}
