internal import Bytes
internal import Identity
internal import TestSupport
internal import Testing

@testable internal import OneTimeKeys

@Suite("Pools of one-time keys") struct KeyStoreTests {
    private static let peer = PeerId(publicKey: generatePeerKey().publicKey)

    @Test(arguments: OneTimeKeySuite.supported) func `a pool survives its encodings`(suite: OneTimeKeySuite) throws {
        let (keys, publicKeys) = try KeyStore.generate(suite, generation: 7, capacity: 4)
        let decoded = try KeyStore(names: keys.encodedNames, secrets: keys.encodedSecrets)
        #expect(decoded.suite == suite && decoded.generation == 7 && decoded.capacity == 4)
        #expect(decoded.encodedNames == keys.encodedNames)
        #expect(decoded.encodedSecrets == keys.encodedSecrets)
        let decodedPublicKeys = try PublicKeyStore(publicKeys.encoded)
        #expect(decodedPublicKeys == publicKeys)
        #expect(publicKeys.encoded.count == 45 + 4 * suite.publicKeyByteCount)
    }

    @Test func `a whole pool on P-256 is no larger than OpenTDFKit's, plus 64 bytes`() throws {
        let publicKeys = PublicKeyStore(
            .p256,
            generation: 1,
            first: 0,
            keys: [UInt8](repeating: 2, count: 8_192 * 33)
        )
        #expect(publicKeys.encoded.count <= 270_341 + 64)
        // The worst case: every second key was used.
        var tree = PuncturableTree(depth: 13, seed: PuncturableTreeTests.seed)
        for leaf in stride(from: 0, to: 8_192, by: 2) { tree.erase(leaf: leaf) }
        var writer = ByteWriter()
        tree.write(to: &writer)
        let overhead = 4 + 32 + 32
        #expect(writer.count + overhead == 143_431)
        #expect(43 + 8_192 * 16 + writer.count + overhead <= 532_485 + 64)
    }

    @Test func `the generated pool has a name for each key, and keys that differ`() throws {
        let (keys, publicKeys) = try KeyStore.generate(.p256, capacity: 64)
        #expect(keys.availableCount == 64 && publicKeys.availableCount == 64)
        let list = stride(from: 0, to: publicKeys.keys.count, by: 33).map { Array(publicKeys.keys[$0..<$0 + 33]) }
        #expect(Set(list).count == 64)
        for (index, key) in list.enumerated() {
            #expect(keys.index(of: OneTimeKeyName(ofPublicKey: key)) == index)
        }
    }

    @Test func `keys are taken in order, and an empty pool is an error`() throws {
        var (keys, publicKeys) = try KeyStore.generate(.p256, capacity: 4)
        for index in 0..<4 {
            #expect(publicKeys.availableCount == 4 - index)
            let message = try publicKeys.takeKey().seal([UInt8(index)], to: Self.peer)
            #expect(keys.index(of: message.keyName) == index)
            #expect(try keys.open(message, for: Self.peer) == [UInt8(index)])
        }
        #expect(throws: OneTimeKeyError.noKeysAvailable) { _ = try publicKeys.takeKey() }
        #expect(keys.availableCount == 0)
    }

    @Test func `what was perhaps taken before is skipped`() throws {
        var (keys, publicKeys) = try KeyStore.generate(.p256, capacity: 4)
        publicKeys.skip(to: 2)
        publicKeys.skip(to: 1)
        #expect(publicKeys.usedCount == 2)
        let message = try publicKeys.takeKey().seal([], to: Self.peer)
        #expect(keys.index(of: message.keyName) == 2)
        #expect(try keys.open(message, for: Self.peer).isEmpty)
        publicKeys.skip(to: .max)
        #expect(publicKeys.availableCount == 0)
    }

    @Test func `a pool is low from a tenth of its capacity on`() {
        var pool = PublicKeyStore(.p256, generation: 1, first: 0, keys: [UInt8](repeating: 2, count: 8_192 * 33))
        pool.skip(to: 8_192 - 820)
        #expect(!pool.isLow)
        pool.skip(to: 8_192 - 819)
        #expect(pool.isLow)
    }

    @Test(arguments: [-1, 0, 1, 3, 8_191, 8_193, 16_384, Int.max])
    func `a pool has a power of two of keys`(capacity: Int) {
        #expect(throws: OneTimeKeyError.invalidCapacity(capacity, limit: 8_192)) {
            try KeyStore.generate(.p256, capacity: capacity)
        }
    }

    @Test func `every changed or missing byte of a pool is seen`() throws {
        let (keys, publicKeys) = try KeyStore.generate(.p256, capacity: 2)
        let (names, secrets) = (keys.encodedNames, keys.encodedSecrets.withBytes { $0 })
        let publicBytes = publicKeys.encoded
        for place in publicBytes.indices {
            #expect(throws: OneTimeKeyError.self) { try PublicKeyStore(publicBytes.changed(at: place)) }
            #expect(throws: OneTimeKeyError.self) { try PublicKeyStore(Array(publicBytes.prefix(place))) }
        }
        for place in names.indices {
            #expect(throws: OneTimeKeyError.self) {
                try KeyStore(names: names.changed(at: place), secrets: keys.encodedSecrets)
            }
        }
        for place in secrets.indices {
            #expect(throws: OneTimeKeyError.self) {
                try KeyStore(names: names, secrets: SecretBytes(copying: secrets.changed(at: place)))
            }
        }
    }

    @Test func `names and secrets of two pools do not go together`() throws {
        let one = try KeyStore.generate(.p256, capacity: 2).keys
        let other = try KeyStore.generate(.p256, capacity: 2).keys
        #expect(throws: OneTimeKeyError.self) {
            try KeyStore(names: one.encodedNames, secrets: other.encodedSecrets)
        }
    }

    @Test func `no input crashes a reader of pools`() throws {
        let (keys, publicKeys) = try KeyStore.generate(.p256, capacity: 4)
        neverCrash(on: [publicKeys.encoded]) { _ = try PublicKeyStore($0) }
        // Behind the checksums, which would refuse all of these.
        neverCrash(on: [Array(publicKeys.encoded.dropLast(32))]) { _ = try PublicKeyStore($0.withChecksum) }
        neverCrash(on: [Array(keys.encodedNames.dropLast(32))]) {
            _ = try KeyStore(names: $0.withChecksum, secrets: keys.encodedSecrets)
        }
        neverCrash(on: [keys.encodedSecrets.withBytes { Array($0.dropLast(32)) }]) {
            _ = try KeyStore(names: keys.encodedNames, secrets: SecretBytes(copying: $0.withChecksum))
        }
    }

    @Test func `a pool shows none of its secrets`() throws {
        let keys = try KeyStore.generate(.p256, generation: 3, capacity: 4).keys
        for text in ["\(keys)", String(reflecting: keys)] {
            #expect(text == "KeyStore(P-256, generation 3, 4 of 4, redacted)")
        }
        var dumped = ""
        dump(keys, to: &dumped)
        #expect(!dumped.contains("tree"))
    }
}
