import Bytes
import CryptoPrimitives
import TestSupport
import Testing

@Suite("BLAKE2") struct BLAKE2Tests {
    @Test func `the examples of RFC 7693 give their hashes`() {
        let message = [UInt8]("abc".utf8)
        #expect(
            Hex.encode(BLAKE2b.hash(message))
                == "ba80a53f981c4d0d6a2797b69f12f6e94c212f14685ac4b74b12bb6fdbffa2d1"
                + "7d87c5392aab792dc252d5de4533cc9518d38aa8dbf1925ab92386edd4009923"
        )
        #expect(
            Hex.encode(BLAKE2s.hash(message))
                == "508c5e8c327c14e2e1a72ba34eeb452f37458b209ed63a294d999b4c86675982"
        )
    }

    @Test func `the self-test of RFC 7693 gives the grand hash of BLAKE2b`() {
        let hash = grandHash(BLAKE2b.self, outputs: [20, 32, 48, 64], inputs: [0, 3, 128, 129, 255, 1_024])
        #expect(Hex.encode(hash) == "c23a7800d98123bd10f506c61e29da5603d763b8bbad2e737f5e765a7bccd475")
    }

    @Test func `the self-test of RFC 7693 gives the grand hash of BLAKE2s`() {
        let hash = grandHash(BLAKE2s.self, outputs: [16, 20, 28, 32], inputs: [0, 3, 64, 65, 255, 1_024])
        #expect(Hex.encode(hash) == "6a411f08ce25adcdfb02aba641451cec53c598b24f4fc787fbdc88797f4c1dfe")
    }

    @Test(arguments: try BLAKE2Vectors.load().hashes)
    func `hashes equal those of another implementation`(vectors: BLAKE2Vectors.Hashes) {
        #expect(vectors.plain.count == 257)
        for (count, expected) in vectors.plain.enumerated() {
            let hash = vectors.hash(BLAKE2Vectors.message(count), outputByteCount: vectors.limit, key: [])
            #expect(Hex.encode(hash) == expected, "\(count) bytes")
        }
    }

    @Test(arguments: try BLAKE2Vectors.load().hashes)
    func `shortened codes under a key equal those of another implementation`(vectors: BLAKE2Vectors.Hashes) {
        #expect(vectors.keyed.count == 257)
        for (count, expected) in vectors.keyed.enumerated() {
            let code = vectors.hash(
                BLAKE2Vectors.message(count),
                outputByteCount: 1 + count * 7 % vectors.limit,
                key: BLAKE2Vectors.key(1 + count % vectors.limit)
            )
            #expect(Hex.encode(code) == expected, "\(count) bytes")
        }
    }

    @Test func `a message in pieces gives the hash of the whole`() {
        var random = SplitMix64(seed: 21)
        for _ in 0..<500 {
            let message = random.bytes(count: .random(in: 0...700, using: &random))
            let key = random.bytes(count: .random(in: 0...32, using: &random))
            var small = BLAKE2s(outputByteCount: 32, key: key)
            var large = BLAKE2b(outputByteCount: 64, key: key)
            var rest = message[...]
            while !rest.isEmpty {
                let piece = rest.prefix(.random(in: 0...200, using: &random))
                small.update(piece)
                large.update(piece)
                rest = rest.dropFirst(piece.count)
            }
            #expect(small.finalize() == BLAKE2s.hash(message, key: key))
            #expect(large.finalize() == BLAKE2b.hash(message, key: key))
        }
    }

    @Test func `a collection without contiguous memory is hashed like an array`() {
        #expect(BLAKE2s.hash((0..<200).lazy.map { UInt8($0) }) == BLAKE2s.hash([UInt8](0..<200)))
    }

    @Test func `a copy continues from the bytes so far`() {
        var first = BLAKE2s(outputByteCount: 32)
        first.update([1, 2, 3])
        var second = first
        second.update([4])
        #expect(first.finalize() == BLAKE2s.hash([1, 2, 3]))
        #expect(second.finalize() == BLAKE2s.hash([1, 2, 3, 4]))
    }

    /// The hash of all hashes of the self-test (RFC 7693, appendix E).
    private func grandHash<Hash: BLAKE2>(_ type: Hash.Type, outputs: [Int], inputs: [Int]) -> [UInt8] {
        var grand = Hash(outputByteCount: 32, key: [])
        for output in outputs {
            for input in inputs {
                let message = sequence(input)
                grand.update(Hash.hash(message, outputByteCount: output))
                grand.update(Hash.hash(message, outputByteCount: output, key: sequence(output)))
            }
        }
        return grand.finalize()
    }

    /// The deterministic bytes of the self-test, seeded with their number.
    private func sequence(_ count: Int) -> [UInt8] {
        var numbers: (UInt32, UInt32) = (0xDEAD_4BAD &* UInt32(count), 1)
        return (0..<count).map { _ in
            numbers = (numbers.1, numbers.0 &+ numbers.1)
            return UInt8(numbers.1 >> 24)
        }
    }
}

@Suite("HMAC and HKDF with BLAKE2s") struct HKDFBLAKE2sTests {
    @Test func `codes equal those of another implementation`() throws {
        for vector in try BLAKE2Vectors.load().derivations {
            let code = HMACBLAKE2s.authenticationCode(
                for: BLAKE2Vectors.message(vector.inputCount),
                key: BLAKE2Vectors.key(vector.keyCount)
            )
            #expect(Hex.encode(code) == vector.code, "\(vector)")
        }
    }

    @Test(arguments: 1...3) func `derived keys equal those of another implementation`(count: Int) throws {
        for vector in try BLAKE2Vectors.load().derivations {
            let keys = HKDFBLAKE2s.derive(
                key: BLAKE2Vectors.key(vector.keyCount),
                input: BLAKE2Vectors.message(vector.inputCount),
                count: count
            )
            #expect(keys.map { Hex.encode($0) } == Array(vector.keys.prefix(count)), "\(vector)")
        }
    }
}
