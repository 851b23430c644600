import Bytes
import Identity
import TestSupport
import Testing

@Suite("Key derivation") struct DerivationTests {
    struct Row: Decodable, CustomTestStringConvertible {
        let seed: String
        let path: String
        let chain_code: String
        let `private`: String
        let `public`: String

        var testDescription: String { "\(path) of \(seed.prefix(8))…" }
    }

    struct Labelled: Decodable, CustomTestStringConvertible {
        let kind: String
        let root: String
        let context: String
        let `private`: String
        let `public`: String

        var testDescription: String { "\(kind) \(context)" }
    }

    @Test(arguments: try vectors(named: "Identity/slip0010.json", as: [Row].self))
    func `every row of SLIP-0010 is derived`(row: Row) throws {
        let node = try SLIP0010.derive(seed: Hex.decode(row.seed), path: row.path)
        #expect(node.chainCode.withBytes { Hex.encode($0) } == row.chain_code)
        #expect(node.privateKey.withBytes { Hex.encode($0) } == row.private)
        #expect(Hex.encode(node.publicKey.bytes) == row.public)
    }

    @Test(arguments: [
        "", "M", "/", "m/", "m//0'", "m/0", "m/44'/0'/0", "m/0h", "m/0H", "m/'", "m/-1'", "m/+1'", "m/00'", "m/01'",
        "m/2147483648'", "m/4294967296'", "m/0''", " m", "m ", "m/0' ", "m/0'/", "0'/1'", "m/٣'", "n/0'", "m/0x1'",
    ])
    func `a path that is not m and hardened steps is refused`(path: String) {
        #expect(throws: IdentityError.self) { try SLIP0010.derive(seed: [UInt8](0..<32), path: path) }
    }

    @Test func `a path is refused before it costs anything when it is too deep`() {
        let path = "m" + String(repeating: "/2147483647'", count: 256)
        #expect(throws: IdentityError.self) { try DerivationPath(parsing: path) }
        #expect(throws: Never.self) { try DerivationPath(parsing: String(path.dropLast(12))) }
    }

    @Test func `a seed has 16 to 64 bytes`() {
        for count in [0, 15, 65, 128] {
            #expect(throws: IdentityError.invalidSeedLength(count)) {
                try SLIP0010.derive(seed: [UInt8](repeating: 1, count: count), path: "m")
            }
        }
        for count in [16, 64] {
            #expect(throws: Never.self) {
                try SLIP0010.derive(seed: [UInt8](repeating: 1, count: count), path: "m")
            }
        }
    }

    @Test func `a network key is the SLIP-0010 key of the root's bytes at its index`() throws {
        let root = generateMasterKey()
        for index in [0, 1, 7, KeyDerivation.maximumNetworkIndex] {
            let expected = try SLIP0010.derive(seed: root.privateKey.rawRepresentation, path: "m/44'/0'/\(index)'")
            let key = deriveNetworkKey(masterKey: root, networkIndex: index)
            #expect(key == expected.keyPair)
            #expect(deriveNetworkKey(masterKey: root.privateKey, networkIndex: index) == key)
        }
    }

    @Test(arguments: try vectors(named: "Identity/derivation.json", as: [Labelled].self))
    func `a key for a purpose comes from HKDF with the purpose's label`(row: Labelled) throws {
        let root = try Ed25519PrivateKey(rawRepresentation: Hex.decode(row.root))
        let key =
            switch row.kind {
            case "profile": try KeyDerivation.deriveProfileKey(masterKey: root, label: row.context)
            case "admin":
                KeyDerivation.deriveAdminKey(
                    masterKey: root,
                    networkId: try NetworkId(rawRepresentation: Hex.decode(row.context))
                )
            default: KeyDerivation.deriveCertificateAuthorityKey(masterKey: root)
            }
        #expect(key.privateKey.secret.withBytes { Hex.encode($0) } == row.private)
        #expect(Hex.encode(key.publicKey.bytes) == row.public)
    }

    @Test func `no two purposes share a key`() throws {
        let root = generateMasterKey()
        let networks = (0..<3).map { deriveNetworkKey(masterKey: root, networkIndex: $0) }
        var keys = [root] + networks
        keys += networks.map { network in
            KeyDerivation.deriveAdminKey(masterKey: root, networkId: NetworkId(publicKey: network.publicKey))
        }
        keys += try ["a", "b", "ab"].map { try KeyDerivation.deriveProfileKey(masterKey: root, label: $0) }
        keys.append(KeyDerivation.deriveCertificateAuthorityKey(masterKey: root))
        #expect(Set(keys.map(\.publicKey)).count == keys.count)
    }

    @Test(arguments: ["", "a\nb", "a\u{202E}b", String(repeating: "a", count: 65)])
    func `a profile label that does not show is refused`(label: String) {
        #expect(throws: IdentityError.self) {
            try KeyDerivation.deriveProfileKey(masterKey: generateMasterKey(), label: label)
        }
    }
}
