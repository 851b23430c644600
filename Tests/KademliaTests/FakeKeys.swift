internal import Bytes
internal import Crypto
internal import Identity
internal import Kademlia

/// Signatures for many nodes: a hash over key and message, of the length of a real one, that anybody could make.
struct FakeSigner: Signer {
    let publicKey: Ed25519PublicKey

    /// A key that depends only on the generator.
    init(using random: inout SeededGenerator) {
        while true {
            var bytes = random.bytes(32)
            bytes[31] &= 0x3F
            do {
                self.publicKey = try Ed25519PublicKey(rawRepresentation: bytes)
                return
            } catch {
                // A key of small order, which is as rare as it is useless.
            }
        }
    }

    func sign(_ message: [UInt8]) throws(IdentityError) -> [UInt8] {
        Self.signature(of: message, by: self.publicKey)
    }

    static func signature(of message: [UInt8], by key: Ed25519PublicKey) -> [UInt8] {
        Array(SHA512.hash(data: key.bytes + message))
    }

    static func isValid(_ key: Ed25519PublicKey, _ message: [UInt8], _ signature: [UInt8]) -> Bool {
        self.signature(of: message, by: key) == signature
    }
}

/// A network whose owner's key is fake too.
struct FakeNetwork {
    let owner: FakeSigner
    let id: NetworkId

    init(using random: inout SeededGenerator) {
        self.owner = FakeSigner(using: &random)
        self.id = NetworkId(publicKey: self.owner.publicKey)
    }

    func token(for peer: PeerId, until expiration: UInt64? = nil) throws -> AccessToken {
        try AccessToken.create(
            peerId: peer,
            networkId: self.id,
            signer: self.owner,
            expirationSeconds: expiration
        )
    }

    func configuration(
        _ signer: FakeSigner,
        seed: UInt64,
        limits: Kademlia.Limits = Kademlia.Limits()
    ) -> Kademlia.Configuration {
        let owner = self.owner.publicKey
        return Kademlia.Configuration(
            localPeerId: PeerId(publicKey: signer.publicKey),
            networkId: self.id,
            signer: signer,
            verifySignature: FakeSigner.isValid,
            verifyToken: { FakeSigner.isValid(owner, $0.signedBytes, $0.signature.map { $0 }) },
            randomSeed: seed,
            limits: limits
        )
    }
}
