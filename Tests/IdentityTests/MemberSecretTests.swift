import Bytes
import Crypto
import Identity
import TestSupport
import Testing

@Suite("Member secret") struct MemberSecretTests {
    struct Row: Decodable, CustomTestStringConvertible {
        let network_private: String
        let epoch: UInt64
        let secret: String
        let signed: String
        let binary: String
        let beacon_key: String
        let rendezvous_private: String
        let rendezvous_public: String
        let token_text: String
        let network_text: String

        var testDescription: String { "of \(epoch)" }
    }

    private let network = Ed25519KeyPair()
    private var id: NetworkId { NetworkId(publicKey: network.publicKey) }

    private func secret(epoch: UInt64 = 1_800_000_000) throws -> MemberSecret {
        try MemberSecret.create(networkId: id, signer: network.privateKey, epoch: epoch)
    }

    @Test(arguments: try vectors(named: "Identity/member-secrets.json", as: [Row].self))
    func `secrets of another implementation are ours`(row: Row) throws {
        let secret = try MemberSecret(binary: Hex.decode(row.binary))
        #expect(secret.verify())
        #expect(secret.epoch == row.epoch)
        #expect(try secret.secret == SecretBytes(copying: Hex.decode(row.secret)))
        #expect(Hex.encode(secret.binary) == row.binary)
        #expect(secret.key(for: DomainLabel("runar/beacon-key/v1")).withBytes { Hex.encode($0) } == row.beacon_key)
        #expect(Hex.encode(secret.rendezvous.publicKey.bytes) == row.rendezvous_public)
        let signer = try Ed25519PrivateKey(rawRepresentation: Hex.decode(row.network_private))
        let ours = try MemberSecret(
            networkId: secret.networkId,
            epoch: row.epoch,
            secret: secret.secret,
            signature: Ed25519Signature(of: Hex.decode(row.signed), by: signer)
        )
        #expect(ours.verify())
    }

    @Test(arguments: try vectors(named: "Identity/member-secrets.json", as: [Row].self))
    func `texts with a rendezvous key of another implementation are ours`(row: Row) throws {
        let key = try RendezvousKey(rawRepresentation: Hex.decode(row.rendezvous_public))
        let token = try AccessToken.fromQRString(row.token_text)
        #expect(token.rendezvous == key)
        #expect(token.qrString == row.token_text)
        let metadata = try NetworkMetadata.fromQRString(row.network_text)
        #expect(metadata.rendezvous == key)
        #expect(try metadata.qrString == row.network_text)
        #expect(metadata.verify())
    }

    @Test func `a new secret is genuine, and no two are alike`() throws {
        let one = try secret()
        let other = try secret()
        #expect(one.verify() && other.verify())
        #expect(one.secret != other.secret)
        #expect(one != other)
        #expect(one.networkId == id)
        #expect(one.epoch == 1_800_000_000)
    }

    @Test func `only the network's own key may sign`() {
        #expect(throws: IdentityError.wrongSigningKey) {
            try MemberSecret.create(networkId: id, signer: Ed25519PrivateKey(), epoch: 1)
        }
    }

    @Test func `the binary form is read back`() throws {
        let secret = try secret()
        #expect(secret.binary.count == MemberSecret.byteCount)
        let read = try MemberSecret(binary: secret.binary)
        #expect(read == secret)
        #expect(read.hashValue == secret.hashValue)
        #expect(read.verify())
    }

    @Test func `any changed bit breaks a secret`() throws {
        let binary = try secret().binary
        for bit in 0..<(binary.count * 8) {
            var changed = binary
            changed[bit / 8] ^= 1 << UInt8(bit % 8)
            let read = try? MemberSecret(binary: changed)  // refused by its shape is as good as by its signature
            let verifies = read?.verify() ?? false
            #expect(!verifies, "bit \(bit)")
        }
    }

    @Test func `what is not canonical is refused`() throws {
        let binary = try secret().binary
        for wrong in [[], Array(binary.dropLast()), binary + [0], [2] + binary.dropFirst()] {
            #expect(throws: IdentityError.self) { try MemberSecret(binary: wrong) }
        }
        var late = binary
        late.replaceSubrange(33..<41, with: [0, 0, 0, 0x3A, 0xFF, 0xF4, 0x41, 0x80])
        #expect(throws: IdentityError.expirationOutOfRange) { try MemberSecret(binary: late) }
    }

    @Test func `nothing crashes its reader`() throws {
        neverCrash(on: [try secret().binary]) { _ = try MemberSecret(binary: $0).verify() }
    }

    @Test func `a secret is signed under its own label`() throws {
        let genuine = try secret()
        let fields = id.bytes + Array(genuine.binary[33..<73])
        for label in [MemberSecret.label, AccessToken.label, Revocation.label, NetworkMetadata.label] {
            let signed = try MemberSecret(
                networkId: id,
                epoch: genuine.epoch,
                secret: genuine.secret,
                signature: Ed25519Signature(of: label.prefix + fields, by: network.privateKey)
            )
            #expect(signed.verify() == (label.prefix == MemberSecret.label.prefix))
        }
    }

    @Test func `keys differ by purpose and by secret`() throws {
        let one = try secret()
        let purposes = [DomainLabel("test/one/v1"), DomainLabel("test/two/v1")]
        #expect(one.key(for: purposes[0]) == one.key(for: purposes[0]))
        #expect(one.key(for: purposes[0]) != one.key(for: purposes[1]))
        #expect(try one.key(for: purposes[0]) != secret().key(for: purposes[0]))
    }

    @Test func `no way of printing shows a secret`() throws {
        var random = SplitMix64(seed: 7)
        let secret = try MemberSecret.create(
            networkId: id,
            signer: network.privateKey,
            epoch: 5,
            generating: &random
        )
        let bytes = secret.secret.withBytes { $0 }
        var dumped = ""
        dump([secret], to: &dumped)
        dump(secret.rendezvous, to: &dumped)
        for printed in ["\(secret)", String(reflecting: secret), "\(Optional(secret).debugDescription)", dumped] {
            #expect(printed.contains("redacted"))
            for form in [Hex.encode(bytes), Base64.encode(bytes), "\(bytes[0]), \(bytes[1])"] {
                #expect(!printed.lowercased().contains(form.lowercased()))
            }
        }
    }
}

@Suite("Member secrets") struct MemberSecretsTests {
    private let network = Ed25519KeyPair()

    private func secret(_ epoch: UInt64) throws -> MemberSecret {
        let id = NetworkId(publicKey: network.publicKey)
        return try MemberSecret.create(networkId: id, signer: network.privateKey, epoch: epoch)
    }

    @Test func `the newest epoch is in use, in whatever order they come`() throws {
        let all = try [3, 1, 2, 5, 4].map { try secret($0) }
        for start in all {
            var secrets = MemberSecrets(start)
            for secret in all { secrets.insert(secret) }
            #expect(secrets.all.map(\.epoch) == [5, 4, 3, 2, 1])
            #expect(secrets.newest.epoch == 5)
        }
    }

    @Test func `of one epoch the smaller signature wins everywhere`() throws {
        let pair = try [secret(9), secret(9)].sorted { $0.signatureValue < $1.signatureValue }
        for order in [pair, pair.reversed()] {
            var secrets = MemberSecrets(order[0])
            let isNewest = secrets.insert(order[1])
            #expect(isNewest == (order[1] == pair[0]))
            #expect(secrets.newest == pair[0])
        }
    }

    @Test func `what is known or of another network changes nothing`() throws {
        let one = try secret(1)
        var secrets = MemberSecrets(one)
        let again = secrets.insert(one)
        #expect(!again)
        let other = Ed25519KeyPair()
        let foreign = try MemberSecret.create(
            networkId: NetworkId(publicKey: other.publicKey),
            signer: other.privateKey,
            epoch: 2
        )
        let elsewhere = secrets.insert(foreign)
        #expect(!elsewhere)
        #expect(secrets.all == [one])
    }

    @Test func `a replaced secret is recognised for a day after its successor was made`() throws {
        var secrets = MemberSecrets(try secret(1_000))
        #expect(secrets.recognisedCount(at: 1_000_000) == 1)
        secrets.insert(try secret(50_000))
        #expect(secrets.all.map(\.epoch) == [50_000, 1_000])
        #expect(secrets.recognisedCount(at: 0) == 2)
        #expect(secrets.recognisedCount(at: 50_000 + 86_399) == 2)
        #expect(secrets.recognisedCount(at: 50_000 + 86_400) == 1)
    }

    @Test func `several replaced on one day are all recognised`() throws {
        var secrets = MemberSecrets(try secret(1_000))
        for epoch: UInt64 in [90_000, 90_010, 90_020] { secrets.insert(try secret(epoch)) }
        #expect(secrets.all.map(\.epoch) == [90_020, 90_010, 90_000, 1_000])
        #expect(secrets.recognisedCount(at: 90_030) == 4)
        #expect(secrets.recognisedCount(at: 90_020 + 86_399) == 2)
    }

    @Test func `a successor is newer whatever the clock says`() throws {
        for now: UInt64 in [0, 999, 1_000, 1_001, 5_000] {
            var secrets = MemberSecrets(try secret(1_000))
            let successor = try secrets.successor(signer: network.privateKey, nowSeconds: now)
            #expect(successor.verify())
            #expect(successor.epoch == max(now, 1_001))
            let isNewest = secrets.insert(successor)
            #expect(isNewest)
        }
        #expect(throws: IdentityError.wrongSigningKey) {
            try MemberSecrets(secret(1)).successor(signer: Ed25519PrivateKey(), nowSeconds: 2)
        }
    }

    @Test func `they are stored and read back, in order`() throws {
        var secrets = MemberSecrets(try secret(100))
        for epoch in 101..<UInt64(110) {
            let bytes = secrets.binary.withBytes { $0 }
            #expect(try MemberSecrets(binary: bytes) == secrets)
            let doubled = bytes + bytes.prefix(MemberSecret.byteCount)
            for wrong in [[], Array(bytes.dropLast()), bytes + [0], doubled] {
                #expect(throws: IdentityError.self) { try MemberSecrets(binary: wrong) }
            }
            secrets.insert(try secret(epoch))
        }
        let foreign = try MemberSecretsTests().secret(50)
        #expect(throws: IdentityError.self) {
            try MemberSecrets(binary: secret(100).binary + foreign.binary)
        }
        #expect(throws: IdentityError.self) {
            try MemberSecrets(binary: secret(100).binary + secret(101).binary)
        }
        neverCrash(on: [secrets.binary.withBytes { $0 }], rounds: 500) { _ = try MemberSecrets(binary: $0) }
    }

    @Test func `their number is bounded, and the oldest goes first`() throws {
        var secrets = MemberSecrets(try secret(100))
        for epoch in 101..<UInt64(120) { secrets.insert(try secret(epoch)) }
        #expect(secrets.all.count == MemberSecrets.maximumCount)
        #expect(secrets.newest.epoch == 119)
        let isNewest = secrets.insert(try secret(1))
        #expect(!isNewest)
        #expect(secrets.all.count == MemberSecrets.maximumCount)
    }
}

@Suite("Rendezvous key") struct RendezvousKeyTests {
    private func pair() throws -> RendezvousKeyPair {
        let network = Ed25519KeyPair()
        let id = NetworkId(publicKey: network.publicKey)
        return try MemberSecret.create(networkId: id, signer: network.privateKey, epoch: 1).rendezvous
    }

    @Test func `what is sealed to a network its members open`() throws {
        let pair = try pair()
        let sealed = try #require(pair.publicKey.seal([1, 2, 3], info: [4]))
        #expect(sealed.count == 3 + RendezvousKey.sealingByteCount)
        #expect(pair.open(sealed, info: [4]) == [1, 2, 3])
        #expect(pair.open(sealed, info: [5]) == nil)
        #expect(try self.pair().open(sealed, info: [4]) == nil)
        #expect(pair.publicKey.seal([1, 2, 3], info: [4]) != sealed)
    }

    @Test(arguments: [
        "0000000000000000000000000000000000000000000000000000000000000000",
        "0100000000000000000000000000000000000000000000000000000000000000",
        "e0eb7a7c3b41b8ae1656e3faf19fc46ada098deb9c32b1fd866205165f49b800",
        "5f9c95bca3508c24b1d0b1559c83ef5b04445cc4581c8e86d8224eddd09f1157",
        "ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
        "edffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
        "eeffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
    ])
    func `points of small order are refused, with either highest bit`(point: String) throws {
        var bytes = try Hex.decode(point)
        for _ in 0..<2 {
            #expect(throws: IdentityError.self) { try RendezvousKey(rawRepresentation: bytes) }
            #expect(throws: IdentityError.self) { try RendezvousKey(base64Encoded: Base64.encode(bytes)) }
            let point = try Curve25519.KeyAgreement.PublicKey(rawRepresentation: bytes)
            let key = Curve25519.KeyAgreement.PrivateKey()
            let secret = try? key.sharedSecretFromKeyAgreement(with: point)  // nil: the system refuses zero itself
            #expect(unsafe secret?.withUnsafeBytes { unsafe $0.allSatisfy { $0 == 0 } } ?? true)
            bytes[31] |= 0x80
        }
    }

    @Test func `a key is read back from both of its forms`() throws {
        let key = try pair().publicKey
        #expect(try RendezvousKey(rawRepresentation: key.bytes) == key)
        #expect(try RendezvousKey(base64Encoded: key.base64Encoded) == key)
        #expect(throws: IdentityError.self) { try RendezvousKey(rawRepresentation: key.bytes.dropLast()) }
        #expect(throws: IdentityError.self) { try RendezvousKey(base64Encoded: key.base64Encoded + "=") }
    }

    @Test func `nothing crashes opening`() throws {
        let pair = try pair()
        let sealed = try #require(pair.publicKey.seal([UInt8](repeating: 7, count: 40), info: []))
        neverCrash(on: [sealed], rounds: 500) { _ = pair.open($0, info: []) }
    }
}
