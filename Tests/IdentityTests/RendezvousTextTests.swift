import Bytes
import Foundation
import Identity
import Testing

/// The rendezvous key in texts: an optional hint, which nothing signs, but which must be a valid key if present.
@Suite("Rendezvous key in texts") struct RendezvousTextTests {
    private let network = Ed25519KeyPair()
    private var id: NetworkId { NetworkId(publicKey: network.publicKey) }

    private func key() throws -> RendezvousKey {
        try MemberSecret.create(networkId: id, signer: network.privateKey, epoch: 1).rendezvous.publicKey
    }

    private func token() throws -> AccessToken {
        try AccessToken.create(
            peerId: PeerId(publicKey: Ed25519KeyPair().publicKey),
            networkId: id,
            networkPrivateKey: network.privateKey
        )
    }

    private func metadata() throws -> NetworkMetadata {
        var metadata = NetworkMetadata(networkId: id, name: "Home", adminPublicKey: network.publicKey)
        try metadata.sign(with: network.privateKey)
        return metadata
    }

    @Test func `texts carry it, binary forms do not`() throws {
        let key = try key()
        let token = try token().with(rendezvous: key)
        #expect(try AccessToken.fromQRString(token.qrString).rendezvous == key)
        #expect(try AccessToken(binary: token.binary).rendezvous == nil)
        let metadata = try metadata().with(rendezvous: key)
        #expect(try NetworkMetadata.fromQRString(metadata.qrString).rendezvous == key)
        #expect(try NetworkMetadata(binary: metadata.binary()).rendezvous == nil)
        let coded = try JSONDecoder().decode(AccessToken.self, from: JSONEncoder().encode(token))
        #expect(coded.rendezvous == key)
    }

    @Test func `a text without it is read and written as before`() throws {
        #expect(try AccessToken.fromQRString(token().qrString).rendezvous == nil)
        #expect(try !token().qrString.contains("rendezvous"))
        #expect(try NetworkMetadata.fromQRString(metadata().qrString).rendezvous == nil)
        let coded = try JSONDecoder().decode(AccessToken.self, from: JSONEncoder().encode(token()))
        #expect(coded.rendezvous == nil)
    }

    @Test func `it is no part of what a token says`() throws {
        let token = try token()
        let hinted = try token.with(rendezvous: key())
        #expect(hinted == token)
        #expect(hinted.hashValue == token.hashValue)
        #expect(hinted.verifySignature())
        #expect(hinted.binary == token.binary)
        let metadata = try metadata()
        #expect(try metadata.with(rendezvous: key()) == metadata)
        #expect(try metadata.with(rendezvous: key()).verify())
    }

    @Test func `a renamed network keeps it`() throws {
        let key = try key()
        let renamed = try metadata().with(rendezvous: key).renamed(to: "Cabin", signedWith: network.privateKey)
        #expect(renamed.rendezvous == key)
        #expect(renamed != (try metadata()))
    }

    @Test(arguments: ["null", "1", "true", "[]", "\"\"", "\"AAAA\"", "\"\(String(repeating: "A", count: 43))=\""])
    func `what is no key is refused`(value: String) throws {
        for text in [try token().qrString, try metadata().qrString] {
            let changed = text.dropLast() + ",\"rendezvous\":\(value)}"
            #expect(throws: IdentityError.self) { try Artefact.parse(String(changed)) }
        }
    }

    @Test func `an explanation shows it`() throws {
        let key = try key()
        for text in [try token().with(rendezvous: key).qrString, try metadata().with(rendezvous: key).qrString] {
            let explanation = try Artefact.parse(text).explanation(at: 0)
            #expect(explanation.isValid)
            #expect(explanation.fields.last?.name == "rendezvous")
            #expect(explanation.fields.last?.value == .string(key.base64Encoded))
        }
    }
}
