internal import Bytes
internal import TestSupport
internal import Testing

@testable internal import Platform

@Suite("A vault whose process is killed") struct VaultCrashTests {
    let scratch: TemporaryDirectory
    let path: String
    let opener: VaultSecret

    init() throws {
        scratch = try TemporaryDirectory()
        path = scratch.file("vault")
        opener = .keyFile(path: scratch.file("key"))
        try VaultFile.makeKeyFile(at: scratch.file("key"))
        try VaultFile.create(at: path, secret: opener).close()
    }

    private func startWriter(from first: UInt64) throws -> ChildProcess {
        try ChildProcess("CrashWriter", arguments: ["vault", path, scratch.file("key"), "\(first)"])
    }

    // Takes seconds: each write of the thousand is synced to the disk, and each kill costs a process and a key derivation.
    @Test func `killing the writer at random points of a thousand writes loses nothing acknowledged`() throws {
        var random = SplitMix64(seed: 3)
        var next: UInt64 = 0
        var kills = 0
        var unacknowledged = 0
        while next < 1_000 {
            let writer = try startWriter(from: next)
            var acknowledged: UInt64?
            for _ in 0..<Int.random(in: 1...40, using: &random) {
                acknowledged = writer.nextLine().flatMap { UInt64($0) }
            }
            // Some way into the write that follows the last acknowledged one.
            var spin = Int.random(in: 0..<20_000, using: &random)
            while spin > 0 { spin -= 1 }
            acknowledged = writer.kill().last.flatMap { UInt64($0) } ?? acknowledged
            kills += 1
            let last = try #require(acknowledged)

            let vault = try VaultFile.open(at: path, secret: opener)
            var found: UInt64 = 0
            for slot in UInt64(0)..<10 {
                guard let number = try number(in: slot, of: vault) else {
                    #expect(last < slot)
                    continue
                }
                #expect(number % 10 == slot)
                #expect(number + 10 > last && number <= last + 1, "slot \(slot) after \(last): \(number)")
                found = max(found, number)
            }
            #expect(found == last || found == last + 1)
            if found > last { unacknowledged += 1 }
            vault.close()
            #expect(try scratch.names() == ["key", "vault", "vault.lock"])
            next = found + 1
        }
        print("killed \(kills) times in \(next) writes; \(unacknowledged) times a write was done but not yet said")
    }

    private func number(in slot: UInt64, of vault: VaultFile) throws -> UInt64? {
        try vault.retrieve(id: "slot-\(slot)")?.withBytes { bytes in
            UInt64(String(decoding: bytes.prefix { $0 != 0x20 }, as: UTF8.self))
        }
    }

    @Test func `a second process is locked out until the first one is gone`() throws {
        let writer = try startWriter(from: 0)
        _ = writer.nextLine()
        #expect(throws: KeychainError.locked(path: path, byProcess: writer.id)) {
            try VaultFile.open(at: path, secret: opener)
        }
        _ = writer.kill()
        #expect(try VaultFile.open(at: path, secret: opener).exists(id: "slot-0"))
    }
}
