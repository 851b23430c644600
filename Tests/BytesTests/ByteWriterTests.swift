internal import Bytes
internal import Testing

@Suite("ByteWriter") struct ByteWriterTests {
    @Test func `integers are big endian`() {
        var writer = ByteWriter()
        writer.write(UInt8(0x01))
        writer.write(UInt16(0x0203))
        writer.write(UInt32(0x0405_0607))
        writer.write(UInt64(0x0809_0A0B_0C0D_0E0F))
        #expect(writer.bytes == [UInt8](1...15))
        #expect(writer.count == 15)
    }

    @Test func `bytes and text are written as they are`() {
        var writer = ByteWriter()
        writer.write([1, 2])
        writer.write(utf8: "é")
        writer.writeVarintPrefixed([9, 9, 9])
        #expect(writer.bytes == [1, 2, 0xC3, 0xA9, 3, 9, 9, 9])
    }
}
