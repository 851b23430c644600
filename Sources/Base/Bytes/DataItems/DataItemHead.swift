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
    /// An array of `count` items; without a count, the items end with `end`.
    case array(count: Int?)
    /// A map of `count` pairs, each a key and its value; without a count, the pairs end with `end`.
    case map(count: Int?)
    /// A string of indefinite length: chunks of one kind, which end with `end`.
    case chunks(ofText: Bool)
    /// A tag, which gives the next item a meaning beyond its kind; the meaning is ignored.
    case tag
    /// The end of an item without a count.
    case end
    /// A simple value of unknown meaning.
    case opaque

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

// The heads of RFC 8949, section 3: three bits of major type, five of additional information, and its argument.
extension DataItemHead {
    /// Reads a head, whose count is not checked yet.
    static func read(from reader: inout ByteReader) throws(BytesError) -> DataItemHead {
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
            return .opaque
        case 25: return .single(HalfPrecision.value(of: try reader.readUInt16()))
        case 26: return .single(Float(bitPattern: try reader.readUInt32()))
        case 27: return .double(Double(bitPattern: try reader.readUInt64()))
        case 28...30: throw .invalidValue("the simple value \(information)")
        case 31: return .end
        default: return .opaque
        }
    }

    /// Writes a head with a count, in its shortest form.
    func write(to writer: inout ByteWriter) {
        switch self {
        case .null: writer.write(UInt8(0xF6))
        case .boolean(let value): writer.write(UInt8(value ? 0xF5 : 0xF4))
        case .unsigned(let value): Self.write(major: 0, value, to: &writer)
        case .negative(let value): Self.write(major: 1, value, to: &writer)
        case .bytes(let count): Self.write(major: 2, UInt64(count), to: &writer)
        case .text(let count): Self.write(major: 3, UInt64(count), to: &writer)
        case .array(let count?): Self.write(major: 4, UInt64(count), to: &writer)
        case .map(let count?): Self.write(major: 5, UInt64(count), to: &writer)
        case .single(let value): Self.write(value, to: &writer)
        case .double(let value):
            let single = Float(value)
            if Double(single) == value || value.isNaN {
                Self.write(single, to: &writer)
            } else {
                writer.write(UInt8(0xFB))
                writer.write(value.bitPattern)
            }
        case .array(nil), .map(nil), .chunks, .tag, .end, .opaque:
            preconditionFailure("\(self) is only read")
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
