internal import Identity

/// A network this node belongs to.
struct Membership: Sendable {
    var own: OwnToken
    /// Replaced by ``replaceRevocations(with:)`` alone, which also sets the clock.
    var revocations: KnownRevocations
    var clock = NetworkClock()
    /// The connections on which something was agreed, or is being agreed, about this network.
    var connections = Ascending<ConnectionId>()
    /// The peers that are admitted.
    var admitted = Ascending<PeerId>()
    var secrets = KnownSecrets()
    /// The peers discovered on the local network; looked up by key, and iterated only in order.
    var heard: [PeerId: [SocketAddress]] = [:]
    /// The ends of the tokens that peers showed.
    var tokenEnds = TokenEnds()

    init(token: AccessToken, obtainedSeconds: UInt64, revocations: RevocationSet) {
        own = OwnToken(token, obtainedSeconds: obtainedSeconds)
        self.revocations = KnownRevocations(revocations)
        clock.note(revocations)
    }

    mutating func replaceToken(with token: AccessToken, obtainedSeconds: UInt64) {
        own = OwnToken(token, obtainedSeconds: obtainedSeconds)
    }

    /// Merges revocations that `verifySignature` accepts, all of them or none.
    ///
    /// Returns those that are new, or newer than before; nil if nothing changed.
    mutating func merge(
        _ entries: [Revocation],
        verifySignature: (Revocation) -> Bool
    ) throws(IdentityError) -> [Revocation]? {
        let before = revocations.set
        var after = before
        guard try after.merge(entries, verifySignature: verifySignature) > 0 else { return nil }
        replaceRevocations(with: after)
        return after.revocations.filter { before[$0.peerId] != $0 }
    }

    mutating func replaceRevocations(with set: RevocationSet) {
        revocations = KnownRevocations(set)
        clock.note(set)
    }
}

/// The revocations of one network that this node knows, and their digest.
struct KnownRevocations: Sendable {
    let set: RevocationSet
    private var knownDigest: [UInt8]?

    init(_ set: RevocationSet) {
        self.set = set
    }

    /// The digest of the set, computed once.
    var digest: [UInt8] {
        mutating get {
            if let digest = knownDigest { return digest }
            let digest = self.set.digest
            knownDigest = digest
            return digest
        }
    }
}

/// The known secrets of one network.
struct KnownSecrets: Sendable {
    /// The keys of the beacons; nil until a member sent one.
    private(set) var member: MemberSecrets?
    /// The key to which a device without a member secret encrypts its probes.
    var rendezvous: RendezvousKey?

    /// The rendezvous key, unless it belongs to one of the secrets that this node has.
    var unansweredRendezvous: RendezvousKey? {
        guard let rendezvous, member?.all.contains(where: { $0.rendezvous.publicKey == rendezvous }) != true else {
            return nil
        }
        return rendezvous
    }

    /// Adds a member secret; returns whether it is the one in use from now on.
    mutating func insert(_ secret: MemberSecret) -> Bool {
        guard var secrets = member else {
            member = MemberSecrets(secret)
            return true
        }
        let isInUse = secrets.insert(secret)
        member = secrets
        return isInUse
    }
}

/// The time that decides about expiry in one network.
///
/// It is the wall clock, unless that is behind a time signed by the network's owner by more than the clock tolerance: a
/// clock that is set back must not extend tokens.
struct NetworkClock: Sendable {
    /// The latest known time that the network's key signed.
    private var latestSignedSeconds: UInt64 = 0
    /// Whether it was reported that the wall clock is behind.
    private var isLagReported = false

    mutating func note(_ set: RevocationSet) {
        for entry in set.revocations { latestSignedSeconds = max(latestSignedSeconds, entry.seconds) }
    }

    func expirySeconds(at wallSeconds: UInt64, tolerance: UInt64) -> UInt64 {
        lag(at: wallSeconds, tolerance: tolerance) == nil ? wallSeconds : latestSignedSeconds
    }

    private func lag(at wallSeconds: UInt64, tolerance: UInt64) -> UInt64? {
        guard latestSignedSeconds > wallSeconds else { return nil }
        let lag = latestSignedSeconds - wallSeconds
        return lag > tolerance ? lag : nil
    }

    /// Returns the seconds by which the wall clock is behind unless they were reported; nil if it is not.
    mutating func takeLag(at wallSeconds: UInt64, tolerance: UInt64) -> UInt64? {
        let lag = self.lag(at: wallSeconds, tolerance: tolerance)
        let wasReported = isLagReported
        isLagReported = lag != nil
        return wasReported ? nil : lag
    }
}
