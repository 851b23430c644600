import Bytes
import Identity
import TestSupport
import Testing

@Suite("Links") struct LinkTests {
    struct Vector: Decodable {
        let kind: String
        let link: String
        let text: String
    }

    private let network = Ed25519KeyPair()
    private let peer = PeerId(publicKey: Ed25519KeyPair().publicKey)
    private var id: NetworkId { NetworkId(publicKey: network.publicKey) }

    private func metadata(named name: String) throws -> NetworkMetadata {
        var metadata = NetworkMetadata(networkId: id, name: name, adminPublicKey: network.publicKey, version: .max)
        try metadata.sign(with: network.privateKey)
        let key = try RendezvousKey(rawRepresentation: [UInt8](repeating: 9, count: 32))
        return metadata.with(rendezvous: key)
    }

    private func token() throws -> AccessToken {
        try AccessToken.create(peerId: peer, networkId: id, signer: network.privateKey, expirationSeconds: .max >> 32)
    }

    @Test func `links of another implementation equal its texts and ours`() throws {
        let vectors = try vectors(named: "Identity/links.json", as: [Vector].self)
        #expect(Set(vectors.map(\.kind)) == ["peer-id", "token", "network", "peer"])
        for vector in vectors {
            let capitals = vector.link.uppercased()
            for link in [vector.link, " \(capitals)\n"] {
                let (link, text) = (try Artefact.parse(link), try Artefact.parse(vector.text))
                #expect(link.explanation(at: 0) == text.explanation(at: 0))
            }
            switch try Artefact.parse(capitals) {
            case .network(let metadata): #expect(try metadata.link == vector.link)
            case .token(let token): #expect(token.link == vector.link)
            case .peerConnection(let data): #expect(try data.link == vector.link)
            case .identifier(let peer): #expect(peer.link == vector.link)
            default: Issue.record("\(vector.kind) is read as something else")
            }
        }
    }

    @Test func `every reader of a text also reads its link`() throws {
        let metadata = try metadata(named: "Home")
        let token = try token().with(rendezvous: metadata.rendezvous)
        let data = PeerConnectionData(peerId: peer, networkId: id, address: "[2001:db8::1]:4433", token: token)
        #expect(try NetworkMetadata.fromQRString(metadata.link) == metadata)
        #expect(try NetworkMetadata.fromQRString(metadata.link).rendezvous == metadata.rendezvous)
        #expect(try AccessToken.fromQRString(token.link.uppercased()) == token)
        #expect(try AccessToken.fromQRString(token.link).rendezvous == metadata.rendezvous)
        #expect(try PeerConnectionData.fromQRString(data.link) == data)
        #expect(try PeerId(text: peer.link.uppercased()) == peer)
        #expect(PeerId(peer.link) == peer)
    }

    /// Texts that mail and chat programs make of a link.
    private func passedOn(_ link: String) -> [String] {
        let middle = link.index(link.startIndex, offsetBy: link.count / 2)
        let (head, tail) = (String(link[..<middle]), String(link[middle...]))
        let wrapped = [
            ("<", ">"), ("\"", "\""), ("'", "'"), ("“", "”"), ("(", ")"), ("[", "]"), ("`", "`"), ("*", "*"),
        ]
        .map { "\($0)\(link)\($1)" }
        let ended = [".", ",", ";", "!", "?", "?utm_source=mail&utm_medium=x", "#top", "…", ".\r\n"].map { link + $0 }
        let broken = ["\u{AD}", "\u{200B}", "\u{200D}", "\u{2060}", "\u{FEFF}", "\u{A0}", "\r\n"].map {
            head + $0 + tail
        }
        return wrapped + ended + broken + [
            "[join us](\(link))", "[\(link)](\(link))", "<URL:\(link)>", "Link: \(link).", "> \(link)",
            "\u{FEFF}\(link)", "\u{200B}\(link)\u{200B}", "\u{2068}\(link)\u{2069}",
        ]
    }

    @Test func `a link is read as mail and chat programs pass it on`() throws {
        var revocations = RevocationSet(networkId: id)
        try revocations.insert(Revocation.create(peerId: peer, networkId: id, signer: network.privateKey, seconds: 5))
        let invitation = Invitation(inviter: peer, networkId: id, addresses: [], nowSeconds: 0)
        let links = [
            try token().link, try metadata(named: "Home").link, peer.link, invitation.link, invitation.qrString,
        ]
        let separators: Set<Character> = ["\u{A0}", "\r\n"]
        for link in links + [revocations.text] {
            let expected = try Artefact.parse(link).explanation(at: 0)
            // Only checked base32 has separators in it.
            let texts = passedOn(link).filter { link != revocations.text || !$0.contains(where: separators.contains) }
            for text in texts {
                let found = try? Artefact.parse(text).explanation(at: 0)  // nil fails below, with the text
                #expect(found == expected, "\(text.debugDescription)")
            }
        }
        for text in passedOn(invitation.link) {
            #expect(Invitation.isText(text))
            #expect((try? Invitation(text: text))?.id == invitation.id, "\(text.debugDescription)")  // nil fails here
        }
    }

    @Test func `a link inside a word, behind prose or in the name of a network is none`() throws {
        let link = peer.link
        let prose = String(repeating: "prose ", count: 200)
        for text in ["x\(link)", "\(prose)\(link)", "\(link)é", "\(link)8", "{\"type\":\"\(link)\"}"] {
            #expect(throws: IdentityError.self) { try Artefact.parse(text) }
        }
        let network = try metadata(named: "<runar://join/aaaa>")
        #expect(try NetworkMetadata.fromQRString(network.qrString) == network)
    }

    @Test func `a link of another kind is refused with its kind`() throws {
        let link = try token().link
        let error = try #require(throws: IdentityError.self) { try NetworkMetadata.fromQRString(link) }
        #expect(error.description.contains("\"token\""))
        #expect(throws: IdentityError.self) { try PeerId(text: link) }
        #expect(throws: IdentityError.self) { try PeerConnectionData.fromQRString(link) }
        #expect(throws: IdentityError.self) { try AccessToken.fromQRString(metadata(named: "Home").link) }
        #expect(throws: IdentityError.self) { try Invitation(text: link) }
    }

    @Test func `a wrong letter is detected`() throws {
        let link = try token().link
        let position = link.index(link.startIndex, offsetBy: "runar://token/".count + 7)
        let wrong = link.replacingCharacter(at: position, with: link[position] == "a" ? "b" : "a")
        let error = try #require(throws: IdentityError.self) { try Artefact.parse(wrong) }
        #expect(error.description.contains("copy it again"))
        #expect(throws: IdentityError.self) { try Artefact.parse(String(link.dropLast())) }
    }

    @Test func `every code of ours fits version 15 at level M`() throws {
        let name = String(repeating: "\"", count: 64)
        let (longest, usual) = (try metadata(named: name), try metadata(named: "My Personal Network"))
        let token = try token().with(rendezvous: usual.rendezvous)
        let address = "[2001:db8:1111:2222:3333:4444:5555:6666]:65535"
        let data = PeerConnectionData(peerId: peer, networkId: id, address: address, token: token)
        // Byte mode holds 411 characters in it with the marker of UTF-8, alphanumeric mode 600.
        for text in [try usual.qrString, token.qrString, data.qrString, peer.base64Encoded] {
            #expect(text.utf8.count <= 411)
        }
        let alphanumeric = Set("0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ $%*+-./:")
        let addresses = try (1...8).map { try SocketAddress(parsing: "[2001:db8::\($0)]:4433") }
        let invitation = Invitation(inviter: peer, networkId: id, addresses: addresses, nowSeconds: 0)
        let links = try [longest.link, data.link].map { $0.uppercased() }
        for code in [try longest.qrString, invitation.qrString] + links {
            #expect(code.utf8.count <= 600)
            #expect(code.allSatisfy(alphanumeric.contains))
        }
        #expect(try NetworkMetadata.fromQRString(longest.qrString) == longest)
    }

    @Test func `a text that holds an invitation anywhere is known for a secret`() throws {
        let invitation = Invitation(inviter: peer, networkId: id, addresses: [], nowSeconds: 0)
        for text in [invitation.link, invitation.qrString, "see \(invitation.link) here", "\n\(invitation.qrString)"] {
            #expect(Invitation.isText(text))
        }
        for text in [try token().link, peer.link, "runar join", "", "runar://"] { #expect(!Invitation.isText(text)) }
    }

    @Test func `no link crashes the readers`() throws {
        let links = [try token().link, try metadata(named: "x").link, peer.link, "runar://peer/aaaa", "runar://"]
        neverCrash(onTexts: links + links.flatMap(passedOn), rounds: 3_000) { text in
            _ = try Artefact.parse(text).explanation(at: 0)
        }
        neverCrash(on: [try metadata(named: "abc").binary(), try token().binary], rounds: 2_000) { bytes in
            for kind in ["network", "token", "peer", "join", "peer-id"] where bytes.count <= 512 {
                _ = try? Artefact.parse("runar://\(kind)/\(CheckedBase32.encode(bytes))")  // any kind may refuse
            }
        }
    }
}

extension String {
    fileprivate func replacingCharacter(at position: Index, with character: Character) -> String {
        var copy = self
        copy.replaceSubrange(position...position, with: [character])
        return copy
    }
}
