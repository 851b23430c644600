internal import Bytes
internal import Identity

/// The peer's pool on its way to us: pulled part by part, verified, and stored.
struct ShareReceiver: Sendable {
    enum Step: Hashable, Sendable {
        /// Ask for the part at this offset.
        case pull(Int)
        case save(PublicKeyStore)
        /// Confirm to the peer that this pool is stored.
        case confirm(Bytes32)
        /// Nothing: the message is a duplicate or late.
        case ignore
        /// The content differs from the peer's announcement.
        case refuse
    }

    private enum Stage: Sendable {
        case atRest
        case pulling(KeyExchangeMessage.KeyShare, bytes: [UInt8])
        case saving(KeyExchangeMessage.KeyShare)
    }

    /// The generation of the newest pool that is stored.
    private(set) var generation: UInt32
    /// The digest of that pool.
    private var storedDigest: Bytes32?
    /// Whether the next pool is the first of a handshake: the peer may have restarted its generations.
    private var isFirst = false
    private var stage = Stage.atRest

    init(generation: UInt32, digest: Bytes32?) {
        self.generation = generation
        storedDigest = digest
    }

    /// Accepts a pool of any generation next, because both identities were proved again.
    mutating func beginSession() {
        stage = .atRest
        isFirst = true
    }

    /// Whether a pool with this digest is stored.
    func hasStored(_ digest: Bytes32) -> Bool { digest == storedDigest }

    /// Abandons the pool that is under way.
    mutating func stop() {
        stage = .atRest
        isFirst = false
    }

    var isAtRest: Bool { if case .atRest = stage { true } else { false } }

    /// The offset of the next part, while parts are awaited.
    var offset: Int? { if case .pulling(_, let bytes) = stage { bytes.count } else { nil } }

    /// Whether a handshake was completed after which no pool was announced yet.
    var awaitsFirst: Bool { isFirst && isAtRest }

    /// Whether a share announces a pool that is neither stored nor pending, and not an older one.
    func isNew(_ share: KeyExchangeMessage.KeyShare) -> Bool {
        if hasStored(share.digest) { return false }
        switch stage {
        case .pulling(share, _), .saving(share): return false
        case .atRest, .pulling, .saving: return isFirst || share.generation > generation
        }
    }

    /// Handles an announcement whose signature was verified.
    mutating func announced(_ share: KeyExchangeMessage.KeyShare) -> Step {
        if hasStored(share.digest) { return .confirm(share.digest) }
        switch stage {
        case .pulling(share, let bytes): return .pull(bytes.count)
        case .saving(share): return .ignore
        case .atRest, .pulling, .saving:
            // An announcement of an older pool is late.
            guard isFirst || share.generation > generation else { return .ignore }
            stage = .pulling(share, bytes: [])
            return .pull(0)
        }
    }

    mutating func part(_ bytes: [UInt8], at offset: Int) -> Step {
        guard case .pulling(let share, var pulled) = stage, offset == pulled.count else { return .ignore }
        guard !bytes.isEmpty, bytes.count <= share.byteCount - pulled.count else { return fail() }
        stage = .atRest  // so that the bytes are not copied
        pulled += bytes
        guard pulled.count == share.byteCount else {
            let next = pulled.count
            stage = .pulling(share, bytes: pulled)
            return .pull(next)
        }
        guard Bytes32(sha256: pulled) == share.digest,
            let pool = try? PublicKeyStore(pulled),  // nil: the peer signed an invalid pool
            pool.suite == share.suite, pool.generation == share.generation
        else { return fail() }
        stage = .saving(share)
        return .save(pool)
    }

    /// The pool is stored.
    mutating func saved() -> Step {
        guard case .saving(let share) = stage else { return .ignore }
        stage = .atRest
        isFirst = false
        generation = share.generation
        storedDigest = share.digest
        return .confirm(share.digest)
    }

    private mutating func fail() -> Step {
        stage = .atRest
        return .refuse
    }
}
