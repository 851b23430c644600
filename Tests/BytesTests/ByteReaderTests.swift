internal import Bytes
internal import TestSupport
internal import Testing

@Suite("ByteReader") struct ByteReaderTests {
    @Test func `integers are big endian`() throws {
        var reader = ByteReader([1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15] as [UInt8])
        #expect(try reader.readUInt8() == 0x01)
        #expect(try reader.readUInt16() == 0x0203)
        #expect(try reader.readUInt32() == 0x0405_0607)
        #expect(try reader.readUInt64() == 0x0809_0A0B_0C0D_0E0F)
        try reader.finish()
    }

    @Test func `a read that does not fit changes nothing`() {
        var reader = ByteReader([1, 2, 3] as [UInt8])
        #expect(throws: BytesError.truncated(needed: 4, available: 3)) { try reader.readUInt32() }
        #expect(throws: BytesError.truncated(needed: 9, available: 3)) { try reader.readBytes(count: 9) }
        #expect(reader.remaining == 3)
        #expect(reader.readRemaining() == [1, 2, 3])
        #expect(throws: BytesError.truncated(needed: 1, available: 0)) { try reader.readUInt8() }
    }

    @Test func `what is left over is reported`() throws {
        var reader = ByteReader([1, 2, 3] as [UInt8])
        _ = try reader.readUInt8()
        #expect(throws: BytesError.trailingBytes(2)) { try reader.finish() }
    }

    @Test func `any collection can be read`() throws {
        var fromSlice = ByteReader(([9, 8, 7, 6] as [UInt8])[1...2])
        #expect(fromSlice.next == 8)
        #expect(try fromSlice.readUInt16() == 0x0807)
        #expect(fromSlice.isAtEnd)
        var fromView = ByteReader("ab".utf8)
        #expect(try fromView.readBytes(count: 2) == [0x61, 0x62])
    }
}

@Suite("Variable-length integers") struct VarintTests {
    struct Case: Sendable {
        let bytes: [UInt8]
        let value: UInt64
    }

    /// RFC 9000, appendix A.1, and the ends of each range.
    static let cases: [Case] = [
        Case(bytes: [0xC2, 0x19, 0x7C, 0x5E, 0xFF, 0x14, 0xE8, 0x8C], value: 151_288_809_941_952_652),
        Case(bytes: [0x9D, 0x7F, 0x3E, 0x7D], value: 494_878_333),
        Case(bytes: [0x7B, 0xBD], value: 15_293),
        Case(bytes: [0x25], value: 37),
        Case(bytes: [0x00], value: 0),
        Case(bytes: [0x3F], value: 63),
        Case(bytes: [0x40, 0x40], value: 64),
        Case(bytes: [0x7F, 0xFF], value: 16_383),
        Case(bytes: [0x80, 0x00, 0x40, 0x00], value: 16_384),
        Case(bytes: [0xBF, 0xFF, 0xFF, 0xFF], value: 1_073_741_823),
        Case(bytes: [0xC0, 0x00, 0x00, 0x00, 0x40, 0x00, 0x00, 0x00], value: 1_073_741_824),
        Case(bytes: [UInt8](repeating: 0xFF, count: 8), value: ByteWriter.maximumVarint),
    ]

    @Test(arguments: cases) func `the published examples round trip`(example: Case) throws {
        var reader = ByteReader(example.bytes)
        #expect(try reader.readVarint() == example.value)
        try reader.finish()
        var writer = ByteWriter()
        writer.writeVarint(example.value)
        #expect(writer.bytes == example.bytes)
    }

    /// The longer form of 37 in RFC 9000, appendix A.1, is 0x4025.
    @Test func `a longer form is refused unless asked for`() throws {
        var reader = ByteReader([0x40, 0x25] as [UInt8])
        #expect(throws: BytesError.nonCanonical("a variable-length integer of 2 bytes for 37")) {
            try reader.readVarint()
        }
        #expect(reader.remaining == 2)
        #expect(try reader.readVarint(canonical: false) == 37)
    }

    @Test func `an integer that is cut off is refused`() {
        var reader = ByteReader([0xC2, 0x19, 0x7C] as [UInt8])
        #expect(throws: BytesError.truncated(needed: 8, available: 3)) { try reader.readVarint() }
    }

    @Test func `a length is checked against the limit before the bytes`() throws {
        var writer = ByteWriter()
        writer.writeVarint(ByteWriter.maximumVarint)
        writer.write([1, 2, 3])
        var reader = ByteReader(writer.bytes)
        #expect(throws: BytesError.tooLong(limit: 16, found: Int(ByteWriter.maximumVarint))) {
            try reader.readVarintPrefixedBytes(limit: 16)
        }
        #expect(throws: BytesError.truncated(needed: Int(ByteWriter.maximumVarint), available: 3)) {
            try reader.readVarintPrefixedBytes(limit: .max)
        }
        #expect(reader.remaining == 11)
    }

    @Test func `prefixed bytes round trip`() throws {
        for count in [0, 1, 63, 64, 16_384] {
            var writer = ByteWriter()
            writer.writeVarintPrefixed([UInt8](repeating: 7, count: count))
            var reader = ByteReader(writer.bytes)
            #expect(try reader.readVarintPrefixedBytes(limit: count).count == count)
            try reader.finish()
        }
    }

    @Test func `damaged input never crashes`() {
        neverCrash(on: Self.cases.map(\.bytes)) { bytes in
            var reader = ByteReader(bytes)
            while !reader.isAtEnd {
                _ = try reader.readVarint()
                _ = try reader.readVarintPrefixedBytes(limit: 64)
            }
        }
    }
}
