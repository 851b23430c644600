internal import Bytes
internal import Identity
internal import NodeCore

/// Signs with a hash of the public key, which any node could forge: as long as an Ed25519 signature and a thousand
/// times quicker, for runs in which no node forges.
struct HashSigner: Signer {
    let publicKey: Ed25519PublicKey

    func sign(_ message: [UInt8]) throws(IdentityError) -> [UInt8] { Self.signature(by: publicKey.words, message) }

    /// Whether `signature` is the one that ``sign(_:)`` returns.
    static func isValid(_ signature: [UInt8], by key: Bytes32, for message: [UInt8]) -> Bool {
        signature == self.signature(by: key, message)
    }

    private static func signature(by key: Bytes32, _ message: [UInt8]) -> [UInt8] {
        var digest = RunDigest()
        for word in [key.first, key.second, key.third, key.fourth] { digest.mix(word) }
        digest.mix(message)
        var signature: [UInt8] = []
        signature.reserveCapacity(Ed25519Signature.byteCount)
        for number in 0..<UInt64(Ed25519Signature.byteCount / 8) {
            let word = digest.word(number)
            for shift in stride(from: UInt64(56), through: 0, by: -8) {
                signature.append(UInt8(truncatingIfNeeded: word >> shift))
            }
        }
        return signature
    }
}

/// The keys of a simulation: those of its one network and of its nodes, drawn from the seed.
struct SimulatedKeys {
    let signatures: Scenario.Signatures
    let network: any Signer
    let networkId: NetworkId
    /// The member secret with which the network begins.
    let firstSecret: MemberSecret
    private let seed: UInt64

    init(_ signatures: Scenario.Signatures, seed: UInt64, epoch: UInt64) throws(IdentityError) {
        var random = SeededGenerator(seed: seed, name: "network key")
        let key = Ed25519PrivateKey(generating: &random)
        self.signatures = signatures
        self.seed = seed
        network = signatures == .real ? key : HashSigner(publicKey: key.publicKey)
        networkId = NetworkId(publicKey: key.publicKey)
        var secretRandom = SeededGenerator(seed: seed, name: "member secret")
        firstSecret = try MemberSecret.create(
            networkId: networkId,
            signer: network,
            epoch: epoch,
            generating: &secretRandom
        )
    }

    /// Draws the key of node number `number` until its id is as wanted.
    func peer(_ number: Int, where isWanted: (PeerId) -> Bool = { _ in true }) -> any Signer {
        var random = SeededGenerator(seed: seed, name: "peer key \(number)")
        while true {
            let signer = self.signer(using: &random)
            if let signer, isWanted(PeerId(publicKey: signer.publicKey)) { return signer }
        }
    }

    /// Nil if the bytes that were drawn are no key.
    private func signer(using random: inout SeededGenerator) -> (any Signer)? {
        if signatures == .real { return Ed25519PrivateKey(generating: &random) }
        // Any bytes in canonical form will do where no curve is involved.
        guard let key = try? Ed25519PublicKey(rawRepresentation: random.bytes(32)) else { return nil }  // drawn again
        return HashSigner(publicKey: key)
    }

    /// Makes another member secret of the network.
    func memberSecret(
        epoch: UInt64,
        using random: inout SeededGenerator
    ) throws(IdentityError) -> MemberSecret {
        try MemberSecret.create(networkId: networkId, signer: network, epoch: epoch, generating: &random)
    }

    /// The verifier that the nodes check signatures with.
    var verifier: NodeCore.Verifier {
        guard signatures == .hashed else { return NodeCore.Verifier() }
        return NodeCore.Verifier(
            token: {
                HashSigner.isValid($0.signatureValue.bytes, by: $0.networkId.words, for: $0.signedBytes)
            },
            revocation: {
                HashSigner.isValid($0.signatureValue.bytes, by: $0.networkId.words, for: $0.signedBytes)
            },
            memberSecret: { _ in true },
            signature: { HashSigner.isValid($2, by: $0.words, for: $1) }
        )
    }
}
