import Bytes
import Foundation
import Identity
import TestSupport
import Testing

@Suite("Identifiers") struct IdentifierTests {
    private let publicKey = "d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a"
    private let peerId = "If4x36FUomFia/hUBG/SJxt77UtqvkWqWId+9H+XIbk="

    @Test func `a peer id is the SHA-256 of the public key`() throws {
        let id = PeerId(publicKey: try Ed25519PublicKey(rawRepresentation: Hex.decode(publicKey)))
        #expect(Hex.encode(id.bytes) == "21fe31dfa154a261626bf854046fd2271b7bed4b6abe45aa58877ef47f9721b9")
        #expect(id.base64Encoded == peerId)
        #expect("\(id)" == peerId)
        #expect([UInt8](id.rawRepresentation) == id.bytes)
    }

    @Test func `a network id is the public key itself`() throws {
        let key = try Ed25519PublicKey(rawRepresentation: Hex.decode(publicKey))
        let id = NetworkId(publicKey: key)
        #expect(id.bytes == key.bytes)
        #expect(id.publicKey == key)
        #expect(try NetworkId(rawRepresentation: key.rawRepresentation) == id)
    }

    @Test func `every text form is read back`() throws {
        let id = try PeerId(base64Encoded: peerId)
        #expect(id.text.count == 58)
        #expect(id.short == id.text.prefix(8))
        #expect(try PeerId(text: id.text) == id)
        #expect(try PeerId(text: peerId) == id)
        #expect(PeerId(id.description) == id)
        let typed = stride(from: 0, to: 58, by: 6).map { start in
            id.text.dropFirst(start).prefix(6).uppercased()
        }
        #expect(PeerId(typed.joined(separator: " ")) == id)
        let network = try NetworkId(rawRepresentation: Hex.decode(publicKey))
        #expect(NetworkId(network.text) == network)
        #expect(NetworkId(network.description) == network)
    }

    @Test func `any one wrong character in the text people type is noticed`() throws {
        let text = Array(try PeerId(base64Encoded: peerId).text)
        for index in text.indices {
            var wrong = text
            wrong[index] = wrong[index] == "a" ? "b" : "a"
            #expect(throws: IdentityError.self) { try PeerId(text: String(wrong)) }
        }
    }

    @Test(arguments: [
        "", "=", "If4x36FUomFia/hUBG/SJxt77UtqvkWqWId+9H+XIbk", "If4x36FUomFia/hUBG/SJxt77UtqvkWqWId+9H+XIbl=",
        " f4x36FUomFia/hUBG/SJxt77UtqvkWqWId+9H+XIbk=", "If4x36FUomFia_hUBG_SJxt77UtqvkWqWId-9H-XIbk=",
        "21fe31dfa154a261626bf854046fd2271b7bed4b6abe45aa58877ef47f9721b9",
    ])
    func `other texts are refused`(text: String) {
        #expect(throws: IdentityError.self) { try PeerId(base64Encoded: text) }
        #expect(PeerId(text) == nil)
        #expect(NetworkId(text) == nil)
    }

    @Test func `other numbers of bytes are refused`() {
        for count in [0, 1, 31, 33, 64] {
            let bytes = [UInt8](repeating: 7, count: count)
            #expect(throws: IdentityError.wrongLength(of: "a peer id", expected: 32, found: count)) {
                try PeerId(rawRepresentation: bytes)
            }
            #expect(throws: IdentityError.self) { try NetworkId(rawRepresentation: bytes) }
            #expect(throws: IdentityError.self) { try Ed25519PublicKey(rawRepresentation: bytes) }
        }
    }

    @Test func `ids are ordered by their bytes`() throws {
        var random = SplitMix64(seed: 4)
        var ids: [PeerId] = []
        for _ in 0..<200 {
            var bytes = [UInt8](repeating: 9, count: 32)
            bytes[Int.random(in: 0..<32, using: &random)] = UInt8.random(in: 0...255, using: &random)
            ids.append(try PeerId(rawRepresentation: bytes))
        }
        let byBytes = ids.sorted { $0.bytes.lexicographicallyPrecedes($1.bytes) }
        #expect(ids.sorted() == byBytes)
    }

    @Test func `ids are JSON strings of base64`() throws {
        let id = try PeerId(base64Encoded: peerId)
        let json = try JSONEncoder().encode([id])
        #expect(try JSONDecoder().decode([String].self, from: json) == [peerId])
        #expect(try JSONDecoder().decode([PeerId].self, from: json) == [id])
        #expect(throws: IdentityError.self) { try JSONDecoder().decode([PeerId].self, from: Data(#"["x"]"#.utf8)) }
    }

    @Test func `no text crashes the readers`() throws {
        let id = try PeerId(base64Encoded: peerId)
        neverCrash(onTexts: [peerId, id.text], rounds: 5_000) { text in
            _ = try PeerId(text: text)
            _ = try NetworkId(text: text)
        }
    }
}
