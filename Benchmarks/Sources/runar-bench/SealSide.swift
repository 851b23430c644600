internal import Bytes
internal import Crypto
internal import Foundation
internal import Identity
internal import NanoTDF
internal import OneTimeKeys
internal import Platform

/// Sealed messages on one core, compared with the cryptographic operations that they cannot avoid.
enum SealSide {
    private static let plaintext = [UInt8](repeating: 7, count: 1024)
    private static let recipient = PeerId(publicKey: generatePeerKey().publicKey)

    /// Seals and opens `count` messages of 1 KiB in each way, and performs as many of the operations alone.
    static func measure(count: Int) throws {
        let started = ContinuousClock.now
        let pool = try KeyStore.generate(.p256)
        let generation = (ContinuousClock.now - started).seconds
        let keys = try (0..<count).map { _ in try NanoTDFPrivateKey(generatedOn: .secp256r1) }
        Output.result([
            "generation": generation,
            "oldest": try millisecondsToOpen(from: pool),
            "p256": try oneTimePerSecond(.p256, count),
            "xWing": try oneTimePerSecond(.xWing, count),
            "ecdsa": try perSecond(count) { try sealAndOpen(keys[$0]) },
            "agreements": try agreementsPerSecond(count),
            "encapsulations": try encapsulationsPerSecond(count),
        ])
    }

    /// Messages to one-time keys, with the erasing of each key but without the disk.
    private static func oneTimePerSecond(_ suite: OneTimeKeySuite, _ count: Int) throws -> Double {
        var (keys, publicKeys) = try KeyStore.generate(suite)
        var seconds = 0.0
        for _ in 0..<count {
            if publicKeys.availableCount == 0 { (keys, publicKeys) = try KeyStore.generate(suite) }
            let started = ContinuousClock.now
            let bytes = try publicKeys.takeKey().seal(plaintext, to: recipient).bytes
            let opened = try keys.open(SealedMessage(bytes), for: recipient)
            seconds += (ContinuousClock.now - started).seconds
            guard opened == plaintext else { throw BenchError("a message changed") }
        }
        return Double(count) / seconds
    }

    /// The time in which a message to the oldest key of a stored pool is opened, the reading of the files included.
    private static func millisecondsToOpen(from pool: (keys: KeyStore, publicKeys: PublicKeyStore)) throws -> Double {
        let folder = FileManager.default.temporaryDirectory.appending(path: "runar-bench-\(UUID().uuidString)").path
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: folder) }  // a folder for temporary files
        var publicKeys = pool.publicKeys
        let bytes = try publicKeys.takeKey().seal(plaintext, to: recipient).bytes
        let (names, secrets) = (FilePath.joining(folder, "names"), FilePath.joining(folder, "secrets"))
        try AtomicFile.write(pool.keys.encodedNames, to: names)
        try AtomicFile.write(pool.keys.encodedSecrets.withBytes { $0 }, to: secrets)
        let started = ContinuousClock.now
        guard let storedNames = try AtomicFile.read(names, limit: 1 << 20),
            let storedSecrets = try AtomicFile.read(secrets, limit: 1 << 20)
        else { throw BenchError("a file is missing") }
        var keys = try KeyStore(names: storedNames, secrets: SecretBytes(copying: storedSecrets))
        let opened = try keys.open(SealedMessage(bytes), for: recipient)
        let seconds = (ContinuousClock.now - started).seconds
        guard opened == plaintext else { throw BenchError("a message changed") }
        return seconds * 1_000
    }

    private static func sealAndOpen(_ key: NanoTDFPrivateKey) throws {
        let publicKey = key.publicKey
        let sealer = try NanoTDFSealer(
            to: publicKey,
            keyAccess: ResourceLocator(.sharedResourceDirectory, body: "bench", identifier: publicKey.identifier),
            policy: .plain([1])
        )
        let opened = try NanoTDFOpener.open(NanoTDF(sealer.seal(plaintext).bytes), with: key)
        guard opened.plaintext == plaintext else { throw BenchError("a message changed") }
    }

    /// Two agreements, of the sender and of the recipient, are the limit of a message on P-256.
    private static func agreementsPerSecond(_ count: Int) throws -> Double {
        let (one, other) = (P256.KeyAgreement.PrivateKey(), P256.KeyAgreement.PrivateKey())
        return try perSecond(count) { _ in
            for (key, point) in [(one, other.publicKey), (other, one.publicKey)] {
                _ = try key.sharedSecretFromKeyAgreement(with: point)
            }
        }
    }

    /// An encapsulation and its decapsulation are the limit of a message to an X-Wing key.
    private static func encapsulationsPerSecond(_ count: Int) throws -> Double {
        guard #available(macOS 26, iOS 26, *) else { throw BenchError("this system has no X-Wing") }
        let key = try XWingMLKEM768X25519.PrivateKey.generate()
        let publicKey = key.publicKey
        return try perSecond(count) { _ in _ = try key.decapsulate(publicKey.encapsulate().encapsulated) }
    }

    private static func perSecond(_ count: Int, _ body: (Int) throws -> Void) rethrows -> Double {
        let started = ContinuousClock.now
        for index in 0..<count { try body(index) }
        return Double(count) / (ContinuousClock.now - started).seconds
    }
}
