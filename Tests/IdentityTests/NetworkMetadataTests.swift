import Bytes
import Foundation
import Identity
import TestSupport
import Testing

@Suite("Network metadata") struct NetworkMetadataTests {
    struct Row: Decodable, CustomTestStringConvertible {
        let network_private: String
        let admin_public: String
        let version: UInt32
        let name: String
        let signed: String
        let binary: String
        let text: String

        var testDescription: String { "version \(version)" }
    }

    private let network = Ed25519KeyPair()
    private let admin = Ed25519KeyPair()

    private func metadata(name: String = "Home") throws -> NetworkMetadata {
        var metadata = NetworkMetadata(
            networkId: NetworkId(publicKey: network.publicKey),
            name: name,
            adminPublicKey: admin.publicKey
        )
        try metadata.sign(with: network.privateKey)
        return metadata
    }

    @Test(arguments: try vectors(named: "Identity/metadata.json", as: [Row].self))
    func `metadata of another implementation is ours`(row: Row) throws {
        let metadata = try NetworkMetadata(binary: Hex.decode(row.binary))
        #expect(metadata.verify())
        #expect(metadata.name == row.name)
        #expect(metadata.version == row.version)
        #expect(Hex.encode(metadata.adminPublicKey.bytes) == row.admin_public)
        #expect(Hex.encode(metadata.signedBytes) == row.signed)
        #expect(try Hex.encode(metadata.binary()) == row.binary)
        #expect(try metadata.qrString == row.text)
        #expect(try NetworkMetadata.fromQRString(row.text) == metadata)
    }

    @Test func `only the network's own key may sign`() throws {
        var metadata = NetworkMetadata(
            networkId: NetworkId(publicKey: network.publicKey),
            name: "Home",
            adminPublicKey: admin.publicKey
        )
        #expect(throws: IdentityError.wrongSigningKey) { try metadata.sign(with: admin.privateKey) }
        #expect(!metadata.verify())
        #expect(throws: IdentityError.self) { try metadata.qrString }
        #expect(throws: IdentityError.self) { try metadata.binary() }
        try metadata.sign(with: network.privateKey)
        #expect(metadata.verify())
    }

    @Test func `any changed bit breaks it`() throws {
        let binary = try metadata().binary()
        for bit in 0..<(binary.count * 8) {
            var changed = binary
            changed[bit / 8] ^= 1 << UInt8(bit % 8)
            let metadata = try? NetworkMetadata(binary: changed)  // refused by its shape is as good as by its signature
            let verifies = metadata?.verify() ?? false
            #expect(!verifies, "bit \(bit)")
        }
    }

    @Test func `renaming makes the next version`() throws {
        let first = try metadata()
        let second = try first.renamed(to: "Heim", signedWith: network.privateKey)
        #expect(second.version == 2)
        #expect(second.name == "Heim")
        #expect(second.adminPublicKey == first.adminPublicKey)
        #expect(second.verify())
        #expect(throws: IdentityError.wrongSigningKey) { try first.renamed(to: "Heim", signedWith: admin.privateKey) }
        #expect(throws: IdentityError.self) { try first.renamed(to: "", signedWith: network.privateKey) }
    }

    @Test(arguments: [
        "a", "Familie Müller", "家", "👨‍👩‍👧 Family", "می‌خواهم", "a b", String(repeating: "x", count: 64),
        String(repeating: "家", count: 21),
    ])
    func `a name that shows as it is may be one`(name: String) throws {
        let metadata = try metadata(name: name)
        #expect(try NetworkMetadata.fromQRString(metadata.qrString).name == name)
        #expect(try NetworkMetadata(binary: metadata.binary()).verify())
    }

    @Test(arguments: [
        "", "a\u{0}", "a\nb", "\u{1B}[31m", "\u{7F}", "\u{85}", "\u{9B}", "a\u{202E}b", "a\u{200F}", "\u{2066}a",
        "\u{61C}",
        "\u{2028}", "\u{FEFF}a", "\u{200B}", "\u{E0041}", "\u{FFFE}", String(repeating: "x", count: 65),
        String(repeating: "家", count: 22),
    ])
    func `a name that does not is refused, signed or not`(name: String) throws {
        #expect(throws: IdentityError.self) { try metadata(name: name) }
        // A hostile owner can sign it anyway.
        let id = NetworkId(publicKey: network.publicKey)
        let unsigned = NetworkMetadata(networkId: id, name: name, adminPublicKey: admin.publicKey)
        let signature = try #require(Ed25519Signature(network.privateKey.sign(unsigned.signedBytes)))
        let forged = NetworkMetadata(
            networkId: id,
            name: name,
            adminPublicKey: admin.publicKey,
            version: 1,
            signature: signature
        )
        #expect(!forged.verify())
        let count = UInt8(truncatingIfNeeded: name.utf8.count)
        let head = [1] + id.bytes + [0, 0, 0, 1] + admin.publicKey.bytes + [count]
        #expect(throws: IdentityError.self) {
            try NetworkMetadata(binary: head + Array(name.utf8) + signature.bytes)
        }
    }

    @Test func `a name that is not UTF-8 is refused`() throws {
        var binary = try metadata(name: "ab").binary()
        binary[70] = 0xC3
        binary[71] = 0x28
        #expect(throws: IdentityError.invalidName(reason: "it is not UTF-8")) { try NetworkMetadata(binary: binary) }
    }

    @Test func `version 0 is refused`() throws {
        var binary = try metadata().binary()
        binary[36] = 0
        #expect(throws: IdentityError.self) { try NetworkMetadata(binary: binary) }
    }

    @Test func `no bytes and no text crash the readers`() throws {
        let metadata = try metadata(name: "Familie Müller \"👪\"")
        let binary = try metadata.binary()
        neverCrash(on: [binary], rounds: 5_000) { bytes in
            let read = try NetworkMetadata(binary: bytes)
            #expect(try read.binary() == bytes)
        }
        neverCrash(onTexts: [try metadata.qrString], rounds: 5_000) { text in
            _ = try NetworkMetadata.fromQRString(text)
        }
    }
}
