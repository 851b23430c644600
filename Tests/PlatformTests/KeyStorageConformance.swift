internal import Bytes
internal import TestSupport
internal import Testing

@testable internal import Platform

/// The promises of every key storage, checked on an empty one.
///
/// `reopen` returns a storage with the contents of the first one: the file opened again, or the first one itself if there is
/// nothing to open.
struct KeyStorageConformance {
    let storage: any KeyStorage
    let reopen: () throws -> any KeyStorage

    func check() throws {
        try checkStoring()
        try checkReplacing()
        try checkAccessControl()
        try checkDeleting()
        try checkLimits()
        try checkReopening()
    }

    private func checkStoring() throws {
        #expect(try storage.list() == [])
        #expect(try storage.retrieve(id: "root") == nil)
        #expect(try storage.accessControl(id: "root") == nil)
        #expect(try !storage.exists(id: "root"))
        for id in ["root", "peer", "network/2", "network/10", " "] { try storage.store(secret("key of \(id)"), id: id) }
        #expect(try storage.list() == [" ", "network/10", "network/2", "peer", "root"])
        for id in try storage.list() {
            #expect(try storage.exists(id: id))
            #expect(try storage.retrieve(id: id) == secret("key of \(id)"))
        }
    }

    private func checkReplacing() throws {
        try storage.store(secret("another"), id: "root")
        #expect(try storage.retrieve(id: "root") == secret("another"))
        #expect(try storage.list().count == 5)
    }

    private func checkAccessControl() throws {
        #expect(try storage.accessControl(id: "peer") == AccessControl())
        for when in AccessibleWhen.allCases {
            for biometric in [false, true] where !biometric || !storage.enforcesBiometrics {
                let wanted = AccessControl(requireBiometric: biometric, accessibleWhen: when)
                try storage.store(secret("guarded"), id: "guarded", accessControl: wanted)
                #expect(try storage.accessControl(id: "guarded") == wanted)
            }
        }
        if !storage.enforcesBiometrics {
            let either = AccessControl(requireBiometric: true, acceptsPassword: true)
            try storage.store(secret("guarded"), id: "guarded", accessControl: either)
            #expect(try storage.accessControl(id: "guarded") == either)
        }
        try storage.delete(id: "guarded")
    }

    private func checkDeleting() throws {
        try storage.delete(id: "network/2")
        try storage.delete(id: "network/2")
        try storage.delete(id: "never stored")
        #expect(try storage.retrieve(id: "network/2") == nil)
        #expect(try storage.list() == [" ", "network/10", "peer", "root"])
    }

    private func checkLimits() throws {
        for id in ["", String(repeating: "a", count: 129), "a\n", "é", "\u{0}"] {
            #expect(throws: KeychainError.invalidKeyId(id)) { try storage.store(secret("key"), id: id) }
            #expect(throws: KeychainError.invalidKeyId(id)) { try storage.retrieve(id: id) }
            #expect(throws: KeychainError.invalidKeyId(id)) { try storage.accessControl(id: id) }
            #expect(throws: KeychainError.invalidKeyId(id)) { try storage.delete(id: id) }
            #expect(throws: KeychainError.invalidKeyId(id)) { try storage.exists(id: id) }
        }
        #expect(throws: KeychainError.invalidKey(byteCount: 0)) { try storage.store(secret(""), id: "a") }
        let large = SecretBytes(copying: [UInt8](repeating: 1, count: 4_097))
        #expect(throws: KeychainError.invalidKey(byteCount: 4_097)) { try storage.store(large, id: "a") }
        let longest = String(repeating: "z", count: 128)
        let largest = SecretBytes(copying: [UInt8](repeating: 1, count: 4_096))
        try storage.store(largest, id: longest)
        #expect(try storage.retrieve(id: longest) == largest)
        #expect(throws: KeychainError.self) {
            try storage.store(secret("key"), id: "a", accessControl: AccessControl(accessGroup: ""))
        }
        #expect(try !storage.exists(id: "a"))
        try storage.delete(id: longest)
    }

    private func checkReopening() throws {
        let again = try reopen()
        #expect(try again.list() == [" ", "network/10", "peer", "root"])
        #expect(try again.retrieve(id: "root") == secret("another"))
        for id in try again.list() { try again.delete(id: id) }
        #expect(try again.list() == [])
    }
}

@Suite("Key storage") struct KeyStorageTests {
    @Test func `memory keeps the promises of a key storage`() throws {
        let storage = InMemoryKeyStorage()
        try KeyStorageConformance(storage: storage) { storage }.check()
    }

    @Test func `a vault keeps the promises of a key storage`() throws {
        let scratch = try TemporaryDirectory()
        let path = scratch.file("vault")
        let vault = try VaultFile.create(
            at: path,
            secret: passphrase("correct horse"),
            derivation: cheap,
            fileSystem: SystemFileSystem()
        )
        try KeyStorageConformance(storage: vault) {
            vault.close()
            return try VaultFile.open(at: path, secret: passphrase("correct horse"))
        }.check()
    }

    @Test func `no more than the limit of keys is taken`() throws {
        let storage = InMemoryKeyStorage()
        for index in 0..<KeyLimits.keys { try storage.store(secret("key"), id: "\(index)") }
        #expect(throws: KeychainError.tooManyKeys(limit: 1_024)) { try storage.store(secret("key"), id: "more") }
        try storage.store(secret("replaced"), id: "0")
    }

    @Test func `an app group is remembered`() throws {
        let storage = InMemoryKeyStorage()
        try storage.store(secret("key"), id: "a", accessControl: .appGroup("group.example"))
        #expect(try storage.accessControl(id: "a")?.accessGroup == "group.example")
    }

    @Test func `the factories keep keys on this device`() {
        let phone = AccessControl.iosBiometricRequired()
        #expect(phone == AccessControl(requireBiometric: true, accessibleWhen: .whenUnlockedThisDeviceOnly))
        let mac = AccessControl.macosSecureEnclave()
        #expect(mac == AccessControl(requireBiometric: true, accessibleWhen: .whenUnlockedThisDeviceOnly))
        let group = AccessControl.appGroup("group.example")
        let shared = AccessControl(accessibleWhen: .afterFirstUnlockThisDeviceOnly, accessGroup: "group.example")
        #expect(group == shared)
        #expect(AccessControl().accessibleWhen == .whenUnlockedThisDeviceOnly)
        #expect(!AccessControl().requireBiometric && !AccessControl().acceptsPassword)
    }
}
