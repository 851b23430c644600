internal import Bytes
internal import Identity

/// Our pool on its way to the peer: announced, pulled part by part, and confirmed.
struct ShareSender: Sendable {
    private enum Stage: Sendable {
        /// No pool is offered.
        case atRest
        /// The pool is being generated and stored.
        case generating
        case announced(KeyExchangeMessage.KeyShare, bytes: [UInt8])
    }

    /// The generation of the newest pool that was begun.
    private(set) var generation: UInt32
    /// The generation of the newest pool that the peer confirmed.
    private(set) var confirmedGeneration: UInt32
    private var stage = Stage.atRest

    init(generation: UInt32, confirmedGeneration: UInt32) {
        self.generation = max(generation, confirmedGeneration)
        self.confirmedGeneration = confirmedGeneration
    }

    /// Abandons the pool that is under way.
    mutating func stop() { stage = .atRest }

    /// Whether the newest pool is with the peer.
    var isAtRest: Bool { if case .atRest = stage { true } else { false } }

    /// The announcement that waits for a confirmation.
    var announcement: KeyExchangeMessage.KeyShare? {
        if case .announced(let share, _) = stage { share } else { nil }
    }

    /// Begins with the next pool.
    mutating func begin() {
        generation += 1
        stage = .generating
    }

    /// Announces the pool once its private half is stored; nil if it is not the expected one, or cannot be signed.
    mutating func announce(
        _ pool: PublicKeyStore,
        in binding: ExchangeBinding,
        by signer: some Signer
    ) -> KeyExchangeMessage.KeyShare? {
        guard case .generating = stage, pool.generation == generation else { return nil }
        let bytes = pool.encoded
        let digest = Bytes32(sha256: bytes)
        let signed = KeyExchangeMessage.KeyShare.signedBytes(
            suite: pool.suite,
            generation: generation,
            byteCount: bytes.count,
            digest: digest
        )
        let message = binding.signedBytes(of: signed, by: PeerId(publicKey: signer.publicKey))
        guard let signature = try? Ed25519Signature(of: message, by: signer) else { return nil }  // without it: nil
        let share = KeyExchangeMessage.KeyShare(
            suite: pool.suite,
            generation: generation,
            byteCount: bytes.count,
            digest: digest,
            signature: signature
        )
        stage = .announced(share, bytes: bytes)
        return share
    }

    /// The part that begins there; nil if there is none.
    func part(at offset: Int) -> [UInt8]? {
        guard case .announced(_, let bytes) = stage, bytes.indices.contains(offset) else { return nil }
        return Array(bytes[offset...].prefix(KeyExchangeMessage.partByteLimit))
    }

    /// Returns whether the digest confirms the announced pool.
    mutating func confirm(_ digest: Bytes32) -> Bool {
        guard announcement?.digest == digest else { return false }
        stage = .atRest
        confirmedGeneration = generation
        return true
    }
}
