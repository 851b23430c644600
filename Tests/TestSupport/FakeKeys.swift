package import Bytes
internal import Crypto
package import Identity

/// Signatures for many nodes: hashes over key and message with the length of real ones.
///
/// They need no private key.
package struct FakeSigner: Signer {
    package let publicKey: Ed25519PublicKey

    /// A key that depends only on the generator.
    package init(using random: inout SeededGenerator) {
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

    package func sign(_ message: [UInt8]) throws(IdentityError) -> [UInt8] {
        Self.signature(of: message, by: self.publicKey)
    }

    package static func signature(of message: [UInt8], by key: Ed25519PublicKey) -> [UInt8] {
        Array(SHA512.hash(data: key.bytes + message))
    }

    package static func isValid(_ key: Ed25519PublicKey, _ message: [UInt8], _ signature: [UInt8]) -> Bool {
        self.signature(of: message, by: key) == signature
    }
}

/// A network whose owner's key is fake too.
package struct FakeNetwork {
    package let owner: FakeSigner
    package let id: NetworkId

    package init(using random: inout SeededGenerator) {
        self.owner = FakeSigner(using: &random)
        self.id = NetworkId(publicKey: self.owner.publicKey)
    }

    package func token(for peer: PeerId, until expiration: UInt64? = nil) throws -> AccessToken {
        try AccessToken.create(
            peerId: peer,
            networkId: self.id,
            signer: self.owner,
            expirationSeconds: expiration
        )
    }

    /// Verifies a signature of ``owner``.
    package func isValid(_ token: AccessToken) -> Bool {
        FakeSigner.isValid(self.owner.publicKey, token.signedBytes, token.signatureValue.bytes)
    }
}
