import Bytes
import Crypto
import CryptoExtras
import TestSupport
import Testing

@testable import NanoTDF

@Suite("Galois/Counter Mode") struct GCMTests {
    /// Test case 16 of the publication's authors (McGrew and Viega): AES-256, with its nonce of 12 bytes.
    @Test func `the hash agrees with the published test case`() throws {
        let key = SymmetricKey(
            data: try Hex.decode("feffe9928665731c6d6a8f9467308308feffe9928665731c6d6a8f9467308308")
        )
        var hashKey = [UInt8](repeating: 0, count: 16)
        try AES.permute(&hashKey, key: key)
        var hash = GHASH(key: hashKey)
        hash.absorb(try Hex.decode("feedfacedeadbeeffeedfacedeadbeefabaddad2"))
        hash.absorb(
            try Hex.decode(
                "522dc1f099567d07f47f37a32a84427d643a8cdcbfe5c0c97598a2bd2555d1aa"
                    + "8cb08e48590dbb3da7b08b1056828838c5f61e6393ba7a0abcc9f662"
            )
        )
        hash.absorb(bitCounts: 160, 480)
        var counter = try Hex.decode("cafebabefacedbaddecaf88800000001")
        try AES.permute(&counter, key: key)
        let tag = zip(hash.digest, counter).map { $0 ^ $1 }
        #expect(Hex.encode(tag) == "76fc6ece0f4e1768cddf8853bb2d551b")
    }

    @Test func `the counter wraps within its last four bytes`() throws {
        let key = SymmetricKey(data: [UInt8](repeating: 7, count: 32))
        let bytes = [UInt8](repeating: 0, count: 16 * 6 + 5)
        for first: UInt32 in [0, 5, .max - 4, .max - 3, .max - 1, .max] {
            var writer = ByteWriter()
            writer.write([UInt8](repeating: 0xAB, count: 12))
            writer.write(first)
            var expected: [UInt8] = []
            for index in UInt32(1)...7 {
                var block = writer.bytes.prefix(12) + []
                var counter = ByteWriter()
                counter.write(first &+ index)
                block += counter.bytes
                var output = [UInt8](block)
                try AES.permute(&output, key: key)
                expected += output
            }
            let stream = try GCM.applyKeystream(to: bytes, under: key, after: writer.bytes)
            #expect(stream == [UInt8](expected.prefix(bytes.count)), "from \(first)")
        }
    }

    @Test func `a shortened tag still protects each of its bits`() throws {
        let key = SymmetricKey(size: .bits256)
        let nonce = [UInt8](repeating: 3, count: 12)
        for byteCount in [8, 12, 13, 14, 15, 16] {
            let box = try GCM.seal([1, 2, 3], under: key, nonce: nonce, tagByteCount: byteCount)
            #expect(box.tag.count == byteCount)
            #expect(try GCM.open(box, under: key, nonce: nonce) == [1, 2, 3])
            for bit in 0..<byteCount * 8 {
                var tag = box.tag
                tag[bit / 8] ^= 1 << UInt8(bit % 8)
                #expect(try GCM.open(GCM.Box(ciphertext: box.ciphertext, tag: tag), under: key, nonce: nonce) == nil)
            }
        }
    }
}
