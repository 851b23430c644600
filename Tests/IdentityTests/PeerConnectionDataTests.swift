import Bytes
import Identity
import TestSupport
import Testing

@Suite("Peer connection data") struct PeerConnectionDataTests {
    struct Row: Decodable, CustomTestStringConvertible {
        let address: String
        let token: String
        let text: String

        var testDescription: String { address }
    }

    @Test(arguments: try vectors(named: "Identity/connections.json", as: [Row].self))
    func `connection data of another implementation are ours`(row: Row) throws {
        let data = try PeerConnectionData.fromQRString(row.text)
        #expect(data.address == row.address)
        #expect(data.socketAddress?.description == row.address)
        #expect(Hex.encode(data.token.binary) == row.token)
        #expect(data.peerId == data.token.peerId)
        #expect(data.networkId == data.token.networkId)
        #expect(data.token.verifySignature())
        #expect(data.qrString == row.text)
    }

    private func data(
        peer: Ed25519KeyPair = Ed25519KeyPair(),
        holder: Ed25519KeyPair? = nil,
        network: Ed25519KeyPair = Ed25519KeyPair(),
        issuer: Ed25519KeyPair? = nil,
        address: String = "192.0.2.1:4433"
    ) throws -> PeerConnectionData {
        let issuer = issuer ?? network
        return PeerConnectionData(
            peerId: PeerId(publicKey: peer.publicKey),
            networkId: NetworkId(publicKey: network.publicKey),
            address: address,
            token: try AccessToken.create(
                peerId: PeerId(publicKey: (holder ?? peer).publicKey),
                networkId: NetworkId(publicKey: issuer.publicKey),
                networkPrivateKey: issuer.privateKey
            )
        )
    }

    @Test func `the token must be of the peer and the network`() throws {
        #expect(throws: Never.self) { try PeerConnectionData.fromQRString(data().qrString) }
        let ofAnotherPeer = try data(holder: Ed25519KeyPair()).qrString
        let ofAnotherNetwork = try data(issuer: Ed25519KeyPair()).qrString
        for text in [ofAnotherPeer, ofAnotherNetwork] {
            #expect(throws: IdentityError.self) { try PeerConnectionData.fromQRString(text) }
        }
    }

    @Test(arguments: ["", "localhost:1", "192.0.2.1", "192.0.2.1:70000", "::1:80"])
    func `an address that is none is refused`(address: String) throws {
        let text = try data(address: address).qrString
        #expect(throws: IdentityError.self) { try PeerConnectionData.fromQRString(text) }
    }

    @Test func `a text of another type is refused`() throws {
        let text = try data().qrString
        #expect(throws: IdentityError.self) {
            try PeerConnectionData.fromQRString(text.replacing("\"peer\"", with: "\"token\""))
        }
        #expect(throws: IdentityError.self) { try AccessToken.fromQRString(text) }
        #expect(throws: IdentityError.self) { try NetworkMetadata.fromQRString(text) }
    }

    @Test func `no text crashes the reader`() throws {
        neverCrash(onTexts: [try data().qrString], rounds: 5_000) { text in
            _ = try PeerConnectionData.fromQRString(text)
        }
    }
}
