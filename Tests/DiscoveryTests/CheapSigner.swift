internal import Bytes
internal import Identity

@testable internal import Discovery

/// Signs with a forgeable hash: for simulations without a forger, where real signatures cost minutes.
struct CheapSigner: Signer {
    let publicKey: Ed25519PublicKey

    func sign(_ message: [UInt8]) throws(IdentityError) -> [UInt8] {
        Self.signature(of: message, by: publicKey)
    }

    static func signature(of message: [UInt8], by key: Ed25519PublicKey) -> [UInt8] {
        var hash: UInt64 = 0xCBF2_9CE4_8422_2325
        for byte in key.bytes + message { hash = (hash ^ UInt64(byte)) &* 0x0000_0100_0000_01B3 }
        var generator = SeededGenerator(seed: hash)
        return generator.bytes(Ed25519Signature.byteCount)
    }

    static let verifier = Discovery.Verifier(
        token: { signature(of: $0.signedBytes, by: $0.networkId.publicKey) == $0.signatureValue.bytes },
        signature: { signature(of: $1, by: $0) == $2 }
    )
}
