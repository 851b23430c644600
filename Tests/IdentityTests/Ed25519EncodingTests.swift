import Bytes
import TestSupport
import Testing

@testable import Identity

/// Our own check of encodings, apart from the system's library, which refuses some of the same.
@Suite("Ed25519 encodings") struct Ed25519EncodingTests {
    private let groupOrder = "edd3f55c1a631258d69cf7a2def9de1400000000000000000000000000000010"
    private let prime = "edffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f"
    private let plain = [UInt8](repeating: 9, count: 32)

    /// The little-endian number one below.
    private func below(_ text: String) throws -> [UInt8] {
        var bytes = try Hex.decode(text)
        bytes[0] -= 1
        return bytes
    }

    @Test func `S must be below the group order`() throws {
        #expect(try Ed25519Encoding.isCanonicalSignature(plain + below(groupOrder)))
        #expect(try !Ed25519Encoding.isCanonicalSignature(plain + Hex.decode(groupOrder)))
        #expect(!Ed25519Encoding.isCanonicalSignature(plain + [UInt8](repeating: 0xFF, count: 32)))
        #expect(Ed25519Encoding.isCanonicalSignature(plain + [UInt8](repeating: 0, count: 32)))
        let encodings = try vectors(named: "Identity/encodings.json", as: KeyTests.Encodings.self)
        #expect(try Ed25519Encoding.isCanonicalSignature(Hex.decode(encodings.signature)))
        for text in encodings.malleated {
            #expect(try !Ed25519Encoding.isCanonicalSignature(Hex.decode(text)))
        }
    }

    @Test func `the y coordinate of R must be below p, with either sign`() throws {
        let zero = [UInt8](repeating: 0, count: 32)
        for sign: UInt8 in [0, 0x80] {
            var accepted = try below(prime)
            accepted[31] |= sign
            #expect(Ed25519Encoding.isCanonicalSignature(accepted + zero))
            var refused = try Hex.decode(prime)
            refused[31] |= sign
            #expect(!Ed25519Encoding.isCanonicalSignature(refused + zero))
        }
    }

    @Test func `a key beside a point of small order is accepted`() throws {
        let encodings = try vectors(named: "Identity/encodings.json", as: KeyTests.Encodings.self)
        for text in encodings.small_order {
            var neighbour = try Hex.decode(text)
            neighbour[15] ^= 1
            #expect(throws: Never.self) { try Ed25519Encoding.checkPublicKey(neighbour) }
        }
    }

    @Test func `no bytes crash the readers`() throws {
        let address: [UInt8] = [6] + [UInt8](repeating: 0x20, count: 16) + [0x11, 0x51]
        neverCrash(on: [plain, [4, 192, 0, 2, 1, 0x11, 0x51], address], rounds: 5_000) { bytes in
            _ = Ed25519Encoding.isCanonicalSignature(bytes)
            var reader = ByteReader(bytes)
            if let read = try? SocketAddress(reading: &reader) {  // or it is refused
                var writer = ByteWriter()
                read.write(to: &writer)
                #expect(bytes.starts(with: writer.bytes))
            }
            _ = try Ed25519PublicKey(rawRepresentation: bytes)
        }
        neverCrash(onTexts: ["m/44'/0'/2147483647'"], rounds: 5_000) { text in
            _ = try DerivationPath(parsing: text)
        }
    }
}
