internal import Bytes

/// Elements of DER (X.690) with the few tags that a key needs; a length has at most two bytes and its shortest form.
enum DERElement {
    static let integer: UInt8 = 0x02
    static let bitString: UInt8 = 0x03
    static let octetString: UInt8 = 0x04
    static let sequence: UInt8 = 0x30

    /// The AlgorithmIdentifier of RFC 9578, section 6.5: id-RSASSA-PSS with SHA-384, MGF1 with SHA-384, and a salt of
    /// 48 bytes.
    static let rsassaPSS: [UInt8] = [
        0x30, 0x3D, 0x06, 0x09, 0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 0x01, 0x01, 0x0A, 0x30, 0x30, 0xA0, 0x0D, 0x30,
        0x0B, 0x06, 0x09, 0x60, 0x86, 0x48, 0x01, 0x65, 0x03, 0x04, 0x02, 0x02, 0xA1, 0x1A, 0x30, 0x18, 0x06, 0x09,
        0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 0x01, 0x01, 0x08, 0x30, 0x0B, 0x06, 0x09, 0x60, 0x86, 0x48, 0x01, 0x65,
        0x03, 0x04, 0x02, 0x02, 0xA2, 0x03, 0x02, 0x01, 0x30,
    ]

    /// Encodes an element with at most 65,535 bytes of content.
    static func encode(_ tag: UInt8, _ content: [UInt8]) -> [UInt8] {
        precondition(content.count <= 0xFFFF, "an element of \(content.count) bytes")
        return switch content.count {
        case ..<0x80: [tag, UInt8(content.count)] + content
        case ..<0x100: [tag, 0x81, UInt8(content.count)] + content
        default: [tag, 0x82, UInt8(content.count >> 8), UInt8(content.count & 0xFF)] + content
        }
    }

    /// Encodes a positive integer, most significant byte first.
    static func encode(positive number: [UInt8]) -> [UInt8] {
        let digits = number.drop { $0 == 0 }
        return encode(integer, (digits.first ?? 0x80) >= 0x80 ? [0] + digits : [UInt8](digits))
    }

    /// Reads the content of the next element, which must have the tag.
    static func read(_ tag: UInt8, from reader: inout ByteReader) throws(BytesError) -> ArraySlice<UInt8> {
        let found = try reader.readUInt8()
        guard found == tag else { throw .invalidValue("the tag \(found) instead of \(tag)") }
        return try reader.readSlice(count: readLength(from: &reader))
    }

    /// Reads a positive integer without its leading zero.
    static func readPositive(from reader: inout ByteReader) throws(BytesError) -> [UInt8] {
        let content = [UInt8](try read(integer, from: &reader))
        guard let first = content.first, first < 0x80, content != [0] else {
            throw .invalidValue("an integer that is not positive")
        }
        guard first == 0 else { return content }
        guard content.count > 1, content[1] >= 0x80 else {
            throw .nonCanonical("an integer with a superfluous zero")
        }
        return [UInt8](content.dropFirst())
    }

    private static func readLength(from reader: inout ByteReader) throws(BytesError) -> Int {
        let first = try reader.readUInt8()
        let length: Int
        switch first {
        case ..<0x80: return Int(first)
        case 0x81: length = Int(try reader.readUInt8())
        case 0x82: length = Int(try reader.readUInt16())
        default: throw .invalidValue("the length \(first)")
        }
        guard length >= (first == 0x81 ? 0x80 : 0x100) else {
            throw .nonCanonical("a length of \(length) that is not in its shortest form")
        }
        return length
    }
}
