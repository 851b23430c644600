internal import Bytes
internal import Foundation
internal import TestSupport
internal import Testing

@testable internal import Platform

@Suite("A damaged vault") struct VaultDamageTests {
    let scratch: TemporaryDirectory
    let path: String
    let opener: VaultSecret
    let intact: [UInt8]

    init() throws {
        scratch = try TemporaryDirectory()
        path = scratch.file("vault")
        opener = .keyFile(path: scratch.file("key"))
        try VaultFile.makeKeyFile(at: scratch.file("key"))
        let vault = try VaultFile.create(at: path, secret: opener)
        try vault.store(secret("one"), id: "1")
        try vault.store(secret("two"), id: "2", accessControl: .appGroup("group.example"))
        vault.close()
        intact = try scratch.bytes("vault")
    }

    /// Opens a vault of these bytes, which stay as they are if it fails.
    private func open(_ bytes: [UInt8], secret: VaultSecret? = nil) throws(KeychainError) -> VaultFile {
        do {
            try scratch.write(bytes, to: "vault")
        } catch {
            throw .unableToStore("\(error)")
        }
        do {
            return try VaultFile.open(at: path, secret: secret ?? opener)
        } catch {
            #expect((try? scratch.bytes("vault")) == bytes)  // An unreadable file is no match either.
            throw error
        }
    }

    /// A header of these bytes with the right checksum.
    private func checksummed(_ bytes: [UInt8], headerBytes: Int = VaultHeader.byteCount) -> [UInt8] {
        var bytes = bytes
        let sum = VaultHeader.checksum(of: bytes[..<(headerBytes - 8)])
        bytes.replaceSubrange((headerBytes - 8)..<headerBytes, with: sum)
        return bytes
    }

    @Test func `a truncated vault is reported with its length`() throws {
        for count in 0..<intact.count {
            do {
                _ = try open([UInt8](intact.prefix(count)))
                Issue.record("\(count) bytes opened")
            } catch {
                guard case .corrupted(path, _) = error else {
                    Issue.record("\(count) bytes: \(error)")
                    continue
                }
            }
        }
        #expect(try open(intact).list() == ["1", "2"])
    }

    @Test func `a flipped bit anywhere is detected and reported`() throws {
        for position in intact.indices {
            var damaged = intact
            damaged[position] ^= 1 << UInt8(position % 8)
            do {
                _ = try open(damaged)
                Issue.record("byte \(position) opened")
            } catch {
                switch error {
                case .foreign: #expect(position < 8)
                case .corrupted(_, let location):
                    #expect(location.hasPrefix(position < VaultHeader.byteCount ? "header" : "body"), "\(position)")
                default: Issue.record("byte \(position): \(error)")
                }
            }
        }
    }

    @Test func `a passphrase vault with a broken body is not blamed on the passphrase`() throws {
        try FileManager.default.removeItem(atPath: path)
        let words = passphrase("right")
        let system = SystemFileSystem()
        let vault = try VaultFile.create(at: path, secret: words, derivation: cheap, fileSystem: system)
        try vault.store(secret("one"), id: "1")
        vault.close()
        var damaged = try scratch.bytes("vault")
        damaged[damaged.count - 1] ^= 1
        #expect(throws: KeychainError.corrupted(path: path, location: "body: the seal is broken")) {
            try open(damaged, secret: words)
        }
        // A salt that was changed together with the checksum is indistinguishable from a wrong passphrase.
        damaged[20] ^= 1
        #expect(throws: KeychainError.wrongPassphrase(path: path)) { try open(checksummed(damaged), secret: words) }
    }

    @Test func `bytes after the end are refused`() throws {
        #expect(throws: KeychainError.corrupted(path: path, location: "1 bytes follow the end")) {
            try open(intact + [0])
        }
    }

    @Test func `files of other kinds are refused as foreign`() throws {
        for foreign in ["hello", "SQLite format 3\u{0}", "RUNARVLX", String(repeating: "RUNAR", count: 100)] {
            #expect(throws: KeychainError.foreign(path: path)) { try open([UInt8](foreign.utf8)) }
        }
        let huge = [UInt8](repeating: 0, count: VaultHeader.fileLimit + 1)
        #expect(throws: KeychainError.foreign(path: path)) { try open(huge) }
    }

    @Test func `a directory and a link in the place of the vault are refused`() throws {
        try FileManager.default.moveItem(atPath: path, toPath: scratch.file("real"))
        try FileManager.default.createSymbolicLink(atPath: path, withDestinationPath: scratch.file("real"))
        #expect(throws: KeychainError.foreign(path: path)) { try VaultFile.open(at: path, secret: opener) }
        try FileManager.default.removeItem(atPath: path)
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: false)
        #expect(throws: KeychainError.foreign(path: path)) { try VaultFile.open(at: path, secret: opener) }
    }

    @Test func `a newer version is refused with both versions, whatever its header holds`() throws {
        var newer = intact
        newer[9] = 2
        let expected = KeychainError.newerVersion(path: path, found: 2, supported: 1)
        #expect(throws: expected) { try open(checksummed(newer)) }
        #expect(expected.description.contains("version 2") && expected.description.contains("up to 1"))
        var longer = Array(newer[..<80]) + [UInt8](repeating: 9, count: 40) + newer[88...]
        longer[11] = 120
        #expect(throws: expected) { try open(checksummed(longer, headerBytes: 120)) }
    }

    @Test(
        arguments: [
            [1, 13, 8, 1], [1, 21, 8, 1], [1, 255, 8, 1], [1, 17, 9, 1], [1, 17, 8, 2], [1, 17, 0, 0], [0, 0, 0, 0],
            [3, 0, 0, 0], [2, 1, 0, 0],
        ] as [[UInt8]]
    )
    func `parameters outside the bounds are refused before any work`(fields: [UInt8]) throws {
        var bytes = intact
        bytes.replaceSubrange(12..<16, with: fields)
        #expect {
            try open(checksummed(bytes), secret: passphrase("words"))
        } throws: { error in
            guard case KeychainError.corrupted(_, let location) = error else { return false }
            return location.hasPrefix("header: ")
        }
    }

    @Test func `a wrong key file is distinguished from damage`() throws {
        for text in ["", "00", String(repeating: "0", count: 63), String(repeating: "g", count: 64), "\(intact)"] {
            try scratch.write([UInt8](text.utf8), to: "key")
            #expect(throws: KeychainError.foreign(path: scratch.file("key"))) { try open(intact) }
        }
        try scratch.write([UInt8](String(repeating: "0", count: 64).utf8), to: "key")
        #expect(throws: KeychainError.wrongKeyFile(path: path)) { try open(intact) }
    }

    @Test func `no header and no body crash the decoders`() throws {
        neverCrash(on: [intact]) { bytes in _ = try VaultHeader(readingFrom: bytes, path: "vault") }
        neverCrash(on: [intact]) { bytes in
            guard bytes.count >= VaultHeader.byteCount else { return }
            _ = try VaultHeader(readingFrom: checksummed(bytes), path: "vault")
        }
        let entry = VaultEntry(key: secret("one"), accessControl: .appGroup("group.example"))
        let bodies = [[:], ["1": entry], ["1": entry, "2": entry]].map(VaultBody.encode)
        neverCrash(on: bodies, rounds: 10_000) { bytes in
            // A decoded body encodes to the same bytes: there is one encoding.
            let entries = try VaultBody.decode(bytes)
            #expect(VaultBody.encode(entries) == bytes)
        }
    }
}
