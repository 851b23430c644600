import Bytes
import Foundation
import Identity
import TestSupport
import Testing

@Suite("Access token") struct AccessTokenTests {
    struct Row: Decodable, CustomTestStringConvertible {
        let network_private: String
        let peer_public: String
        let expiration: UInt64?
        let signed: String
        let binary: String
        let text: String

        var testDescription: String { expiration.map { "until \($0)" } ?? "without end" }
    }

    private let network = Ed25519KeyPair()
    private let peer = PeerId(publicKey: Ed25519KeyPair().publicKey)
    private var networkId: NetworkId { NetworkId(publicKey: network.publicKey) }

    private func token(until seconds: UInt64? = nil) throws -> AccessToken {
        try AccessToken.create(
            peerId: peer,
            networkId: networkId,
            signer: network.privateKey,
            expirationSeconds: seconds
        )
    }

    @Test(arguments: try vectors(named: "Identity/tokens.json", as: [Row].self))
    func `tokens of another implementation are ours`(row: Row) throws {
        let token = try AccessToken(binary: Hex.decode(row.binary))
        #expect(token.verifySignature())
        #expect(token.expirationSeconds == row.expiration)
        #expect(Hex.encode(token.signedBytes) == row.signed)
        #expect(Hex.encode(token.binary) == row.binary)
        #expect(token.qrString == row.text)
        #expect(try AccessToken.fromQRString(row.text) == token)
        #expect(try AccessToken(serializedBytes: token.serialize()) == token)
        let key = try Ed25519PrivateKey(rawRepresentation: Hex.decode(row.network_private))
        let holder = try Ed25519PublicKey(rawRepresentation: Hex.decode(row.peer_public))
        let ours = try AccessToken.create(
            peerId: PeerId(publicKey: holder),
            networkId: NetworkId(publicKey: key.publicKey),
            networkPrivateKey: key,
            expiration: row.expiration.map { Date(timeIntervalSince1970: Double($0)) }
        )
        #expect(ours.signedBytes == token.signedBytes)
        #expect(ours.verifySignature())
        #expect(ours.peerId == token.peerId)
    }

    @Test func `a fraction of a second does not break the signature`() throws {
        let expiration = Date(timeIntervalSince1970: 1_900_000_000.987)
        let token = try AccessToken.create(
            peerId: peer,
            networkId: networkId,
            networkPrivateKey: network.privateKey,
            expiration: expiration
        )
        #expect(token.expirationSeconds == 1_900_000_000)
        #expect(token.expiration == Date(timeIntervalSince1970: 1_900_000_000))
        #expect(try AccessToken.fromQRString(token.qrString).verifySignature())
    }

    @Test(arguments: [-1.0, -0.5, 253_402_300_800, .infinity, -.infinity, .nan, 1e300])
    func `an expiry outside 1970 to 9999 is refused`(seconds: Double) {
        #expect(throws: IdentityError.expirationOutOfRange) {
            try AccessToken.create(
                peerId: peer,
                networkId: networkId,
                networkPrivateKey: network.privateKey,
                expiration: Date(timeIntervalSince1970: seconds)
            )
        }
    }

    @Test func `only the network's own key may sign`() {
        #expect(throws: IdentityError.wrongSigningKey) {
            try AccessToken.create(
                peerId: peer,
                networkId: networkId,
                networkPrivateKey: Ed25519PrivateKey(),
                expiration: nil
            )
        }
    }

    @Test func `a token counts up to a minute after its expiry`() throws {
        let token = try token(until: 1_000)
        #expect(!token.isExpired(at: 0))
        #expect(!token.isExpired(at: 1_060))
        #expect(token.isExpired(at: 1_061))
        #expect(token.verify(at: Date(timeIntervalSince1970: 1_060)))
        #expect(!token.verify(at: Date(timeIntervalSince1970: 1_061)))
        #expect(!token.verify())
        #expect(try self.token().verify())
        #expect(try self.token().verify(at: .distantFuture))
        #expect(try !self.token(until: 0).isExpired(at: 60))
        #expect(try self.token(until: 0).isExpired(at: 61))
    }

    @Test func `any changed bit breaks a token`() throws {
        let binary = try token(until: 1_900_000_000).binary
        for bit in 0..<(binary.count * 8) {
            var changed = binary
            changed[bit / 8] ^= 1 << UInt8(bit % 8)
            let token = try? AccessToken(binary: changed)  // refused by its shape is as good as by its signature
            let verifies = token?.verifySignature() ?? false
            #expect(!verifies, "bit \(bit)")
        }
    }

    @Test func `what is not canonical is refused`() throws {
        let binary = try token(until: 1_900_000_000).binary
        #expect(binary.count == 137)
        for count in [0, 1, 136, 138] {
            let wrong = Array((binary + [0]).prefix(count))
            #expect(throws: IdentityError.wrongLength(of: "an access token", expected: 137, found: count)) {
                try AccessToken(binary: wrong)
            }
        }
        for version: UInt8 in [0, 2, 255] {
            #expect(throws: IdentityError.self) { try AccessToken(binary: [version] + binary.dropFirst()) }
        }
        var late = binary
        late.replaceSubrange(65..<73, with: [0, 0, 0, 0x3A, 0xFF, 0xF4, 0x41, 0x80])
        #expect(throws: IdentityError.expirationOutOfRange) { try AccessToken(binary: late) }
        late[72] = 0x7F
        #expect(try AccessToken(binary: late).expirationSeconds == 253_402_300_799)
        late.replaceSubrange(65..<73, with: [UInt8](repeating: 0xFF, count: 7) + [0xFE])
        #expect(throws: IdentityError.expirationOutOfRange) { try AccessToken(binary: late) }
        var small = binary
        small.replaceSubrange(33..<65, with: [1] + [UInt8](repeating: 0, count: 31))
        #expect(throws: IdentityError.self) { try AccessToken(binary: small) }
    }

    @Test func `problems are found in the order of their cost`() throws {
        let token = try token(until: 1_000)
        var verified = 0
        func problem(
            at now: UInt64 = 0,
            for holder: PeerId? = nil,
            in network: NetworkId? = nil,
            revoked: Bool = false,
            genuine: Bool = true
        ) -> TokenProblem? {
            token.problem(
                at: now,
                for: holder ?? peer,
                in: network ?? networkId,
                revoked: { $0 == peer && revoked },
                verifySignature: { _ in
                    verified += 1
                    return genuine
                }
            )
        }
        let nonMember = PeerId(publicKey: Ed25519KeyPair().publicKey)
        let elsewhere = NetworkId(publicKey: Ed25519KeyPair().publicKey)
        #expect(
            problem(at: 2_000, for: nonMember, in: elsewhere, revoked: true, genuine: false) == .expired(at: 1_000)
        )
        #expect(problem(for: nonMember, in: elsewhere, revoked: true, genuine: false) == .revoked)
        #expect(problem(for: nonMember, in: elsewhere, genuine: false) == .wrongPeer)
        #expect(problem(in: elsewhere, genuine: false) == .wrongNetwork)
        #expect(verified == 0)
        #expect(problem(genuine: false) == .badSignature)
        #expect(problem() == nil)
        #expect(verified == 2)
        #expect(token.problem(at: 0, for: peer, in: networkId, revoked: { _ in false }) == nil)
    }

    @Test func `a problem says what to do`() {
        #expect(
            TokenProblem.expired(at: 1_900_000_000).description
                == "the access token expired at 2030-03-17 17:46:40 UTC; ask the network's owner for a new one"
        )
        let all: [TokenProblem] = [
            .malformed, .unknownNetwork, .expired(at: 0), .revoked, .wrongPeer, .wrongNetwork, .badSignature,
        ]
        #expect(Set(all.map(\.description)).count == all.count)
    }

    @Test func `a token is codable and survives`() throws {
        for seconds in [nil, 0, 1_900_000_000] as [UInt64?] {
            let token = try token(until: seconds)
            let json = try JSONEncoder().encode(token)
            #expect(try JSONDecoder().decode(AccessToken.self, from: json) == token)
            let fields = try #require(try JSONSerialization.jsonObject(with: json) as? [String: Any])
            #expect(Set(fields.keys) == ["peer_id", "network_id", "expiration", "signature"])
            let message = try Bincode.serialize([token])
            #expect(try Bincode.deserialize([AccessToken].self, from: message) == [token])
        }
    }

    @Test func `no bytes and no text crash the readers`() throws {
        let token = try token(until: 1_900_000_000)
        neverCrash(on: [token.binary], rounds: 5_000) { bytes in
            let read = try AccessToken(binary: bytes)
            #expect(read.binary == bytes)
        }
        neverCrash(onTexts: [token.qrString], rounds: 5_000) { text in _ = try AccessToken.fromQRString(text) }
    }
}
