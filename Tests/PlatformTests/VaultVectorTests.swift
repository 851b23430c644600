internal import Bytes
internal import Foundation
internal import TestSupport
internal import Testing

@testable internal import Platform

/// The released vaults of version 1, made by a program in another language.
///
/// They stay readable in every later version.
@Suite("Vault vectors") struct VaultVectorTests {
    struct Vector: Decodable, Sendable {
        struct Derivation: Decodable {
            let kind: String
            let log2Rounds: UInt8?
        }

        struct Entry: Decodable {
            let id: String
            let key: String
            let requireBiometric: Bool
            let accessibleWhen: String
            let accessGroup: String?
            let others: [String: String]?
        }

        let file: String
        let derivation: Derivation
        let secret: String
        let salt: String
        let nonce: String
        let keyCheck: String
        let bodyKey: String
        let body: String
        let entries: [Entry]
    }

    let scratch: TemporaryDirectory

    init() throws { scratch = try TemporaryDirectory() }

    private func opener(of vector: Vector) throws -> VaultSecret {
        if vector.derivation.kind == "scrypt" { return passphrase(vector.secret) }
        try scratch.write([UInt8](vector.secret.utf8), to: "key")
        return .keyFile(path: scratch.file("key"))
    }

    @Test(arguments: try vectors(named: "Platform/vault-1.json", as: [Vector].self))
    func `a released vault opens, and sealing the same gives the same bytes`(vector: Vector) throws {
        let file = [UInt8](try released(vector.file))
        let (key, entries) = try VaultFile.unseal(
            file,
            secret: try opener(of: vector),
            path: vector.file,
            fileSystem: SystemFileSystem()
        )
        #expect(key.salt == (try Hex.decode(vector.salt)))
        #expect(key.check == (try Hex.decode(vector.keyCheck)))
        #expect(entries.keys.sorted() == vector.entries.map(\.id))
        for expected in vector.entries {
            let entry = try #require(entries[expected.id])
            #expect(entry.key == SecretBytes(copying: try Hex.decode(expected.key)))
            #expect(entry.accessControl.requireBiometric == expected.requireBiometric)
            #expect("\(entry.accessControl.accessibleWhen)" == expected.accessibleWhen)
            #expect(entry.accessControl.accessGroup == expected.accessGroup)
            let others = try (expected.others ?? [:]).map { type, value in
                VaultEntry.Attribute(type: try #require(UInt8(type)), value: try Hex.decode(value))
            }
            #expect(entry.others == others)
        }
        #expect(VaultBody.encode(entries) == (try Hex.decode(vector.body)))
        #expect(try VaultFile.seal(entries, with: key, nonce: Hex.decode(vector.nonce)) == file)
    }

    @Test func `the specification shows the first vector`() throws {
        let text = try packageText(named: "docs/spec/vault.md")
        let digits = Set("0123456789abcdef")
        let example = text.split(separator: "vector: vault-1-passphrase.vault").last.map(String.init) ?? ""
        var fields: [String: String] = [:]
        var label = ""
        for line in example.split(separator: "\n") where line.hasPrefix("    ") {
            let name = line.dropFirst(4).prefix(11).split(separator: " ").joined(separator: " ")
            if !name.isEmpty { label = name }
            let value = line.dropFirst(15)
            #expect(value.allSatisfy(digits.contains))
            fields[label, default: ""] += value
        }
        let vector = try #require(try vectors(named: "Platform/vault-1.json", as: [Vector].self).first)
        #expect(fields["salt"] == vector.salt)
        #expect(fields["nonce"] == vector.nonce)
        #expect(fields["body key"] == vector.bodyKey)
        #expect(fields["key check"] == vector.keyCheck)
        #expect(fields["plain"] == vector.body)
        #expect(fields["file"] == Hex.encode([UInt8](try released(vector.file))))
    }

    private func released(_ name: String) throws -> Data { try TestSupport.vector(named: "Platform/\(name)") }
}
