import Bytes
import Foundation
import Identity
import TestSupport
import Testing

@Suite("Revocations") struct RevocationTests {
    struct Vector: Decodable {
        struct Entry: Decodable {
            let peer: String
            let seconds: UInt64
            let signed: String
            let binary: String
        }

        let network_private: String
        let entries: [Entry]
        let digest: String
        let empty_digest: String
        let binary: String
        let text: String
    }

    private let network = Ed25519KeyPair()
    private var id: NetworkId { NetworkId(publicKey: network.publicKey) }

    private func peer(_ number: Int) throws -> PeerId {
        var random = SplitMix64(seed: UInt64(number))
        return try PeerId(rawRepresentation: random.bytes(count: 32))
    }

    /// Fills sets without the cost of real signatures.
    private func unsigned(_ number: Int, seconds: UInt64 = 1, mark: UInt8 = 0) throws -> Revocation {
        let signature = try #require(Ed25519Signature([UInt8](repeating: mark, count: 64)))
        return try Revocation(networkId: id, peerId: peer(number), seconds: seconds, signature: signature)
    }

    @Test func `revocations of another implementation are ours`() throws {
        let vector = try vectors(named: "Identity/revocations.json", as: Vector.self)
        let key = try Ed25519PrivateKey(rawRepresentation: Hex.decode(vector.network_private))
        let id = NetworkId(publicKey: key.publicKey)
        var set = RevocationSet(networkId: id)
        #expect(Hex.encode(set.digest) == vector.empty_digest)
        for entry in vector.entries {
            let revocation = try Revocation(binary: Hex.decode(entry.binary))
            #expect(revocation.verify())
            #expect(Hex.encode(revocation.peerId.bytes) == entry.peer)
            #expect(revocation.seconds == entry.seconds)
            #expect(Hex.encode(revocation.signedBytes) == entry.signed)
            #expect(Hex.encode(revocation.binary) == entry.binary)
            let ours = try Revocation.create(
                peerId: revocation.peerId,
                networkId: id,
                networkPrivateKey: key,
                at: Date(timeIntervalSince1970: Double(entry.seconds))
            )
            #expect(ours.signedBytes == revocation.signedBytes)
            #expect(ours.verify())
            #expect(try set.insert(revocation))
        }
        #expect(Hex.encode(set.digest) == vector.digest)
        #expect(Hex.encode(set.binary) == vector.binary)
        #expect(set.text == vector.text)
        #expect(try RevocationSet(text: vector.text) == set)
    }

    @Test func `an entry that is not genuine changes nothing`() throws {
        var set = RevocationSet(networkId: id)
        let genuine = try Revocation.create(peerId: peer(1), networkId: id, signer: network.privateKey, seconds: 5)
        #expect(try set.insert(genuine))
        let before = set
        let forged = try unsigned(2)
        #expect(throws: IdentityError.invalidSignature(of: "a revocation")) { try set.insert(forged) }
        let elsewhere = Ed25519KeyPair()
        let foreign = try Revocation.create(
            peerId: peer(2),
            networkId: NetworkId(publicKey: elsewhere.publicKey),
            signer: elsewhere.privateKey,
            seconds: 5
        )
        #expect(throws: IdentityError.self) { try set.insert(foreign) }
        let good = try Revocation.create(peerId: peer(3), networkId: id, signer: network.privateKey, seconds: 5)
        #expect(throws: IdentityError.self) { try set.merge([good, forged]) { $0.verify() } }
        #expect(set == before)
    }

    @Test func `only the network's own key revokes`() throws {
        #expect(throws: IdentityError.wrongSigningKey) {
            try Revocation.create(peerId: peer(1), networkId: id, networkPrivateKey: Ed25519PrivateKey())
        }
    }

    @Test func `known entries are not verified again`() throws {
        var set = RevocationSet(networkId: id)
        let entries = try (0..<50).map { try unsigned($0) }
        var verified = 0
        let counting: (Revocation) -> Bool = { _ in
            verified += 1
            return true
        }
        #expect(try set.merge(entries, verifySignature: counting) == 50)
        #expect(try set.merge(entries.reversed(), verifySignature: counting) == 0)
        #expect(verified == 50)
    }

    @Test(arguments: 0..<8)
    func `union has one outcome whatever the order`(seed: Int) throws {
        var random = SplitMix64(seed: UInt64(seed))
        var everything: [Revocation] = []
        for number in 0..<60 {
            for _ in 0...Int.random(in: 0...2, using: &random) {
                let seconds = UInt64.random(in: 1...3, using: &random)
                everything.append(try unsigned(number, seconds: seconds, mark: .random(in: 0...3, using: &random)))
            }
        }
        var outcomes: Set<RevocationSet> = []
        for _ in 0..<6 {
            everything.shuffle(using: &random)
            var parts = (0..<3).map { _ in RevocationSet(networkId: id) }
            for (index, revocation) in everything.enumerated() {
                try parts[index % 3].merge([revocation]) { _ in true }
            }
            parts.shuffle(using: &random)
            var union = parts[0]
            try union.formUnion(parts[1])
            try union.formUnion(parts[2])
            try union.formUnion(parts[0])
            #expect(union.revocations.map(\.peerId) == union.revocations.map(\.peerId).sorted())
            #expect(union.count == 60)
            outcomes.insert(union)
        }
        #expect(outcomes.count == 1)
        #expect(Set(outcomes.map(\.digest)).count == 1)
    }

    @Test func `the digest tells sets of equal count apart`() throws {
        var sets = try (0..<3).map { number in
            var set = RevocationSet(networkId: id)
            try set.merge([unsigned(number)]) { _ in true }
            return set
        }
        var later = RevocationSet(networkId: id)
        try later.merge([unsigned(0, seconds: 2)]) { _ in true }
        sets.append(later)
        sets.append(RevocationSet(networkId: NetworkId(publicKey: Ed25519KeyPair().publicKey)))
        sets.append(RevocationSet(networkId: id))
        #expect(Set(sets.map(\.digest)).count == sets.count)
    }

    @Test func `membership is found by peer`() throws {
        var set = RevocationSet(networkId: id)
        try set.merge((0..<100).filter { $0 % 2 == 0 }.map { try unsigned($0) }) { _ in true }
        for number in 0..<100 {
            #expect(try set.contains(peer(number)) == (number % 2 == 0))
        }
        #expect(try set[peer(4)] == unsigned(4))
        #expect(try set[peer(5)] == nil)
    }

    @Test func `a set is bounded`() throws {
        var set = RevocationSet(networkId: id)
        let entries = try (0..<RevocationSet.maximumCount).map { try unsigned($0) }
        try set.merge(entries) { _ in true }
        #expect(set.count == 65_536)
        let surplus = try unsigned(70_000)
        #expect(throws: IdentityError.full(of: "a revocation set", limit: 65_536)) {
            try set.merge([surplus]) { _ in true }
        }
        // A smaller entry for a known peer still finds its place.
        let earlier = try unsigned(7, seconds: 0)
        #expect(try set.merge([earlier]) { _ in true } == 1)
        #expect(set.count == 65_536)
        #expect(try RevocationSet(binary: set.binary) { _ in true } == set)
    }

    @Test func `entries out of order or twice are refused`() throws {
        let entries = try [unsigned(1), unsigned(2)].sorted()
        let head: [UInt8] = [1] + id.bytes
        func tail(_ revocations: [Revocation]) -> [UInt8] { revocations.flatMap { $0.binary.dropFirst(32) } }
        func decode(_ list: [Revocation]) throws {
            _ = try RevocationSet(binary: head + [0, 0, 0, 2] + tail(list)) { _ in true }
        }
        try decode(entries)
        #expect(throws: IdentityError.self) { try decode(entries.reversed()) }
        #expect(throws: IdentityError.self) { try decode([entries[0], entries[0]]) }
        #expect(throws: IdentityError.self) { try decode([entries[0]]) }
        #expect(throws: IdentityError.self) { try decode(entries + [entries[1]]) }
        #expect(throws: IdentityError.self) { try RevocationSet(binary: head + [0xFF, 0xFF, 0xFF, 0xFF]) }
        #expect(throws: IdentityError.self) { try RevocationSet(binary: head + tail(entries)) }
    }

    @Test func `no bytes and no text crash the readers`() throws {
        var set = RevocationSet(networkId: id)
        try set.merge((0..<4).map { try unsigned($0) }) { _ in true }
        neverCrash(on: [set.binary, try unsigned(1).binary], rounds: 5_000) { bytes in
            if let read = try? RevocationSet(binary: bytes, verifySignature: { _ in true }) {  // or it is refused
                #expect(read.binary == bytes)
            }
            let read = try Revocation(binary: bytes)
            #expect(read.binary == bytes)
        }
        neverCrash(onTexts: [set.text], rounds: 1_000) { text in _ = try RevocationSet(text: text) }
    }
}
