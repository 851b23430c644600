import Bytes
import Foundation
import Identity
import Testing

/// A signature of one kind never passes for another, each pair tried on purpose.
@Suite("Domain labels") struct LabelTests {
    private let network = Ed25519KeyPair()
    private let peer = PeerId(publicKey: Ed25519KeyPair().publicKey)
    private var id: NetworkId { NetworkId(publicKey: network.publicKey) }

    private let labels = [AccessToken.label, NetworkMetadata.label, Revocation.label]

    private func signature(over message: [UInt8]) throws -> Ed25519Signature {
        try #require(Ed25519Signature(network.privateKey.sign(message)))
    }

    @Test func `a label tells its own length and its version`() {
        for label in labels {
            #expect(Int(label.prefix[0]) == label.prefix.count - 1)
            #expect(String(decoding: label.prefix.dropFirst(), as: UTF8.self).hasSuffix("/v1"))
        }
        #expect(Set(labels.map(\.prefix)).count == labels.count)
    }

    @Test func `a token's fields signed under another label, or none, are no token`() throws {
        let genuine = try AccessToken.create(
            peerId: peer,
            networkId: id,
            signer: network.privateKey,
            expirationSeconds: 1_900_000_000
        )
        let fields = Array(genuine.signedBytes.dropFirst(AccessToken.label.prefix.count))
        for prefix in labels.map(\.prefix) + [[], Array(AccessToken.label.prefix.dropFirst())] {
            let token = try AccessToken(
                peerId: peer,
                networkId: id,
                expirationSeconds: 1_900_000_000,
                signature: signature(over: prefix + fields)
            )
            #expect(token.verifySignature() == (prefix == AccessToken.label.prefix))
        }
    }

    @Test func `metadata signed under another label, or none, is refused`() throws {
        let plain = NetworkMetadata(networkId: id, name: "Home", adminPublicKey: network.publicKey)
        let fields = Array(plain.signedBytes.dropFirst(NetworkMetadata.label.prefix.count))
        for prefix in labels.map(\.prefix) + [[], Array(NetworkMetadata.label.prefix.dropFirst())] {
            let metadata = NetworkMetadata(
                networkId: id,
                name: "Home",
                adminPublicKey: network.publicKey,
                version: 1,
                signature: try signature(over: prefix + fields)
            )
            #expect(metadata.verify() == (prefix == NetworkMetadata.label.prefix))
        }
    }

    @Test func `a revocation signed under another label, or none, is refused`() throws {
        let genuine = try Revocation.create(peerId: peer, networkId: id, signer: network.privateKey, seconds: 5)
        let fields = Array(genuine.signedBytes.dropFirst(Revocation.label.prefix.count))
        for prefix in labels.map(\.prefix) + [[], Array(Revocation.label.prefix.dropFirst())] {
            let revocation = try Revocation(
                networkId: id,
                peerId: peer,
                seconds: 5,
                signature: signature(over: prefix + fields)
            )
            #expect(revocation.verify() == (prefix == Revocation.label.prefix))
        }
    }

    @Test func `the signatures of one network's artefacts cannot be exchanged`() throws {
        // Chosen so that peer, network and number are the same in token and revocation.
        let token = try AccessToken.create(
            peerId: peer,
            networkId: id,
            signer: network.privateKey,
            expirationSeconds: 5
        )
        let revocation = try Revocation.create(peerId: peer, networkId: id, signer: network.privateKey, seconds: 5)
        #expect(
            try !AccessToken(
                peerId: peer,
                networkId: id,
                expirationSeconds: 5,
                signature: revocation.signatureValue
            ).verifySignature()
        )
        #expect(
            try !Revocation(networkId: id, peerId: peer, seconds: 5, signature: token.signatureValue).verify()
        )
    }

    @Test func `a token of the original's layout is refused`() throws {
        // Sixty-five bytes without a label: peer, network and a zero.
        let old = try AccessToken(
            peerId: peer,
            networkId: id,
            expirationSeconds: nil,
            signature: signature(over: peer.bytes + id.bytes + [0])
        )
        #expect(!old.verifySignature())
    }
}
