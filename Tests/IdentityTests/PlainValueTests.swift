import Bytes
import Identity
import TestSupport
import Testing

@Suite("Plain values") struct PlainValueTests {
    @Test(arguments: [
        (0, "1970-01-01 00:00:00 UTC"), (951_782_399, "2000-02-28 23:59:59 UTC"),
        (951_782_400, "2000-02-29 00:00:00 UTC"), (951_868_800, "2000-03-01 00:00:00 UTC"),
        (1_709_164_800, "2024-02-29 00:00:00 UTC"), (4_107_542_400, "2100-03-01 00:00:00 UTC"),
        (4_107_542_399, "2100-02-28 23:59:59 UTC"), (1_900_000_000, "2030-03-17 17:46:40 UTC"),
        (253_402_300_799, "9999-12-31 23:59:59 UTC"), (.max, "9999-12-31 23:59:59 UTC"),
    ])
    func `a second is written as people write it`(seconds: UInt64, text: String) {
        #expect(CivilTime(seconds: seconds).description == text)
    }

    @Test func `an instance id is sixteen bytes in order`() throws {
        let bytes = (0..<16).map { UInt8($0) }
        let id = try InstanceId(bytes: bytes)
        #expect(id.bytes == bytes)
        #expect(id.description == "000102030405060708090a0b0c0d0e0f")
        #expect(InstanceId() != InstanceId())
        #expect(throws: IdentityError.self) { try InstanceId(bytes: [1]) }
        var random = SplitMix64(seed: 1)
        let ids = (0..<100).map { _ in InstanceId(generating: &random) }
        #expect(ids.sorted() == ids.sorted { $0.bytes.lexicographicallyPrecedes($1.bytes) })
        for id in ids { #expect(try InstanceId(bytes: id.bytes) == id) }
    }

    @Test func `the SHA-256 of a text has its thirty-two bytes in order`() throws {
        // The first example of FIPS 180-2, appendix B.
        let hex = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
        let digest = Bytes32(sha256: Array("abc".utf8))
        #expect(try digest.bytes == Hex.decode(hex))
        #expect(digest == Bytes32(output: digest.bytes))
    }

    @Test func `a quoted text is bounded and steers nothing`() {
        #expect(PlainText.quoted("Familie Müller 👪") == "\"Familie Müller 👪\"")
        #expect(PlainText.quoted("a\"b\\c") == "\"a\\u{22}b\\u{5c}c\"")
        #expect(PlainText.quoted("\u{1B}[31m\u{202E}") == "\"\\u{1b}[31m\\u{202e}\"")
        #expect(PlainText.quoted(String(repeating: "x", count: 1_000)).count == 67)
    }

    @Test func `every error says something of its own`() throws {
        let identity: [IdentityError] = [
            .wrongLength(of: "a key", expected: 1, found: 2), .invalidPublicKey(reason: "r"),
            .invalidText(of: "a key", reason: "r"), .malformed(of: "a key", reason: "r"),
            .invalidAddress("x", reason: "r"), .invalidPath("x", reason: "r"), .invalidSeedLength(1),
            .invalidName(reason: "r"), .expirationOutOfRange, .wrongSigningKey, .invalidSignature(of: "a key"),
            .signingFailed, .full(of: "a set", limit: 1),
        ]
        let networks: [NetworkError] = [.invalidSignature, .invalidToken]
        let connections: [ConnectionError] = [.invalidData]
        let all = identity.map(\.description) + networks.map(\.description) + connections.map(\.description)
        #expect(Set(all).count == all.count)
        for text in all { #expect(text.utf8.count > 12) }
    }
}
