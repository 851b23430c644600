internal import Bytes
internal import Identity
internal import NanoTDF
internal import TestSupport
internal import Testing

@testable internal import OneTimeKeys

@Suite("Messages to one-time keys") struct SealedMessageTests {
    private static let peer = PeerId(publicKey: generatePeerKey().publicKey)
    private static let text = [UInt8]("see you at eight".utf8)

    /// A pool, and a message to its first key.
    private static func sample(_ suite: OneTimeKeySuite) throws -> (keys: KeyStore, message: SealedMessage) {
        let pool = try KeyStore.generate(suite, capacity: 2)
        var publicKeys = pool.publicKeys
        return (pool.keys, try publicKeys.takeKey().seal(text, to: peer))
    }

    @Test(arguments: OneTimeKeySuite.supported) func `a message opens once`(suite: OneTimeKeySuite) throws {
        let (pool, message) = try Self.sample(suite)
        var keys = pool
        let received = try SealedMessage(message.bytes)
        #expect(received.recipient == Self.peer && received.keyName == message.keyName)
        #expect(try keys.open(received, for: Self.peer) == Self.text)
        #expect(throws: OneTimeKeyError.keyUsed) { try keys.open(received, for: Self.peer) }
        var stored = try KeyStore(names: keys.encodedNames, secrets: keys.encodedSecrets)
        #expect(throws: OneTimeKeyError.keyUsed) { try stored.open(received, for: Self.peer) }
    }

    @Test(arguments: OneTimeKeySuite.supported, [0, 1, SealedMessage.plaintextByteLimit])
    func `messages from nothing to the limit are sealed`(suite: OneTimeKeySuite, count: Int) throws {
        var (keys, publicKeys) = try KeyStore.generate(suite, capacity: 2)
        let plaintext = [UInt8](repeating: 0xA5, count: count)
        let message = try publicKeys.takeKey().seal(plaintext, to: Self.peer)
        #expect(try keys.open(SealedMessage(message.bytes), for: Self.peer) == plaintext)
        let limit = SealedMessage.plaintextByteLimit
        #expect(throws: OneTimeKeyError.tooLarge(limit: limit, found: limit + 1)) {
            _ = try publicKeys.takeKey().seal([UInt8](repeating: 0, count: limit + 1), to: Self.peer)
        }
    }

    @Test(arguments: OneTimeKeySuite.supported)
    func `a message with a changed byte does not open, and leaves its key`(suite: OneTimeKeySuite) throws {
        let (pool, message) = try Self.sample(suite)
        var keys = pool
        let bytes = message.bytes
        for place in bytes.indices {
            let damaged = bytes.changed(at: place)
            #expect(throws: OneTimeKeyError.self, "byte \(place)") {
                _ = try keys.open(SealedMessage(damaged), for: Self.peer)
            }
            #expect(throws: OneTimeKeyError.self, "cut at \(place)") {
                _ = try keys.open(SealedMessage(Array(bytes.prefix(place))), for: Self.peer)
            }
        }
        #expect(throws: OneTimeKeyError.self) { _ = try keys.open(SealedMessage(bytes + [0]), for: Self.peer) }
        #expect(keys.availableCount == 2)
        #expect(try keys.open(message, for: Self.peer) == Self.text)
    }

    @Test func `a message for another peer or another pool is refused`() throws {
        let (pool, message) = try Self.sample(.p256)
        var keys = pool
        let other = PeerId(publicKey: generatePeerKey().publicKey)
        #expect(throws: OneTimeKeyError.wrongRecipient) { try keys.open(message, for: other) }
        var strange = try KeyStore.generate(.p256, capacity: 2).keys
        #expect(throws: OneTimeKeyError.keyNotFound) { try strange.open(message, for: Self.peer) }
        #expect(try keys.open(message, for: Self.peer) == Self.text)
    }

    @Test func `a NanoTDF that a message cannot be is refused`() throws {
        let recipient = try NanoTDFPrivateKey(generatedOn: .secp256r1)
        let name = OneTimeKeyName(ofPublicKey: recipient.publicKey.compressedRepresentation)
        let body = Base58.encode(Self.peer.bytes)
        let good = try ResourceLocator(.sharedResourceDirectory, body: body, identifier: name.digits)
        let noName = [UInt8](repeating: 90, count: 32)
        let policy = NanoTDFSealer.Policy.plain(SealedMessage.policy)
        func sealed(
            _ locator: ResourceLocator,
            _ policy: NanoTDFSealer.Policy,
            cipher: SymmetricCipher = .aes256GCM128,
            binding: NanoTDFHeader.BindingMode = .hash,
            creator: NanoTDFPrivateKey? = nil
        ) throws -> [UInt8] {
            let sealer = try NanoTDFSealer(
                to: recipient.publicKey,
                keyAccess: locator,
                policy: policy,
                cipher: cipher,
                binding: binding,
                creator: creator
            )
            return try sealer.seal(Self.text).bytes
        }
        #expect(throws: Never.self) { try SealedMessage(sealed(good, policy)) }
        let refused = [
            try sealed(ResourceLocator(url: "https://kas.example.org", identifier: name.digits), policy),
            try sealed(ResourceLocator(.sharedResourceDirectory, body: "0", identifier: name.digits), policy),
            try sealed(ResourceLocator(.sharedResourceDirectory, body: body), policy),
            try sealed(ResourceLocator(.sharedResourceDirectory, body: body, identifier: noName), policy),
            try sealed(good, .plain([1])),
            try sealed(good, .encrypted(SealedMessage.policy)),
            try sealed(good, policy, cipher: .aes256GCM64),
            try sealed(good, policy, binding: .ecdsa),
            try sealed(good, policy, creator: recipient),
        ]
        for (place, bytes) in refused.enumerated() {
            #expect(throws: OneTimeKeyError.self, "\(place)") { try SealedMessage(bytes) }
        }
    }

    @Test func `another program opens a message with the private key`() throws {
        // The name of the key and the policy are nothing special to it.
        let (keys, message) = try Self.sample(.p256)
        guard case .p256(let key) = try keys.privateKey(named: message.keyName).key else {
            Issue.record("no key on P-256")
            return
        }
        #expect(try NanoTDFOpener.open(NanoTDF(message.bytes), with: key).plaintext == Self.text)
    }

    @Test func `no input crashes the reader of messages`() throws {
        let messages = try OneTimeKeySuite.supported.map { try Self.sample($0).message.bytes }
        neverCrash(on: messages) { _ = try SealedMessage($0) }
    }
}
