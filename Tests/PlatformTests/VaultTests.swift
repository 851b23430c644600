internal import Bytes
internal import Foundation
internal import TestSupport
internal import Testing

@testable internal import Platform

@Suite("Vault") struct VaultTests {
    let scratch: TemporaryDirectory
    let path: String
    let opener: VaultSecret

    init() throws {
        scratch = try TemporaryDirectory()
        path = scratch.file("vault")
        opener = .keyFile(path: scratch.file("key"))
        try VaultFile.makeKeyFile(at: scratch.file("key"))
    }

    private func create(_ words: String) throws -> VaultFile {
        try VaultFile.create(
            at: path,
            secret: passphrase(words),
            derivation: cheap,
            fileSystem: SystemFileSystem()
        )
    }

    @Test func `a wrong passphrase is refused as such and changes nothing`() throws {
        let vault = try create("right")
        try vault.store(secret("key"), id: "root")
        vault.close()
        let before = try scratch.bytes("vault")
        #expect(throws: KeychainError.wrongPassphrase(path: path)) {
            try VaultFile.open(at: path, secret: passphrase("wrong"))
        }
        #expect(throws: KeychainError.unsuitablePassphrase) { try VaultFile.open(at: path, secret: passphrase("")) }
        #expect(throws: KeychainError.wrongKindOfSecret(path: path, needed: "a passphrase")) {
            try VaultFile.open(at: path, secret: opener)
        }
        #expect(try scratch.bytes("vault") == before)
        #expect(try VaultFile.open(at: path, secret: passphrase("right")).retrieve(id: "root") == secret("key"))
    }

    @Test func `a new vault costs a guesser 128 MiB for each guess`() throws {
        let vault = try VaultFile.create(at: path, secret: passphrase("right"))
        vault.close()
        let header = try VaultHeader(readingFrom: scratch.bytes("vault"), path: path)
        #expect(header.derivation == .scrypt(log2Rounds: 17))
        _ = try VaultFile.open(at: path, secret: passphrase("right"))
    }

    @Test func `a vault with a key file opens with that one alone`() throws {
        let vault = try VaultFile.create(at: path, secret: opener)
        try vault.store(secret("key"), id: "root")
        vault.close()
        try VaultFile.makeKeyFile(at: scratch.file("other"))
        #expect(throws: KeychainError.wrongKeyFile(path: path)) {
            try VaultFile.open(at: path, secret: .keyFile(path: scratch.file("other")))
        }
        #expect(throws: KeychainError.wrongKindOfSecret(path: path, needed: "a key file")) {
            try VaultFile.open(at: path, secret: passphrase("words"))
        }
        #expect(throws: KeychainError.notFound(path: scratch.file("none"))) {
            try VaultFile.open(at: path, secret: .keyFile(path: scratch.file("none")))
        }
        #expect(try VaultFile.open(at: path, secret: opener).retrieve(id: "root") == secret("key"))
    }

    @Test func `vault, key file and lock belong to the user alone`() throws {
        let vault = try VaultFile.create(at: path, secret: opener)
        try vault.store(secret("key"), id: "root")
        #expect(try scratch.names() == ["key", "vault", "vault.lock"])
        for name in try scratch.names() {
            let attributes = try FileManager.default.attributesOfItem(atPath: scratch.file(name))
            #expect((attributes[.posixPermissions] as? NSNumber)?.intValue == 0o600, "\(name)")
        }
    }

    @Test(arguments: ["vault", "key"])
    func `a file that others can read is refused with the command that closes it`(name: String) throws {
        try VaultFile.create(at: path, secret: opener).close()
        try scratch.setMode(0o644, of: name)
        let expected = KeychainError.exposed(path: scratch.file(name), mode: 0o644)
        #expect(throws: expected) { try VaultFile.open(at: path, secret: opener) }
        #expect(expected.description.contains("chmod 600 \(scratch.file(name))"))
    }

    @Test func `a missing vault is not made by opening it`() throws {
        #expect(throws: KeychainError.notFound(path: path)) { try VaultFile.open(at: path, secret: opener) }
        #expect(try scratch.names() == ["key"])
        #expect(try !VaultFile.exists(at: path))
    }

    @Test func `an existing file is never replaced by a new vault or key file`() throws {
        try scratch.write([1, 2, 3], to: "vault")
        #expect(throws: KeychainError.alreadyExists(path: path)) { try VaultFile.create(at: path, secret: opener) }
        #expect(try scratch.bytes("vault") == [1, 2, 3])
        #expect(throws: KeychainError.alreadyExists(path: scratch.file("key"))) {
            try VaultFile.makeKeyFile(at: scratch.file("key"))
        }
        #expect(try VaultFile.exists(at: path))
    }

    @Test func `a second opening is refused with the number of the process that has it`() throws {
        let vault = try VaultFile.create(at: path, secret: opener)
        let expected = KeychainError.locked(path: path, byProcess: ProcessInfo.processInfo.processIdentifier)
        #expect(throws: expected) { try VaultFile.open(at: path, secret: opener) }
        #expect(expected.description.contains("process \(ProcessInfo.processInfo.processIdentifier)"))
        vault.close()
        _ = try VaultFile.open(at: path, secret: opener)
    }

    @Test func `a closed vault says so`() throws {
        let vault = try VaultFile.create(at: path, secret: opener)
        vault.close()
        #expect(throws: KeychainError.closed) { try vault.store(secret("key"), id: "a") }
        #expect(throws: KeychainError.closed) { try vault.retrieve(id: "a") }
        #expect(throws: KeychainError.closed) { try vault.list() }
        #expect(throws: KeychainError.closed) { try vault.changeSecret(to: opener) }
    }

    @Test func `after a change of the passphrase only the new one opens`() throws {
        let vault = try create("old")
        try vault.store(secret("key"), id: "root")
        try vault.changeSecret(to: passphrase("new"), derivation: cheap)
        try vault.store(secret("later"), id: "peer")
        vault.close()
        #expect(throws: KeychainError.wrongPassphrase(path: path)) {
            try VaultFile.open(at: path, secret: passphrase("old"))
        }
        let again = try VaultFile.open(at: path, secret: passphrase("new"))
        #expect(try again.list() == ["peer", "root"])
        try again.changeSecret(to: opener)
        again.close()
        #expect(try VaultFile.open(at: path, secret: opener).retrieve(id: "root") == secret("key"))
    }

    @Test func `every write has a nonce of its own and no plain key`() throws {
        let vault = try VaultFile.create(at: path, secret: opener)
        var nonces: Set<[UInt8]> = []
        for round in 0..<50 {
            try vault.store(secret("a very visible key"), id: "root")
            let file = try scratch.bytes("vault")
            nonces.insert(try VaultHeader(readingFrom: file, path: path).nonce)
            #expect(Data(file).range(of: Data("visible".utf8)) == nil, "round \(round)")
        }
        #expect(nonces.count == 50)
    }

    @Test func `what a dead writer left is removed at opening, and nothing else`() throws {
        try VaultFile.create(at: path, secret: opener).close()
        try scratch.write([1], to: ".vault.writing-abc")
        try scratch.write([1], to: ".vaulted.writing-abc")
        try scratch.write([1], to: "vault.bak")
        _ = try VaultFile.open(at: path, secret: opener)
        #expect(try scratch.names() == [".vaulted.writing-abc", "key", "vault", "vault.bak", "vault.lock"])
    }

    @Test func `optional attributes of later versions are kept and critical ones refused`() throws {
        var random = SystemRandom()
        let key = try VaultFile.newKey(opener, derivation: nil, path: path, fileSystem: SystemFileSystem())
        let later = VaultEntry.Attribute(type: 0x05, value: [1, 2, 3])
        var entry = VaultEntry(key: secret("key"), accessControl: AccessControl(), others: [later])
        try scratch.write(try VaultFile.seal(["a": entry], with: key, nonce: random.bytes(count: 12)), to: "vault")
        let vault = try VaultFile.open(at: path, secret: opener)
        try vault.store(secret("new"), id: "a")
        try vault.store(secret("new"), id: "b")
        vault.close()
        let (_, entries) = try VaultFile.unseal(
            try scratch.bytes("vault"),
            secret: opener,
            path: path,
            fileSystem: SystemFileSystem()
        )
        #expect(entries["a"]?.others == [later])
        #expect(entries["b"]?.others == [])

        entry.others = [VaultEntry.Attribute(type: 0x90, value: [])]
        let bytes = VaultBody.encode(["a": entry])
        #expect(throws: BytesError.self) { try VaultBody.decode(bytes) }
    }

    @Test func `nothing that is printed shows a key`() throws {
        let vault = try VaultFile.create(at: path, secret: opener)
        try vault.store(secret("a very visible key"), id: "root")
        var text = ""
        dump(vault, to: &text)
        dump(try vault.retrieve(id: "root"), to: &text)
        dump(passphrase("a very visible passphrase"), to: &text)
        #expect(!text.contains("visible"))
        #expect(!text.contains("97, 32, 118"))
    }

    @Test func `a copy of all keys leaves one file and is read without a lock`() throws {
        let storage = InMemoryKeyStorage()
        try storage.store(secret("one"), id: "1", accessControl: .iosBiometricRequired())
        try storage.store(secret("two"), id: "2")
        try VaultFile.export(storage, to: path, secret: opener)
        #expect(try scratch.names() == ["key", "vault"])
        #expect(throws: KeychainError.alreadyExists(path: path)) {
            try VaultFile.export(storage, to: path, secret: opener)
        }
        let copy = try VaultFile.contents(at: path, secret: opener)
        #expect(try copy.list() == ["1", "2"])
        #expect(try copy.retrieve(id: "2") == secret("two"))
        #expect(try copy.accessControl(id: "1") == .iosBiometricRequired())
        #expect(try scratch.names() == ["key", "vault"])
        let vault = try VaultFile.open(at: path, secret: opener)
        #expect(try VaultFile.contents(at: path, secret: opener).list() == vault.list())
    }

    @Test func `a copy on a disk without modes is read with its passphrase`() throws {
        try create("words").close()
        try scratch.setMode(0o777, of: "vault")
        #expect(try VaultFile.contents(at: path, secret: passphrase("words")).list() == [])
        #expect(throws: KeychainError.exposed(path: path, mode: 0o777)) {
            try VaultFile.contents(at: path, secret: opener)
        }
    }

    @Test func `threads store at once and nothing is lost`() async throws {
        let vault = try VaultFile.create(at: path, secret: opener)
        try await withThrowingTaskGroup(of: Void.self) { group in
            for worker in 0..<8 {
                group.addTask {
                    for step in 0..<5 { try vault.store(secret("\(worker) \(step)"), id: "\(worker)-\(step)") }
                }
            }
            try await group.waitForAll()
        }
        vault.close()
        #expect(try VaultFile.open(at: path, secret: opener).list().count == 40)
    }
}
