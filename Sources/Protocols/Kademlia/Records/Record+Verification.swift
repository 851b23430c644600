package import Identity

/// Why a record is not honoured.
package enum RecordProblem: Error, Hashable, Sendable {
    /// It expired at this second since 1970.
    case expired(at: UInt64)
    /// It expires later than any record may.
    case expiresTooLate
    /// Its version lies in the future: the writer's clock is wrong, or it tries to remain the newest permanently.
    case versionInFuture
    /// Its writer has been revoked.
    case revokedWriter
    /// The membership in it does not cover it: not the network's word, or it ends before the record does.
    case writerIsNoMember
    /// The writer did not sign this.
    case badSignature
}

extension RecordProblem {
    /// Whether an honest node may have sent the record nevertheless, because clocks and knowledge differ.
    package var mayBeHonest: Bool {
        switch self {
        case .expired, .expiresTooLate, .versionInFuture, .revokedWriter: true
        case .writerIsNoMember, .badSignature: false
        }
    }
}

extension Record.Head {
    /// The first reason, cheap ones first, not to honour the record at `nowSeconds`; nil when it is good.
    package func problem(
        at nowSeconds: UInt64,
        in network: NetworkId,
        limits: Kademlia.Limits,
        revoked: (PeerId) -> Bool,
        verifyToken: (AccessToken) -> Bool,
        verifySignature: (Ed25519PublicKey, _ message: [UInt8], _ signature: [UInt8]) -> Bool
    ) -> RecordProblem? {
        if UnixTime.isPast(expirySeconds, at: nowSeconds) { return .expired(at: expirySeconds) }
        let latest = nowSeconds + limits.lifetimeSeconds + limits.clockToleranceSeconds
        if expirySeconds > latest { return .expiresTooLate }
        if version > Record.highestVersion(at: nowSeconds + limits.clockToleranceSeconds) {
            return .versionInFuture
        }
        if revoked(writer) { return .revokedWriter }
        if let end = membership.expirationSeconds, end < expirySeconds { return .writerIsNoMember }
        do {
            if !verifyToken(try token(in: network)) { return .writerIsNoMember }
        } catch {
            return .writerIsNoMember
        }
        let message = signedBytes(in: network)
        return verifySignature(writerKey, message, signature.bytes) ? nil : .badSignature
    }
}
