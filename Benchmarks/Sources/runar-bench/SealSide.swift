internal import Crypto
internal import NanoTDF

/// Sealed messages on one core, beside the work of the cryptographic library that they cannot avoid.
enum SealSide {
    private static let plaintext = [UInt8](repeating: 7, count: 1024)

    /// Seals and opens `count` messages of 1 KiB, each to a key of its own, and agrees on twice as many keys.
    static func measure(count: Int) throws {
        let keys = try (0..<count).map { _ in try NanoTDFPrivateKey(generatedOn: .secp256r1) }
        Output.result([
            "hash": try perSecond(count) { try sealAndOpen(keys[$0], .hash) },
            "ecdsa": try perSecond(count) { try sealAndOpen(keys[$0], .ecdsa) },
            "agreements": try agreementsPerSecond(count),
        ])
    }

    private static func sealAndOpen(_ key: NanoTDFPrivateKey, _ binding: NanoTDFHeader.BindingMode) throws {
        let sealer = try NanoTDFSealer(
            to: key.publicKey,
            keyAccess: ResourceLocator(.sharedResourceDirectory, body: "bench", identifier: key.publicKey.identifier),
            policy: .plain([1]),
            binding: binding
        )
        let opened = try NanoTDFOpener.open(NanoTDF(sealer.seal(plaintext).bytes), with: key)
        guard opened.plaintext == plaintext else { throw BenchError("a message changed") }
    }

    /// Two agreements, of the sender and of the recipient, are the limit of a message.
    private static func agreementsPerSecond(_ count: Int) throws -> Double {
        let (one, other) = (P256.KeyAgreement.PrivateKey(), P256.KeyAgreement.PrivateKey())
        return try perSecond(count) { _ in
            for (key, point) in [(one, other.publicKey), (other, one.publicKey)] {
                _ = try key.sharedSecretFromKeyAgreement(with: point)
            }
        }
    }

    private static func perSecond(_ count: Int, _ body: (Int) throws -> Void) rethrows -> Double {
        let started = ContinuousClock.now
        for index in 0..<count { try body(index) }
        return Double(count) / (ContinuousClock.now - started).seconds
    }
}
