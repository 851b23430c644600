internal import TestSupport
internal import Testing

@testable internal import QRCode

/// The compression of pictures, against an inflater that knows no more than the standard's fixed codes.
@Suite("Zlib stream") struct ZlibStreamTests {
    /// Bits, the least significant of each byte first.
    private struct Bits {
        let bytes: [UInt8]
        var position = 16

        mutating func next() throws -> Int {
            let byte = try #require(position / 8 < bytes.count ? bytes[position / 8] : nil)
            defer { position += 1 }
            return Int(byte >> UInt8(position % 8)) & 1
        }

        mutating func number(_ width: Int) throws -> Int {
            try (0..<width).reduce(0) { number, place in number | (try next()) << place }
        }

        /// A symbol of the literal and length alphabet (RFC 1951, 3.2.6).
        mutating func symbol() throws -> Int {
            var code = 0
            for _ in 0..<7 { code = code << 1 | (try next()) }
            if code <= 0b001_0111 { return 256 + code }
            code = code << 1 | (try next())
            if 0b0011_0000...0b1011_1111 ~= code { return code - 0b0011_0000 }
            if 0b1100_0000...0b1100_0111 ~= code { return 280 + code - 0b1100_0000 }
            code = code << 1 | (try next())
            return 144 + code - 0b1_1001_0000
        }
    }

    private func inflate(_ stream: [UInt8]) throws -> [UInt8] {
        // The table of lengths: what each code begins with and how many bits follow.
        var lengths: [(first: Int, extra: Int)] = []
        var first = 3
        for code in 257...284 {
            let extra = code < 265 ? 0 : (code - 261) / 4
            lengths.append((first, extra))
            first += 1 << extra
        }
        lengths.append((258, 0))
        var bits = Bits(bytes: Array(stream.dropLast(4)))
        #expect(try bits.number(3) == 0b011)
        var content: [UInt8] = []
        while true {
            let symbol = try bits.symbol()
            if symbol == 256 { break }
            guard symbol > 256 else {
                content.append(UInt8(symbol))
                continue
            }
            let (first, extra) = lengths[symbol - 257]
            let length = first + (try bits.number(extra))
            #expect(try bits.number(5) == 0)
            content += [UInt8](repeating: try #require(content.last), count: length)
        }
        #expect(bits.bytes.count * 8 - bits.position < 8)
        return content
    }

    @Test func `runs of every length and bytes of every value come back`() throws {
        var content = (0...255).map { UInt8($0) }
        for length in 1...600 { content += [UInt8](repeating: UInt8(length % 2 * 0xAA), count: length) }
        let stream = ZlibStream.bytes(of: content)
        #expect(try inflate(stream) == content)
        #expect(stream.count < 6_000)
        #expect((Int(stream[0]) << 8 | Int(stream[1])) % 31 == 0)
        #expect(try inflate(ZlibStream.bytes(of: [])).isEmpty)
    }

    @Test func `checksums are those that are published for known texts`() {
        #expect(CRC32.checksum(of: Array("123456789".utf8)) == 0xCBF4_3926)
        #expect(ZlibStream.bytes(of: Array("Wikipedia".utf8)).suffix(4) == [0x11, 0xE6, 0x03, 0x98])
        #expect(ZlibStream.bytes(of: []).suffix(4) == [0, 0, 0, 1])
    }
}
