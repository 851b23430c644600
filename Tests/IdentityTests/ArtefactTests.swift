import Bytes
import Identity
import TestSupport
import Testing

@Suite("Artefact") struct ArtefactTests {
    private let network = Ed25519KeyPair()
    private let peer = PeerId(publicKey: Ed25519KeyPair().publicKey)
    private var id: NetworkId { NetworkId(publicKey: network.publicKey) }

    private func token(until seconds: UInt64? = 1_000) throws -> AccessToken {
        try AccessToken.create(peerId: peer, networkId: id, signer: network.privateKey, expirationSeconds: seconds)
    }

    private func metadata(_ name: String = "Home") throws -> NetworkMetadata {
        var metadata = NetworkMetadata(networkId: id, name: name, adminPublicKey: network.publicKey)
        try metadata.sign(with: network.privateKey)
        return metadata
    }

    private func revocations() throws -> RevocationSet {
        var set = RevocationSet(networkId: id)
        try set.insert(Revocation.create(peerId: peer, networkId: id, signer: network.privateKey, seconds: 5))
        return set
    }

    private func invitation() throws -> Invitation {
        Invitation(
            inviter: peer,
            networkId: id,
            addresses: [try SocketAddress(parsing: "192.0.2.1:4433")],
            nowSeconds: 1_000
        )
    }

    private func texts() throws -> [(kind: String, text: String)] {
        let connection = PeerConnectionData(peerId: peer, networkId: id, address: "192.0.2.1:4433", token: try token())
        return [
            ("network", try metadata().qrString), ("token", try token().qrString), ("peer", connection.qrString),
            ("identifier", peer.base64Encoded), ("identifier", peer.text), ("identifier", id.text),
            ("revocations", try revocations().text), ("invitation", try invitation().link),
            ("invitation", try invitation().qrString), ("network", try metadata().link), ("token", try token().link),
            ("peer", try connection.link), ("identifier", peer.link), ("token", try token().link.uppercased()),
        ]
    }

    @Test func `every text is recognised, with white space around it`() throws {
        for (kind, text) in try texts() {
            for text in [text, " \n\(text)\r\n"] {
                let explanation = try Artefact.parse(text).explanation(at: 1_000)
                #expect(explanation.kind == kind)
                #expect(explanation.isValid, "\(kind): \(explanation.problem ?? "")")
                #expect(!explanation.fields.isEmpty)
                #expect(Set(explanation.fields.map(\.name)).count == explanation.fields.count)
            }
        }
    }

    @Test func `every file is recognised`() throws {
        let files: [(String, [UInt8])] = [
            ("token", try token().binary), ("token", Array(try token().qrString.utf8)),
            ("network", try metadata("abc").binary()), ("network", try metadata().binary()),
            ("revocations", try revocations().binary), ("identifier", Array(peer.text.utf8)),
        ]
        #expect(files[2].1.count == files[0].1.count)
        for (kind, bytes) in files {
            #expect(try Artefact.parse(bytes: bytes).explanation(at: 1_000).kind == kind)
        }
        #expect(throws: IdentityError.self) { try Artefact.parse(bytes: [0xFF, 0xFE]) }
        #expect(throws: IdentityError.self) { try Artefact.parse(bytes: []) }
    }

    @Test func `a token is explained in order`() throws {
        let explanation = try Artefact.parse(token().qrString).explanation(at: 1_000)
        #expect(
            explanation.fields.map(\.name) == [
                "peer_id", "peer_text", "network_id", "network_text", "expiration", "expires",
            ]
        )
        #expect(explanation.fields[0].value == .string(peer.base64Encoded))
        #expect(explanation.fields[4].value == .integer(1_000))
        #expect(explanation.fields[5].value == .string("1970-01-01 00:16:40 UTC"))
        let endless = try Artefact.parse(token(until: nil).qrString).explanation(at: 1_000)
        #expect(endless.fields.last?.value == .null)
    }

    @Test func `what is wrong is said in words`() throws {
        let expired = try Artefact.parse(token().qrString).explanation(at: 2_000)
        #expect(expired.problem == TokenProblem.expired(at: 1_000).description)
        let late = try Artefact.parse(invitation().link).explanation(at: 9_000)
        #expect(late.problem?.contains("expired") == true)
        let renamed = try metadata().qrString.replacing("Home", with: "Hell")
        #expect(try !Artefact.parse(renamed).explanation(at: 0).isValid)
        let other = PeerId(publicKey: Ed25519KeyPair().publicKey)
        let stolen = PeerConnectionData(peerId: other, networkId: id, address: "192.0.2.1:4433", token: try token())
        let explanation = try Artefact.parse(stolen.qrString).explanation(at: 0)
        #expect(explanation.problem == TokenProblem.wrongPeer.description)
    }

    @Test func `an invitation is explained without its secret`() throws {
        let invitation = try invitation()
        let explanation = try Artefact.parse(invitation.link).explanation(at: 1_000)
        let secret = invitation.secret.withBytes { Hex.encode($0) }
        #expect(!"\(explanation)".contains(secret))
        #expect(explanation.fields.contains { $0.name == "secret" && $0.value == .string("redacted") })
    }

    @Test func `a peer id need not be a network id`() throws {
        let explanation = try Artefact.parse(PeerId(rawRepresentation: [UInt8](repeating: 0xFF, count: 32)).text)
            .explanation(at: 0)
        #expect(explanation.fields.contains { $0.name == "can_be_network_id" && $0.value == .boolean(false) })
    }

    @Test(arguments: [
        "", " ", "hello", "{}", "{\"type\":\"wallet\"}", "{\"type\":1}", "runar:", "runar://", "runar://revocations/",
        "runar://join/x", "runar://wallet/aaaa", "runar://token",
    ])
    func `other texts are refused with words`(text: String) throws {
        let error = try #require(throws: IdentityError.self) { try Artefact.parse(text) }
        #expect(!error.description.isEmpty)
    }

    @Test func `a hostile type does not steer the terminal`() throws {
        let error = try #require(throws: IdentityError.self) {
            try Artefact.parse("{\"type\":\"\\u001b[2J\\u202e\"}")
        }
        #expect(error.description.unicodeScalars.allSatisfy(PlainText.isPlain) == true)
    }

    @Test func `nothing crashes the recogniser`() throws {
        neverCrash(onTexts: try texts().map(\.text), rounds: 5_000) { text in
            _ = try Artefact.parse(text).explanation(at: 1_000)
        }
        neverCrash(on: [try token().binary, try metadata().binary()], rounds: 2_000) { bytes in
            _ = try Artefact.parse(bytes: bytes).explanation(at: 1_000)
        }
    }
}
