internal import Bytes
internal import Concurrency
internal import Crypto
internal import DequeModule

/// The issuer of challenges: each is good for ten minutes, one completed ceremony and one purpose.
///
/// `now` is in seconds of the process's monotonic clock, as long as the key lives.
final class ChallengeAuthority: Sendable {
    /// The life of a challenge, in seconds.
    static let lifeSeconds: UInt64 = 600
    private static let label = Array("runar/identity-challenge/v1".utf8)
    private static let bindingLabel = Array("runar/identity-binding/v1".utf8)
    private static let userLabel = Array("runar/identity-user/v1".utf8)

    private let key: SymmetricKey
    private let completed = Locked(CompletedChallenges())

    /// Creates an authority with a new key.
    init() {
        key = SymmetricKey(size: .bits256)
    }

    /// Issues a challenge; nothing is stored.
    func issue(
        _ purpose: Challenge.Purpose,
        for context: [UInt8],
        at now: UInt64,
        using random: inout some RandomNumberGenerator
    ) -> Challenge {
        Challenge(
            purpose: purpose,
            expirySeconds: now + Self.lifeSeconds,
            nonce: (0..<Challenge.nonceByteCount).map { _ in UInt8.random(in: .min ... .max, using: &random) },
            binding: binding(to: context),
            sign: { mac(Self.label, $0, Challenge.tagByteCount) }
        )
    }

    /// Checks that this authority issued a challenge for one of `purposes`, and that it has neither expired nor been used.
    ///
    /// - Throws: ``ChallengeError``.
    func check(
        _ challenge: Challenge,
        _ purposes: Set<Challenge.Purpose>,
        at now: UInt64
    ) throws(ChallengeError) {
        let tag = mac(Self.label, challenge.unsignedBytes, Challenge.tagByteCount)
        guard purposes.contains(challenge.purpose), ConstantTime.areEqual(tag, challenge.tag) else { throw .foreign }
        guard now < challenge.expirySeconds else { throw .expired }
        guard !completed.withLock({ $0.contains(challenge) }) else { throw .used }
    }

    /// Returns the binding of a context in a challenge.
    func binding(to context: [UInt8]) -> [UInt8] { mac(Self.bindingLabel, context, Challenge.nonceByteCount) }

    /// Whether a checked challenge was issued for a context.
    func isBound(_ challenge: Challenge, to context: [UInt8]) -> Bool {
        ConstantTime.areEqual(binding(to: context), challenge.binding)
    }

    /// Marks a checked challenge as used, before anything of its ceremony takes effect.
    ///
    /// - Throws: ``ChallengeError/used`` if another answer to it was completed first.
    func complete(_ challenge: Challenge, at now: UInt64) throws(ChallengeError) {
        guard completed.withLock({ $0.insert(challenge, at: now) }) else { throw .used }
    }

    /// Returns 16 bytes that only this challenge has: those of the user id that its registration creates.
    func userBytes(of challenge: Challenge) -> [UInt8] { mac(Self.userLabel, challenge.bytes, 16) }

    private func mac(_ label: [UInt8], _ message: [UInt8], _ byteCount: Int) -> [UInt8] {
        Array(HMAC<SHA256>.authenticationCode(for: label + message, using: key).prefix(byteCount))
    }
}

/// The challenges of completed ceremonies, until they expire.
///
/// Each entry is a ceremony that passed all checks, so the writes to the disk bound their number.
private struct CompletedChallenges {
    private var nonces: Set<[UInt8]> = []
    /// In the order of completion, at most ``ChallengeAuthority/lifeSeconds`` before the expiry.
    private var order: Deque<(nonce: [UInt8], completed: UInt64)> = []

    func contains(_ challenge: Challenge) -> Bool { nonces.contains(challenge.nonce) }

    mutating func insert(_ challenge: Challenge, at now: UInt64) -> Bool {
        while let first = order.first, first.completed + ChallengeAuthority.lifeSeconds <= now {
            nonces.remove(first.nonce)
            order.removeFirst()
        }
        guard nonces.insert(challenge.nonce).inserted else { return false }
        order.append((challenge.nonce, now))
        return true
    }
}
