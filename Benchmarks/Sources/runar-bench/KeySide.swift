internal import Bytes
internal import Foundation
internal import Identity
internal import Platform

/// Tokens and the vault, on one core.
enum KeySide {
    private static let tokenCount = 64

    /// Verifies many tokens: decoded from their 137 bytes, signature and expiry checked.
    static func measureTokens(count: Int) throws {
        let network = deriveNetworkKey(masterKey: generateMasterKey(), networkIndex: 0)
        let texts = try (0..<tokenCount).map { _ in
            try AccessToken.create(
                peerId: PeerId(publicKey: generatePeerKey().publicKey),
                networkId: NetworkId(publicKey: network.publicKey),
                networkPrivateKey: network.privateKey,
                expiration: Date.now + 3600
            ).binary
        }
        let started = ContinuousClock.now
        for index in 0..<count {
            guard try AccessToken(binary: texts[index % tokenCount]).verify() else { throw BenchError("not verified") }
        }
        Output.result(["perSecond": Double(count) / (ContinuousClock.now - started).seconds])
    }

    /// Makes a vault, opens it, stores keys and signs with one, each step timed.
    static func measureVault(count: Int) throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "runar-bench-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }  // A leftover temporary folder is harmless.
        let path = folder.appending(path: "vault").path(percentEncoded: false)
        let secret = VaultSecret.passphrase(SecretBytes(copying: "correct horse battery staple".utf8))
        let created = try timed { try VaultFile.create(at: path, secret: secret).close() }
        var vault: VaultFile?
        let opened = try timed { vault = try VaultFile.open(at: path, secret: secret) }
        guard let vault else { throw BenchError("the vault did not open") }
        let key = Ed25519PrivateKey()
        let stored = try timed {
            for index in 0..<count { try vault.store(key.secret, id: "key-\(index)") }
        }
        let message = [UInt8](repeating: 1, count: 64)
        let signed = try timed {
            for index in 0..<count {
                guard let secret = try vault.retrieve(id: "key-\(index)") else { throw BenchError("a key is gone") }
                _ = try Ed25519PrivateKey(secret).signature(for: message)
            }
        }
        Output.result([
            "create": created.seconds * 1000, "open": opened.seconds * 1000,
            "store": stored.seconds * 1000 / Double(count), "sign": signed.microseconds / Double(count),
        ])
    }

    private static func timed(_ work: () throws -> Void) rethrows -> Duration {
        let started = ContinuousClock.now
        try work()
        return ContinuousClock.now - started
    }
}
