internal import TestSupport
internal import Testing

@testable internal import Tunnel

@Suite("Internet checksum") struct ChecksumTests {
    @Test func `the example of RFC 1071 has its sum`() {
        var sum = InternetChecksum()
        sum.add([0x00, 0x01, 0xF2, 0x03, 0xF4, 0xF5, 0xF6, 0xF7], 0..<8)
        #expect(sum.partial == 0xDDF2)
        #expect(sum.value == 0x220D)
    }

    @Test(arguments: 0..<200)
    func `sums agree with those of one word after another`(length: Int) {
        var random = SplitMix64(seed: UInt64(length))
        for offset in 0..<3 {
            let bytes = random.bytes(count: offset + length)
            var sum = InternetChecksum()
            sum.add(bytes, offset..<bytes.count)
            #expect(sum.value == PacketBuilder.checksum(Array(bytes[offset...])), "\(length) bytes at \(offset)")
        }
    }

    @Test func `sums of extreme words carry correctly`() {
        let bytes = [UInt8](repeating: 0xFF, count: 65_535)
        var sum = InternetChecksum()
        sum.add(bytes, 0..<bytes.count)
        sum.add(0xFFFF)
        #expect(sum.value == PacketBuilder.checksum([0xFF, 0xFF] + bytes))
    }
}
