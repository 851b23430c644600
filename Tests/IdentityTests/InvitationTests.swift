import Bytes
import Identity
import TestSupport
import Testing

@Suite("Invitation") struct InvitationTests {
    struct Vector: Decodable {
        let inviter: String
        let joiner: String
        let network: String
        let secret: String
        let expiry: UInt64
        let addresses: [String]
        let binary: String
        let text: String
        let exporter: String
        let proof: String
        let digits: String
    }

    private let network = NetworkId(publicKey: Ed25519KeyPair().publicKey)
    private let inviter = PeerId(publicKey: Ed25519KeyPair().publicKey)
    private let joiner = PeerId(publicKey: Ed25519KeyPair().publicKey)
    private let exporter = [UInt8](repeating: 7, count: 32)

    private func invitation(_ addresses: [String] = ["192.0.2.1:4433"]) throws -> Invitation {
        try Invitation(
            inviter: inviter,
            networkId: network,
            addresses: addresses.map { try SocketAddress(parsing: $0) },
            nowSeconds: 1_000
        )
    }

    @Test func `an invitation of another implementation is ours`() throws {
        let vector = try vectors(named: "Identity/invitations.json", as: Vector.self)
        let invitation = try Invitation(text: vector.text)
        #expect(Hex.encode(invitation.inviter.bytes) == vector.inviter)
        #expect(Hex.encode(invitation.networkId.bytes) == vector.network)
        #expect(invitation.secret.withBytes { Hex.encode($0) } == vector.secret)
        #expect(invitation.expirationSeconds == vector.expiry)
        #expect(invitation.addresses.map(\.description) == vector.addresses)
        #expect(Hex.encode(invitation.binary) == vector.binary)
        #expect(invitation.link == vector.text)
        let joiner = try PeerId(rawRepresentation: Hex.decode(vector.joiner))
        let exporter = try Hex.decode(vector.exporter)
        #expect(Hex.encode(invitation.proof(exporter: exporter, joiner: joiner)) == vector.proof)
        let digits = Invitation.digits(
            exporter: exporter,
            networkId: invitation.networkId,
            inviter: invitation.inviter,
            joiner: joiner
        )
        #expect(digits == vector.digits)
    }

    @Test func `a scan in capitals, spaces and dashes brings it back`() throws {
        let invitation = try invitation()
        #expect(invitation.qrString == invitation.link.uppercased())
        #expect(try Invitation(text: invitation.qrString) == invitation)
        let code = invitation.link.dropFirst("runar://join/".count)
        let grouped = stride(from: 0, to: code.count, by: 5).map { String(code.dropFirst($0).prefix(5)) }
        #expect(try Invitation(text: "runar://join/" + grouped.joined(separator: "-")) == invitation)
        #expect(try Invitation(text: "Runar://Join/ " + grouped.joined(separator: " ")) == invitation)
    }

    @Test func `the scan fits a small symbol`() throws {
        let addresses = (1...9).map { "[2001:db8::\($0)]:4433" }
        #expect(try invitation(addresses).addresses.count == 8)
        #expect(try invitation(addresses).qrString.count <= 407)
        #expect(try invitation(["192.168.1.7:4433", "[2001:db8::7]:4433"]).qrString.count <= 212)
    }

    @Test func `addresses that no other device can dial are left out`() throws {
        let given = [
            "0.0.0.0:4433", "192.0.2.1:0", "224.0.0.1:4433", "[fe80::1%3]:4433", "[::]:4433", "192.0.2.1:4433",
            "192.0.2.1:4433", "[::ffff:192.0.2.1]:4433", "[2001:db8::1%2]:4433",
        ]
        #expect(
            try invitation(given).addresses.map(\.description) == ["192.0.2.1:4433", "[2001:db8::1]:4433"]
        )
    }

    @Test func `an invitation is valid for ten minutes by the inviter's clock`() throws {
        let invitation = try invitation()
        #expect(invitation.expirationSeconds == 1_600)
        #expect(!invitation.isExpired(at: 1_600))
        #expect(invitation.isExpired(at: 1_601))
    }

    @Test func `a proof is bound to the secret, the connection, the network and both peers`() throws {
        let invitation = try invitation()
        let proof = invitation.proof(exporter: exporter, joiner: joiner)
        #expect(proof.count == 32)
        #expect(invitation.isValidProof(proof, exporter: exporter, joiner: joiner))
        #expect(!invitation.isValidProof(proof, exporter: exporter, joiner: inviter))
        #expect(!invitation.isValidProof(proof, exporter: exporter.dropLast() + [8], joiner: joiner))
        #expect(!invitation.isValidProof(Array(proof.dropLast()), exporter: exporter, joiner: joiner))
        #expect(!invitation.isValidProof([], exporter: exporter, joiner: joiner))
        for other in [try self.invitation(), try changed(invitation, at: 1), try changed(invitation, at: 33)] {
            #expect(!other.isValidProof(proof, exporter: exporter, joiner: joiner))
        }
        for index in proof.indices {
            var wrong = proof
            wrong[index] ^= 0x80
            #expect(!invitation.isValidProof(wrong, exporter: exporter, joiner: joiner))
        }
    }

    private func changed(_ invitation: Invitation, at offset: Int) throws -> Invitation {
        var binary = invitation.binary
        binary[offset] ^= 1
        return try Invitation(binary: binary)
    }

    @Test func `the six digits depend on everything and are always six`() throws {
        func digits(_ exporter: [UInt8], _ network: NetworkId, _ inviter: PeerId, _ joiner: PeerId) -> String {
            Invitation.digits(exporter: exporter, networkId: network, inviter: inviter, joiner: joiner)
        }
        // Fixed inputs: with random ones, two would be equal by chance once in a million runs.
        let one = try PeerId(rawRepresentation: [UInt8](repeating: 1, count: 32))
        let two = try PeerId(rawRepresentation: [UInt8](repeating: 2, count: 32))
        let networks = try [3, 4].map { try NetworkId(rawRepresentation: [UInt8](repeating: $0, count: 32)) }
        let different = [
            digits(exporter, networks[0], one, two), digits(exporter, networks[0], two, one),
            digits(exporter, networks[1], one, two), digits([8], networks[0], one, two),
            digits(exporter, networks[0], one, one),
        ]
        #expect(Set(different).count == different.count)
        for text in different + (0..<200).map({ digits([$0], networks[0], one, two) }) {
            #expect(text.utf8.count == 6)
            #expect(UInt32(text) != nil)
        }
    }

    @Test func `the secret never prints`() throws {
        let invitation = try invitation()
        let secret = invitation.secret.withBytes { Hex.encode($0) }
        var dumped = ""
        dump(invitation, to: &dumped)
        for printed in ["\(invitation)", String(reflecting: invitation), dumped, "\([invitation])"] {
            #expect(printed.contains("secret: redacted"))
            #expect(!printed.contains(secret))
            #expect(!printed.contains(invitation.link))
        }
    }

    @Test func `a non-canonical invitation is refused`() throws {
        let binary = try invitation().binary
        #expect(binary.count == 97)
        #expect(throws: IdentityError.self) { try Invitation(binary: [2] + binary.dropFirst()) }
        #expect(throws: IdentityError.self) { try Invitation(binary: binary + [0]) }
        #expect(throws: IdentityError.self) { try Invitation(binary: binary.dropLast()) }
        #expect(throws: IdentityError.self) { try Invitation(binary: Array(binary[..<89]) + [9]) }
        let withoutPort = Array(binary.dropLast(2)) + [0, 0]
        #expect(throws: IdentityError.self) { try Invitation(binary: withoutPort) }
        var late = binary
        late[81] = 1
        #expect(throws: IdentityError.expirationOutOfRange) { try Invitation(binary: late) }
    }

    @Test(arguments: [
        "", "runar://join/", "runar://join", "runar://revocations/AAAA", "join/aaaa", "RUNAR://JOIN/AAAAAA",
        "runar:join:aaaa",
    ])
    func `other texts are refused`(text: String) {
        #expect(throws: IdentityError.self) { try Invitation(text: text) }
    }

    @Test func `no bytes and no text crash the readers`() throws {
        let invitation = try invitation(["192.0.2.1:4433", "[2001:db8::1]:4433"])
        neverCrash(on: [invitation.binary], rounds: 5_000) { bytes in
            let read = try Invitation(binary: bytes)
            #expect(read.binary == bytes)
        }
        neverCrash(onTexts: [invitation.link, invitation.qrString], rounds: 3_000) { text in
            _ = try Invitation(text: text)
        }
    }
}
