import Bytes
import CryptoPrimitives
import TestSupport
import Testing

/// The examples of draft-irtf-cfrg-xchacha-03.
@Suite("XChaCha20-Poly1305") struct XChaChaPolyTests {
    private static let message = [UInt8](
        ("Ladies and Gentlemen of the class of '99: If I could offer you only one tip for the future, "
            + "sunscreen would be it.").utf8
    )
    private static let key = [UInt8](0x80...0x9F)
    private static let nonce = [UInt8](0x40...0x57)

    private let associatedData: [UInt8]
    private let sealed: [UInt8]

    init() throws {
        associatedData = try Hex.decode("50515253c0c1c2c3c4c5c6c7")
        sealed = try Hex.decode(
            "bd6d179d3e83d43b9576579493c0e939572a1700252bfaccbed2902c21396cbb"
                + "731c7f1b0b4aa6440bf3a82f4eda7e39ae64c6708c54c216cb96b72e1213b452"
                + "2f8c9ba40db5d945b11b69b982c1bb9e3f3fac2bc369488f76b2383565d3fff9"
                + "21f9664c97637da9768812f615c68b13b52e"
                + "c0875924c1c7987947deafd8780acf49"
        )
    }

    @Test func `HChaCha20 derives the key of section 2_2_1`() throws {
        let nonce = try Hex.decode("000000090000004a0000000031415927")
        let derived = HChaCha20.derive(key: [UInt8](0x00...0x1F), nonce: nonce)
        #expect(Hex.encode(derived) == "82413b4227b27bfed30e42508a877d73a0f9e4d58a74a853c12ec41326d3ecdc")
    }

    @Test func `sealing gives the example of appendix A_3_1`() {
        let result = XChaChaPoly.seal(Self.message, key: Self.key, nonce: Self.nonce, authenticating: associatedData)
        #expect(result == sealed)
    }

    @Test func `the example of appendix A_3_1 opens`() {
        #expect(open(sealed) == Self.message)
    }

    @Test func `a changed bit is refused`() {
        for index in sealed.indices {
            var changed = sealed
            changed[index] ^= 1 << UInt8(index % 8)
            #expect(open(changed) == nil)
        }
    }

    @Test func `other associated data are refused`() {
        #expect(XChaChaPoly.open(sealed, key: Self.key, nonce: Self.nonce) == nil)
    }

    @Test func `another bit of the nonce is refused`() {
        for index in Self.nonce.indices {
            var nonce = Self.nonce
            nonce[index] ^= 1
            #expect(XChaChaPoly.open(sealed, key: Self.key, nonce: nonce, authenticating: associatedData) == nil)
        }
    }

    @Test func `a message without bytes is its tag`() {
        let empty = XChaChaPoly.seal([], key: Self.key, nonce: Self.nonce)
        #expect(empty.count == XChaChaPoly.tagByteCount)
        #expect(XChaChaPoly.open(empty, key: Self.key, nonce: Self.nonce) == [])
    }

    @Test func `damaged bytes never crash`() {
        neverCrash(on: [sealed]) { bytes in
            #expect(open(bytes) == nil || bytes == sealed)
        }
    }

    private func open(_ bytes: [UInt8]) -> [UInt8]? {
        XChaChaPoly.open(bytes, key: Self.key, nonce: Self.nonce, authenticating: associatedData)
    }
}
