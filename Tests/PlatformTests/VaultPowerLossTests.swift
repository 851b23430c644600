internal import Bytes
internal import TestSupport
internal import Testing

@testable internal import Platform

@Suite("A vault on a failing disk") struct VaultPowerLossTests {
    private static let keyFile = [UInt8](String(repeating: "07", count: 32).utf8) + [0x0A]
    private static let opener = VaultSecret.keyFile(path: "/key")

    private func open(_ disk: SimulatedDisk) throws(KeychainError) -> VaultFile {
        try VaultFile.open(at: "/vault", secret: Self.opener, fileSystem: disk)
    }

    private func contents(_ vault: VaultFile) throws -> [String: SecretBytes] {
        var contents: [String: SecretBytes] = [:]
        for id in try vault.list() { contents[id] = try vault.retrieve(id: id) }
        return contents
    }

    /// A disk with a vault of two keys.
    private func prepared() throws -> SimulatedDisk.Image {
        let disk = SimulatedDisk(["/key": Self.keyFile])
        let vault = try VaultFile.create(at: "/vault", secret: Self.opener, derivation: nil, fileSystem: disk)
        try vault.store(secret("one"), id: "1")
        try vault.store(secret("two"), id: "2")
        return disk.image
    }

    private static let before = ["1": secret("one"), "2": secret("two")]
    private static let after = ["1": secret("ein"), "2": secret("two")]

    @Test(arguments: [Int.max, 7])
    func `power lost after any call leaves the old vault or the new one`(longestWrite: Int) throws {
        let image = try prepared()
        var point = 0
        var outcomes: Set<Int> = []
        while true {
            let disk = SimulatedDisk(image, fault: .powerLoss(after: point), longestWrite: longestWrite)
            var isAcknowledged = false
            do {
                let vault = try open(disk)
                try vault.store(secret("ein"), id: "1")
                isAcknowledged = true
            } catch {
                // The power is lost; only the contents found afterwards matter.
            }
            for image in disk.imagesAfterPowerLoss {
                let again = SimulatedDisk(image)
                let found = try contents(open(again))
                #expect(found == Self.after || (found == Self.before && !isAcknowledged), "after call \(point)")
                outcomes.insert(found == Self.after ? 1 : 0)
                #expect(Set(again.image.keys) == ["/key", "/vault", "/vault.lock"])
            }
            if isAcknowledged { break }
            point += 1
        }
        #expect(point >= 15 && outcomes == [0, 1])
    }

    @Test func `a failed call leaves the old or the new vault and a working storage`() throws {
        let image = try prepared()
        var point = 0
        while true {
            let disk = SimulatedDisk(image, fault: .failure(at: point))
            var isAcknowledged = false
            if let vault = try? open(disk) {  // A failure while opening is seen below: nothing has changed.
                do {
                    try vault.store(secret("ein"), id: "1")
                    isAcknowledged = true
                    if point >= disk.calls { break }
                } catch {
                    guard case .unableToStore = error else { throw error }
                    #expect(try contents(vault) == Self.before)
                    try vault.store(secret("three"), id: "3")
                    #expect(try vault.list() == ["1", "2", "3"])
                    try vault.delete(id: "3")
                }
                vault.close()
            }
            let found = try contents(open(disk))
            #expect(found == (isAcknowledged ? Self.after : Self.before), "call \(point)")
            #expect(Set(disk.image.keys) == ["/key", "/vault", "/vault.lock"])
            point += 1
        }
        #expect(point >= 15)
    }

    @Test func `power lost while a vault is made leaves none or an empty one`() throws {
        var point = 0
        while true {
            let disk = SimulatedDisk(["/key": Self.keyFile], fault: .powerLoss(after: point))
            let isMade: Bool
            do {
                _ = try VaultFile.create(at: "/vault", secret: Self.opener, derivation: nil, fileSystem: disk)
                isMade = true
            } catch {
                isMade = false
            }
            for image in disk.imagesAfterPowerLoss {
                if image["/vault"] != nil {
                    #expect(try open(SimulatedDisk(image)).list() == [])
                } else {
                    #expect(!isMade)
                    let fresh = SimulatedDisk(image)
                    _ = try VaultFile.create(at: "/vault", secret: Self.opener, derivation: nil, fileSystem: fresh)
                    #expect(Set(fresh.image.keys) == ["/key", "/vault", "/vault.lock"])
                }
            }
            if isMade { break }
            point += 1
        }
        #expect(point >= 8)
    }

    @Test func `power lost during a change of the secret leaves a vault that opens with one of the two`() throws {
        var image = try prepared()
        image["/other"] = [UInt8](String(repeating: "08", count: 32).utf8)
        let other = VaultSecret.keyFile(path: "/other")
        var point = 0
        while true {
            let disk = SimulatedDisk(image, fault: .powerLoss(after: point))
            var isAcknowledged = false
            do {
                try open(disk).changeSecret(to: other)
                isAcknowledged = true
            } catch {
                // As above.
            }
            for image in disk.imagesAfterPowerLoss {
                let disk = SimulatedDisk(image)
                let found: VaultFile
                do {
                    found = try VaultFile.open(at: "/vault", secret: other, fileSystem: disk)
                } catch .wrongKeyFile {
                    #expect(!isAcknowledged)
                    found = try open(disk)
                }
                #expect(try contents(found) == Self.before)
            }
            if isAcknowledged { break }
            point += 1
        }
        #expect(point >= 10)
    }

    @Test func `a full disk is reported with advice and loses no data`() throws {
        let error = FileError(operation: "write", path: "/vault", code: SystemErrors.noSpace)
        #expect(error.description.contains("free some space"))
    }
}
