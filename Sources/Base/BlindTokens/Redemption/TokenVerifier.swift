/// The checks of a gateway on a token before it consults its spent set.
///
/// They run in the order shape, key, challenge, signature: the cheap ones first, and each refusal names the first one
/// that failed. A valid token can have been redeemed before; its ``TokenInput/spendId`` is the key of the spent set.
public struct TokenVerifier: Sendable {
    /// A key under which tokens are accepted.
    public struct AcceptedKey: Hashable, Sendable {
        /// The public key.
        public let publicKey: TokenPublicKey
        /// The first second since 1970 at which the key is no longer accepted; nil without a limit.
        public let acceptedUntil: UInt64?

        /// Creates an accepted key, which overlaps with its successor until `acceptedUntil`.
        public init(_ publicKey: TokenPublicKey, acceptedUntil: UInt64? = nil) {
            self.publicKey = publicKey
            self.acceptedUntil = acceptedUntil
        }
    }

    /// A token whose signature verifies, and the epoch of its spent set.
    public struct Verified: Hashable, Sendable {
        /// The token.
        public let token: Token
        /// The epoch of its challenge.
        public let epoch: ExitEpoch
    }

    /// The number of past epochs whose tokens are recognised in a refusal.
    private static let namedEpochs: UInt64 = 4

    /// The host name of the issuer.
    public let issuerName: String
    /// The name of the exit.
    public let originInfo: String
    /// The accepted keys.
    public let keys: [AcceptedKey]
    /// The digests of the challenges of the epochs that were accepted when the verifier was made.
    let digests: [ExitEpoch: [UInt8]]

    /// Creates a verifier for the tokens of one issuer at one exit.
    ///
    /// It computes the challenges of the epochs that are accepted at the time `now`, in seconds since 1970. Tokens are
    /// verified at any time, but the challenge of another epoch is computed for each of them: make a new verifier in
    /// each epoch.
    ///
    /// - Throws: ``BlindTokenError/malformed(_:reason:)`` for names that a challenge cannot carry.
    public init(
        issuerName: String,
        originInfo: String,
        keys: [AcceptedKey],
        at now: UInt64
    ) throws(BlindTokenError) {
        var digests: [ExitEpoch: [UInt8]] = [:]
        for epoch in ExitEpoch.accepted(at: now) {
            digests[epoch] = try epoch.challenge(issuerName: issuerName, originInfo: originInfo).challengeDigest
        }
        self.issuerName = issuerName
        self.originInfo = originInfo
        self.keys = keys
        self.digests = digests
    }

    /// Verifies an encoded token at the time `now` in seconds since 1970.
    ///
    /// - Throws: The first check that failed.
    public func verify(_ bytes: [UInt8], at now: UInt64) throws(TokenRefusal) -> Verified {
        let token = try Self.token(bytes)
        guard
            let key = keys.first(where: { key in
                key.publicKey.keyId == token.input.keyId && key.acceptedUntil.map { now < $0 } ?? true
            })
        else { throw .otherKey }
        let epoch = try epoch(of: token, at: now)
        guard key.publicKey.isValid(token.authenticator, for: token.input) else { throw .forged }
        return Verified(token: token, epoch: epoch)
    }

    private static func token(_ bytes: [UInt8]) throws(TokenRefusal) -> Token {
        do {
            return try Token(bytes)
        } catch {
            if case .unsupportedType = error, bytes.count == Token.byteCount { throw .wrongType }
            throw .wrongSize
        }
    }

    private func epoch(of token: Token, at now: UInt64) throws(TokenRefusal) -> ExitEpoch {
        let present = ExitEpoch(at: now)
        if let epoch = ExitEpoch.accepted(at: now).first(where: { matches(token, $0) }) { return epoch }
        let first = present.number - min(present.number, Self.namedEpochs)
        let others = (first...present.number).map { ExitEpoch(number: $0) } + [ExitEpoch(number: present.number + 1)]
        throw others.contains { matches(token, $0) } ? .otherEpoch : .otherChallenge
    }

    private func matches(_ token: Token, _ epoch: ExitEpoch) -> Bool {
        (digests[epoch] ?? digest(of: epoch)) == token.input.challengeDigest
    }

    private func digest(of epoch: ExitEpoch) -> [UInt8]? {
        let challenge = try? epoch.challenge(issuerName: issuerName, originInfo: originInfo)  // checked in init
        return challenge?.challengeDigest
    }
}
