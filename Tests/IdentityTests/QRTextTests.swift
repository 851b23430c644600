import Foundation
import Identity
import Testing

/// The tolerance of the JSON parsers, and its limits.
@Suite("Texts of QR codes") struct QRTextTests {
    private let network = Ed25519KeyPair()

    private func token() throws -> AccessToken {
        try AccessToken.create(
            peerId: PeerId(publicKey: Ed25519KeyPair().publicKey),
            networkId: NetworkId(publicKey: network.publicKey),
            networkPrivateKey: network.privateKey
        )
    }

    @Test func `fields may come in any order, with white space and with unknown fields`() throws {
        let token = try token()
        let text = """
            {
              "signature" : "\(token.signature.base64EncodedString())",
              "later": {"nested": [1, 2.5, {"deep": false}]},
              "expiration": null,
              "network_id": "\(token.networkId)",
              "flag": true,
              "peer_id": "\(token.peerId)", "type": "token"
            }
            """
        #expect(try AccessToken.fromQRString(text) == token)
    }

    @Test func `the order of the fields is the specification's`() throws {
        let token = try token()
        let text =
            "{\"type\":\"token\",\"peer_id\":\"\(token.peerId)\",\"network_id\":\"\(token.networkId)\","
            + "\"expiration\":null,\"signature\":\"\(token.signature.base64EncodedString())\"}"
        #expect(token.qrString == text)
    }

    @Test(arguments: [
        (#""expiration":null"#, #""expiration":"null""#), (#""expiration":null"#, #""expiration":1.0"#),
        (#""expiration":null"#, #""expiration":-1"#), (#""expiration":null"#, #""expiration":253402300800"#),
        (#""expiration":null"#, #""expiration":18446744073709551615"#), (#""expiration":null"#, #""x":null"#),
        (#""expiration":null"#, #""expiration":null,"expiration":null"#), (#""type":"token""#, #""type":"Token""#),
        (#""type":"token","#, ""), (#"="}"#, #""}"#), (#"="}"#, #"=="}"#), (#""peer_id":""#, #""peer_id":" "#),
        (#""network_id":""#, #""network_id":"="#),
    ])
    func `a token text that is not exact is refused`(found: String, replacement: String) throws {
        let text = try token().qrString
        let changed = text.replacing(found, with: replacement)
        #expect(changed != text)
        #expect(throws: IdentityError.self) { try AccessToken.fromQRString(changed) }
    }

    @Test func `a version of metadata that is left out is 1`() throws {
        var metadata = NetworkMetadata(
            networkId: NetworkId(publicKey: network.publicKey),
            name: "Home",
            adminPublicKey: network.publicKey
        )
        try metadata.sign(with: network.privateKey)
        let text = try metadata.qrString
        #expect(!text.contains("version"))
        #expect(try NetworkMetadata.fromQRString(text.replacing("}", with: ",\"version\":1}")) == metadata)
        for version in ["0", "4294967296", "null", "\"1\"", "1.0"] {
            #expect(throws: IdentityError.self) {
                try NetworkMetadata.fromQRString(text.replacing("}", with: ",\"version\":\(version)}"))
            }
        }
        #expect(try !NetworkMetadata.fromQRString(text.replacing("}", with: ",\"version\":2}")).verify())
    }
}
