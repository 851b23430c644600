import Bytes
import Identity
import TestSupport
import Testing

/// The examples and bounds in `docs/spec/identity.md` are held against the code.
@Suite("The specification of identity") struct SpecificationTests {
    private let text: String
    /// The tables of the document: rows of cells, by the title row.
    private let tables: [String: [[String]]]

    init() throws {
        text = try packageText(named: "docs/spec/identity.md")
        tables = TestSupport.tables(in: text)
    }

    private func values(_ title: String) throws -> [String: String] {
        let rows = try #require(tables["\(title), Value"], "there is no table \(title)")
        return Dictionary(uniqueKeysWithValues: rows.map { ($0[0], $0[1]) })
    }

    private func value(_ name: String, of title: String) throws -> String {
        try #require(values(title)[name], "\(title) has no row \(name)")
    }

    private func bytes(_ name: String, of title: String) throws -> [UInt8] {
        try Hex.decode(value(name, of: title))
    }

    @Test func `its network key is what the code derives`() throws {
        let node = try SLIP0010.derive(seed: bytes("seed", of: "SLIP-0010"), path: value("path", of: "SLIP-0010"))
        #expect(try node.chainCode.withBytes { $0 } == bytes("chain code", of: "SLIP-0010"))
        #expect(try node.privateKey.withBytes { $0 } == bytes("private key", of: "SLIP-0010"))
        #expect(try node.publicKey.bytes == bytes("public key", of: "SLIP-0010"))
    }

    @Test func `its other keys are what the code derives`() throws {
        let match = try #require(text.firstMatch(of: /Of the root `([0-9a-f]{64})`/))
        let root = try Ed25519PrivateKey(rawRepresentation: Hex.decode(String(match.1)))
        let rows = try #require(tables["Purpose, Of, Public key"])
        #expect(rows.count == 4)
        for row in rows {
            let key =
                switch row[0] {
                case "profile": try KeyDerivation.deriveProfileKey(masterKey: root, label: row[1])
                case "admin":
                    KeyDerivation.deriveAdminKey(
                        masterKey: root,
                        networkId: try NetworkId(rawRepresentation: Hex.decode(row[1]))
                    )
                default: KeyDerivation.deriveCertificateAuthorityKey(masterKey: root)
                }
            #expect(Hex.encode(key.publicKey.bytes) == row[2])
        }
    }

    @Test func `its names are what the code writes`() throws {
        let key = try Ed25519PublicKey(rawRepresentation: bytes("public key", of: "Names"))
        let peer = PeerId(publicKey: key)
        #expect(try peer.bytes == bytes("PeerId", of: "Names"))
        #expect(try peer.base64Encoded == value("PeerId, base64", of: "Names"))
        #expect(try peer.text == value("PeerId, checked base32", of: "Names"))
        #expect(
            try NetworkId(publicKey: key).text == value("NetworkId of the same key, checked base32", of: "Names")
        )
    }

    @Test func `its token is what the code reads and writes`() throws {
        let token = try AccessToken(binary: bytes("token", of: "Token"))
        #expect(try token.link == value("link", of: "Link"))
        #expect(token.verifySignature())
        #expect(try token.signedBytes == bytes("signed bytes", of: "Token"))
        #expect(try token.qrString == value("text", of: "Token"))
        let holder = try Ed25519PublicKey(rawRepresentation: bytes("holder's public key", of: "Token"))
        #expect(token.peerId == PeerId(publicKey: holder))
        let network = try Ed25519PrivateKey(rawRepresentation: bytes("network's private key", of: "Token"))
        #expect(token.networkId == NetworkId(publicKey: network.publicKey))
        let endless = try AccessToken(binary: bytes("token without end", of: "Token"))
        #expect(endless.verifySignature())
        #expect(endless.expirationSeconds == nil)
    }

    @Test func `its metadata are what the code reads and writes`() throws {
        let metadata = try NetworkMetadata(binary: bytes("metadata", of: "Metadata"))
        #expect(metadata.verify())
        #expect(try metadata.signedBytes == bytes("signed bytes", of: "Metadata"))
        #expect(try metadata.qrString == value("text", of: "Metadata"))
        #expect(try metadata.adminPublicKey.bytes == bytes("administrator", of: "Metadata"))
    }

    @Test func `its revocations are what the code reads`() throws {
        let revocation = try Revocation(binary: bytes("revocation", of: "Revocation"))
        #expect(revocation.verify())
        #expect(try revocation.signedBytes == bytes("signed bytes", of: "Revocation"))
        let empty = RevocationSet(networkId: revocation.networkId)
        #expect(try empty.digest == bytes("digest of an empty set", of: "Revocation"))
        let vector = try vectors(named: "Identity/revocations.json", as: RevocationTests.Vector.self)
        #expect(try vector.digest == value("digest of the set of the vectors", of: "Revocation"))
    }

    @Test func `its invitation, proof and digits are what the code makes`() throws {
        let invitation = try Invitation(binary: bytes("bytes", of: "Invitation"))
        #expect(try invitation.link == value("text", of: "Invitation"))
        let joiner = try PeerId(rawRepresentation: bytes("joiner", of: "Invitation"))
        let exporter = try bytes("exported bytes", of: "Invitation")
        #expect(try invitation.proof(exporter: exporter, joiner: joiner) == bytes("proof", of: "Invitation"))
        let digits = Invitation.digits(
            exporter: exporter,
            networkId: invitation.networkId,
            inviter: invitation.inviter,
            joiner: joiner
        )
        #expect(try digits == value("digits", of: "Invitation"))
        #expect(text.contains("`\(Invitation.exporterLabel)`"))
    }

    @Test func `its member secret and keys are what the code reads and derives`() throws {
        let secret = try MemberSecret(binary: bytes("member secret", of: "Member secret"))
        #expect(secret.verify())
        let signed = MemberSecret.label.prefix + secret.networkId.bytes + secret.binary[33..<73]
        #expect(try signed == bytes("signed bytes", of: "Member secret"))
        let beacon = secret.key(for: DomainLabel("runar/beacon-key/v1"))
        #expect(try beacon == SecretBytes(copying: bytes("beacon key", of: "Member secret")))
        let key = try RendezvousKey(rawRepresentation: bytes("rendezvous key, public", of: "Member secret"))
        #expect(secret.rendezvous.publicKey == key)
        let token = try AccessToken.fromQRString(value("token text", of: "Member secret"))
        #expect(token.rendezvous == key)
        #expect(text.contains("recognised for \(MemberSecrets.recognitionSeconds) seconds"))
        #expect(text.contains("at most \(MemberSecrets.maximumCount) of one network"))
    }

    @Test func `its labels and bounds are those of the code`() throws {
        for label in [AccessToken.label, NetworkMetadata.label, Revocation.label, MemberSecret.label] {
            #expect(text.contains("label \"\(String(decoding: label.prefix.dropFirst(), as: UTF8.self))\""))
        }
        #expect(text.contains("\(AccessToken.byteCount) bytes. An expiry"))
        #expect(text.contains("NetworkId || entry, \(Revocation.byteCount) bytes"))
        #expect(text.contains("at most \(RevocationSet.maximumCount). Sets only grow"))
        #expect(text.contains("number of addresses, at most \(Invitation.maximumAddressCount) "))
        #expect(text.contains("good for \(Invitation.lifetimeSeconds) seconds"))
        #expect(text.contains("A name has 1 to \(NameRule.maximumByteCount) bytes"))
        #expect(text.contains("at most \(UnixTime.maximum) (the end"))
    }

    @Test func `its refused code points are those of the code`() throws {
        let list = try #require(text.firstMatch(of: /U\+(0000-001F[^.]*)\./))
        var refused: Set<UInt32> = []
        for part in list.1.split(whereSeparator: { $0 == "," || $0.isWhitespace }) {
            let ends = part.split(separator: "-").compactMap { UInt32($0, radix: 16) }
            let first = try #require(ends.first)
            let last = try #require(ends.last)
            refused.formUnion(first...last)
        }
        for value in 0...UInt32(0x10FFFF) {
            guard let scalar = Unicode.Scalar(value) else { continue }
            let isRefused = !PlainText.isPlain(scalar)
            if isRefused != refused.contains(value) { Issue.record("U+\(String(value, radix: 16))") }
        }
    }
}
