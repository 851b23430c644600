internal import Bytes
internal import Foundation
internal import Identity
internal import RegistrationModel
internal import TestSupport
internal import Testing

@Suite("Ids of accounts") struct AccountIdTests {
    @Test func `a new id is a UUID of version 4`() throws {
        var random = SeededGenerator(seed: 7)
        var seen: Set<UserId> = []
        for _ in 0..<200 {
            let id = UserId(using: &random)
            let uuid = try #require(UUID(uuidString: id.text))
            #expect(id.text == uuid.uuidString.lowercased())
            #expect(id.bytes[6] >> 4 == 4 && id.bytes[8] >> 6 == 2)
            #expect(try UserId(id.bytes) == id && UserId(text: id.text) == id)
            seen.insert(id)
        }
        #expect(seen.count == 200)
        var again = SeededGenerator(seed: 7)
        #expect(seen.contains(UserId(using: &again)))
    }

    @Test func `all bits but those of version and variant are random`() {
        var random = SeededGenerator(seed: 8)
        var (ones, zeros) = ([UInt8](repeating: 0, count: 16), [UInt8](repeating: 0, count: 16))
        for _ in 0..<200 {
            for (index, byte) in UniqueId(using: &random).bytes.enumerated() {
                ones[index] |= byte
                zeros[index] |= ~byte
            }
        }
        var expected = [UInt8](repeating: 0xFF, count: 16)
        (expected[6], expected[8]) = (0x4F, 0xBF)
        #expect(ones == expected)
        (expected[6], expected[8]) = (0xBF, 0x7F)
        #expect(zeros == expected)
    }

    @Test(arguments: [
        ("", AccountIdError.wrongLength(found: 0)),
        ("0b9f3c5e7a414f0e9d526c1a8e2b7f30", .wrongLength(found: 32)),
        ("{0b9f3c5e-7a41-4f0e-9d52-6c1a8e2b7f3}", .wrongLength(found: 37)),
        ("0B9f3c5e-7a41-4f0e-9d52-6c1a8e2b7f30", .invalidCharacter(position: 1)),
        ("0b9f3c5e07a41-4f0e-9d52-6c1a8e2b7f30", .invalidCharacter(position: 8)),
        ("0b9f3c5e-7a41-4f0e-9d52-6c1a8e2b-f30", .invalidCharacter(position: 32)),
        ("0b9f3c5e-7a41-4f0e-9d52-6c1a8e2b7f3g", .invalidCharacter(position: 35)),
        ("0b9f3c5e-7a41-1f0e-9d52-6c1a8e2b7f30", .notVersion4),
        ("0b9f3c5e-7a41-4f0e-cd52-6c1a8e2b7f30", .notVersion4),
        ("00000000-0000-0000-0000-000000000000", .notVersion4),
    ])
    func `another text is refused`(text: String, error: AccountIdError) {
        #expect(throws: error) { try UserId(text: text) }
    }

    @Test func `other bytes are refused as the id of an account alone`() throws {
        for count in [0, 15, 17] {
            let bytes = [UInt8](repeating: 0x44, count: count)
            #expect(throws: AccountIdError.wrongByteCount(found: count)) { try UserId(bytes) }
            #expect(UniqueId(bytes) == nil)
        }
        let zero = [UInt8](repeating: 0, count: 16)
        #expect(throws: AccountIdError.notVersion4) { try UserId(zero) }
        #expect(UniqueId(zero)?.text == "00000000-0000-0000-0000-000000000000")
        #expect(UniqueId(Array(0..<16))?.text == "00010203-0405-0607-0809-0a0b0c0d0e0f")
        #expect(try UniqueId(text: "00010203-0405-0607-0809-0a0b0c0d0e0f").bytes == Array(0..<16))
    }

    @Test func `JSON has the text`() throws {
        let id = try UserId(text: "0b9f3c5e-7a41-4f0e-9d52-6c1a8e2b7f30")
        let json = try JSONEncoder().encode([id])
        #expect(json == Data(#"["0b9f3c5e-7a41-4f0e-9d52-6c1a8e2b7f30"]"#.utf8))
        #expect(try JSONDecoder().decode([UserId].self, from: json) == [id])
        #expect(try JSONDecoder().decode([UniqueId].self, from: json).map(\.bytes) == [id.bytes])
        neverCrash(onTexts: [id.text]) { _ = try UserId(text: $0) }
    }
}

@Suite("Proofs of DIDs") struct DIDProofTests {
    private struct Vector: Decodable {
        let `private`: String
        let did: String
        let challenge: String
        let rp_id: String
        let handle: String
        let signed: String
        let proof: String
    }

    private let vector: Vector
    private let key: P256PrivateKey
    private let did: DIDKey
    private let challenge: [UInt8]
    private let handle: Handle

    init() throws {
        vector = try vectors(named: "RegistrationModel/did-proof.json")
        key = try P256PrivateKey(rawRepresentation: SecretBytes(copying: Hex.decode(vector.private)))
        did = try DIDKey(vector.did)
        challenge = try Hex.decode(vector.challenge)
        handle = try Handle(vector.handle)
    }

    @Test func `a proof of another implementation verifies`() throws {
        let signed = DIDProof.signedBytes(challenge: challenge, rpId: vector.rp_id, handle: handle, did: did)
        #expect(Hex.encode(signed) == vector.signed)
        let proof = try DIDProof(text: vector.proof)
        try proof.verify(challenge: challenge, rpId: vector.rp_id, handle: handle, did: did)
        #expect(proof.text == vector.proof)
        #expect(did == DIDKey(key.publicKey))
    }

    @Test func `a proof is valid for its own values alone`() throws {
        let proof = try DIDProof(by: key, challenge: challenge, rpId: vector.rp_id, handle: handle)
        try proof.verify(challenge: challenge, rpId: vector.rp_id, handle: handle, did: did)
        let (bob, other) = (try Handle("bob"), DIDKey(P256PrivateKey().publicKey))
        let attempts: [([UInt8], String, Handle, DIDKey)] = [
            (challenge.dropLast() + [0], vector.rp_id, handle, did), (challenge + [0], vector.rp_id, handle, did),
            (challenge, "example.org", handle, did), (challenge, vector.rp_id, bob, did),
            (challenge, vector.rp_id, handle, other), ([], vector.rp_id, handle, did),
        ]
        for (challenge, rpId, handle, did) in attempts {
            #expect(throws: DIDProofError.doesNotVerify) {
                try proof.verify(challenge: challenge, rpId: rpId, handle: handle, did: did)
            }
        }
        // No value moves into its neighbour.
        #expect(
            DIDProof.signedBytes(challenge: [1], rpId: "ab", handle: handle, did: did)
                != DIDProof.signedBytes(challenge: [1, UInt8(ascii: "a")], rpId: "b", handle: handle, did: did)
        )
    }

    @Test func `a proof in another form is refused`() throws {
        let proof = try DIDProof(by: key, challenge: challenge, rpId: vector.rp_id, handle: handle)
        let short = Base64URL.encode(proof.signature.dropLast())
        #expect(throws: DIDProofError.wrongLength(found: 63)) { try DIDProof(text: short) }
        let long = String(repeating: "A", count: 1_000_000)
        #expect(throws: DIDProofError.wrongLength(found: 750_000)) { try DIDProof(text: long) }
        #expect(throws: DIDProofError.wrongLength(found: 0)) { try DIDProof(text: "") }
        for text in [proof.text + "==", Base64.encode(proof.signature), " " + proof.text] {
            #expect(throws: DIDProofError.self) { try DIDProof(text: text) }
        }
        let json = try JSONEncoder().encode([proof])
        #expect(try JSONDecoder().decode([String].self, from: json) == [proof.text])
        #expect(try JSONDecoder().decode([DIDProof].self, from: json) == [proof])
        neverCrash(onTexts: [proof.text]) { _ = try DIDProof(text: $0) }
    }
}
