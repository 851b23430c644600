internal import Bytes
internal import Identity
internal import Platform
internal import TestSupport
internal import Testing

@testable internal import OneTimeKeys
@testable internal import SealedMessages

@Suite("Pools on a disk") struct KeyStoreFilesTests {
    private static let peer = PeerId(publicKey: generatePeerKey().publicKey)
    private static let own = PeerId(publicKey: generatePeerKey().publicKey)
    private static let key = SecretBytes(copying: [UInt8](repeating: 5, count: 32))

    private func files(_ disk: SimulatedDisk) -> KeyStoreFiles<SimulatedDisk> {
        KeyStoreFiles(directory: "/", key: Self.key, fileSystem: disk)
    }

    /// A disk with a pool of this device and one of the peer, of four keys each.
    private func prepared() throws -> (image: SimulatedDisk.Image, publicKeys: PublicKeyStore) {
        let disk = SimulatedDisk(["/": []])
        let (pool, publicKeys) = try KeyStore.generate(.p256, capacity: 4)
        try files(disk).add(pool, for: Self.peer)
        try files(disk).save(KeyStore.generate(.p256, capacity: 4).publicKeys, of: Self.peer)
        return (disk.image, publicKeys)
    }

    private func stored(_ image: SimulatedDisk.Image) throws -> KeyStoreFiles<SimulatedDisk>.Relationship {
        try #require(try files(SimulatedDisk(image)).load().relationships[Self.peer])
    }

    /// Loses the power after each call of `body` in turn, and passes the remaining contents on.
    private func losePower(
        _ image: SimulatedDisk.Image,
        _ body: (KeyStoreFiles<SimulatedDisk>) throws -> Void,
        found: (KeyStoreFiles<SimulatedDisk>.Relationship, _ isAcknowledged: Bool) throws -> Void
    ) throws {
        var point = 0
        while true {
            let disk = SimulatedDisk(image, fault: .powerLoss(after: point))
            var isAcknowledged = false
            do {
                try body(files(disk))
                isAcknowledged = true
            } catch {
                // The power is lost; only the contents found afterwards matter.
            }
            for image in disk.imagesAfterPowerLoss { try found(stored(image), isAcknowledged) }
            if isAcknowledged { break }
            point += 1
        }
        #expect(point >= 5)
    }

    @Test func `everything is found again`() throws {
        let disk = SimulatedDisk(["/": []])
        let files = files(disk)
        for generation in UInt32(1)...5 {
            try files.add(KeyStore.generate(.p256, generation: generation, capacity: 2).keys, for: Self.peer)
            try files.save(KeyStore.generate(.p256, generation: generation, capacity: 2).publicKeys, of: Self.peer)
            try files.saveUse(of: 1, generation: generation, peer: Self.peer)
        }
        try files.keepPools([3, 5], for: Self.peer)
        try files.saveVerification(of: [1, 2], with: Self.peer)
        let found = try stored(disk.image)
        #expect(found.pools.map(\.generation) == [3, 5])
        #expect(found.ownGeneration == 5 && found.verifiedBinding == [1, 2])
        #expect(found.peerKeys?.generation == 5 && found.peerKeys?.usedCount == 1)
        #expect(disk.image.count == 1 + 4 + 2 + 1)
        try files.removeAll(of: Self.peer)
        #expect(Set(disk.image.keys) == ["/"])
    }

    @Test func `a message that was opened cannot be opened again, whenever the power fails`() throws {
        var (image, publicKeys) = try prepared()
        let message = try publicKeys.takeKey().seal([1], to: Self.own)
        let pool = try #require(try stored(image).pools.last)
        var outcomes: Set<Bool> = []
        try losePower(image) { files in
            var pool = pool
            _ = try pool.open(message, for: Self.own)
            try files.save(pool, for: Self.peer)
        } found: { found, isAcknowledged in
            var pool = try #require(found.pools.last)
            let isErased = pool.availableCount == 3
            #expect(isErased || !isAcknowledged)
            outcomes.insert(isErased)
            if isErased {
                #expect(throws: OneTimeKeyError.keyUsed) { try pool.open(message, for: Self.own) }
            } else {
                #expect(try pool.open(message, for: Self.own) == [1])
            }
        }
        #expect(outcomes == [true, false])
        image = [:]
    }

    @Test func `the use of a key is found again, whenever the power fails`() throws {
        let image = try prepared().image
        try losePower(image) { files in
            try files.saveUse(of: 3, generation: 1, peer: Self.peer)
        } found: { found, isAcknowledged in
            let count = try #require(found.peerKeys?.usedCount)
            #expect(count == 3 || (count == 0 && !isAcknowledged))
        }
    }

    @Test func `a new pool replaces the old one as a whole, whenever the power fails`() throws {
        let prepared = SimulatedDisk(try prepared().image)
        try files(prepared).saveUse(of: 3, generation: 1, peer: Self.peer)
        let image = prepared.image
        let newKeys = try KeyStore.generate(.p256, generation: 2, capacity: 2).publicKeys
        try losePower(image) { files in
            try files.save(newKeys, of: Self.peer)
        } found: { found, isAcknowledged in
            let isNew = found.peerKeys == newKeys
            #expect(isNew || (!isAcknowledged && found.peerKeys?.generation == 1 && found.peerKeys?.usedCount == 3))
        }
        let pool = try KeyStore.generate(.p256, generation: 2, capacity: 2).keys
        try losePower(image) { files in
            try files.add(pool, for: Self.peer)
        } found: { found, isAcknowledged in
            let generations = found.pools.map(\.generation)
            #expect(generations == [1, 2] || (generations == [1] && !isAcknowledged))
        }
    }

    @Test func `secrets are not stored in clear, and belong to their file and device`() throws {
        let disk = SimulatedDisk(["/": []])
        let pool = try KeyStore.generate(.p256, capacity: 2).keys
        try files(disk).add(pool, for: Self.peer)
        let path = try #require(disk.image.keys.first { $0.hasSuffix(".secrets") })
        let bytes = try #require(disk.image[path])
        let root = pool.encodedSecrets.withBytes { Array($0[45..<77]) }
        #expect(!(0...bytes.count - 32).contains { bytes[$0...].starts(with: root) })
        var moved = disk.image
        moved[path.replacing(".1.", with: ".2.")] = bytes
        moved[path.replacing(".1.secrets", with: ".2.names")] = pool.encodedNames
        let damages = try files(SimulatedDisk(moved)).load().damages
        #expect(damages[Self.peer] is OneTimeKeyError)
        let other = KeyStoreFiles(
            directory: "/",
            key: SecretBytes(copying: [UInt8](repeating: 6, count: 32)),
            fileSystem: SimulatedDisk(disk.image)
        )
        let (relationships, otherDamages) = try other.load()
        let damage = try #require(otherDamages[Self.peer])
        #expect(relationships.isEmpty && "\(damage)".contains(path))
    }

    @Test func `a damaged file keeps no other relationship from its keys`() throws {
        var image = try prepared().image
        let other = PeerId(publicKey: generatePeerKey().publicKey)
        let disk = SimulatedDisk(image)
        try files(disk).save(KeyStore.generate(.p256, capacity: 2).publicKeys, of: other)
        image = disk.image
        let path = try #require(image.keys.first { $0.hasPrefix("/\(other.text)") })
        image[path] = Array(try #require(image[path]).dropLast())
        let (relationships, damages) = try files(SimulatedDisk(image)).load()
        #expect(relationships[Self.peer]?.pools.count == 1 && relationships[other] == nil)
        #expect(damages.keys.elementsEqual([other]))
    }

    @Test func `leftovers of a writer and foreign files do no harm`() throws {
        var image = try prepared().image
        image["/.something.writing-abc"] = [1]
        image["/notes.txt"] = [2]
        let disk = SimulatedDisk(image)
        #expect(try files(disk).load().relationships.keys.elementsEqual([Self.peer]))
        #expect(disk.image["/.something.writing-abc"] == nil)
        #expect(disk.image["/notes.txt"] == [2])
    }
}
