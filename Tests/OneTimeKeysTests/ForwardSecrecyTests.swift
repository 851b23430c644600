internal import Bytes
internal import Identity
internal import Testing

@testable internal import OneTimeKeys

/// Shows what an attacker learns of a message after recording the wire and later taking everything from both devices.
@Suite("Forward secrecy") struct ForwardSecrecyTests {
    /// Everything that both devices have stored, with nothing sealed at rest, and the recorded messages.
    private struct Loot {
        let names: [UInt8]
        let secrets: SecretBytes
        let publicKeys: [UInt8]
        let recipient: PeerId
        let identities: [Ed25519KeyPair]
        let wire: [[UInt8]]
    }

    /// The attacker's program: it tries every secret that follows from the loot on every message.
    private static func attack(_ loot: Loot) throws -> Set<[UInt8]> {
        var opened: Set<[UInt8]> = []
        var secrets: [[UInt8]] = []
        let keys = try KeyStore(names: loot.names, secrets: loot.secrets)
        for bytes in loot.wire {
            let message = try SealedMessage(bytes)
            var copy = keys
            if let plaintext = try? copy.open(message, for: loot.recipient) { opened.insert(plaintext) }  // an attempt
        }
        // Every window of 32 bytes in the stored secrets, and the long-term keys, as secret of a leaf.
        let stored = loot.secrets.withBytes { $0 }
        for start in 0..<max(0, stored.count - 31) { secrets.append(Array(stored[start..<start + 32])) }
        secrets += loot.identities.map { $0.privateKey.secret.withBytes { $0 } }
        for bytes in loot.wire {
            let message = try SealedMessage(bytes)
            for secret in secrets {
                let leaf = SecretBytes(copying: secret)
                let attempt = try KeyStore.attempt(on: message, leaf: leaf, suite: keys.suite)
                if let attempt { opened.insert(attempt) }
            }
        }
        return opened
    }

    @Test(arguments: OneTimeKeySuite.supported)
    func `nothing that both devices keep opens a message that was opened`(suite: OneTimeKeySuite) throws {
        let identities = [generatePeerKey(), generatePeerKey()]
        let recipient = PeerId(publicKey: identities[1].publicKey)
        var (keys, publicKeys) = try KeyStore.generate(suite, capacity: 8)
        var wire: [[UInt8]] = []
        for number in 0..<4 {
            let plaintext = [UInt8](repeating: UInt8(number), count: 40)
            wire.append(try publicKeys.takeKey().seal(plaintext, to: recipient).bytes)
        }
        func loot(_ keys: KeyStore) -> Loot {
            Loot(
                names: keys.encodedNames,
                secrets: keys.encodedSecrets,
                publicKeys: publicKeys.encoded,
                recipient: recipient,
                identities: identities,
                wire: wire
            )
        }
        // Before they are opened, the attack succeeds: the program is able to do it.
        #expect(try Self.attack(loot(keys)).count == 4)
        for place in [2, 0] { _ = try keys.open(SealedMessage(wire[place]), for: recipient) }
        let left = try Self.attack(loot(keys))
        #expect(left == Set([1, 3].map { [UInt8](repeating: $0, count: 40) }))
        for place in [1, 3] { _ = try keys.open(SealedMessage(wire[place]), for: recipient) }
        #expect(try Self.attack(loot(keys)).isEmpty)
    }
}

extension KeyStore {
    /// Opens a message with the key derived from a leaf, if it is the right one.
    fileprivate static func attempt(
        on message: SealedMessage,
        leaf: SecretBytes,
        suite: OneTimeKeySuite
    ) throws -> [UInt8]? {
        let key = try OneTimePrivateKey(suite, leaf: leaf)
        return try? open(message, with: key)  // most fail
    }
}
