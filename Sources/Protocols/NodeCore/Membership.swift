internal import Identity

/// A network this node belongs to.
struct Membership: Sendable {
    private(set) var token: AccessToken
    /// When this node got the token, by the wall clock.
    private(set) var obtainedSeconds: UInt64
    /// The revocations known, and their digest as long as it holds.
    private(set) var revocations: RevocationSet
    private var knownDigest: [UInt8]?
    /// Whether the owner of this node was told that the token is over; a clock set back makes it good again.
    var isExpired = false
    /// The latest time that the network's key signed, as far as this node has seen.
    var latestSignedSeconds: UInt64 = 0
    /// Whether the owner of this node was told that its clock is behind.
    var isClockReported = false
    /// The connections on which something was agreed, or is being agreed, about this network.
    var connections = Ascending<ConnectionId>()
    /// The peers that are admitted.
    var admitted = Ascending<PeerId>()
    /// What only members know, as far as this node does; nil until a member told it.
    var secrets: MemberSecrets?
    /// To which a device that has no secret yet can call.
    var rendezvous: RendezvousKey?
    /// The peers that are heard on the local network; looked up, and walked only in order.
    var heard: [PeerId: [SocketAddress]] = [:]
    /// When everybody connected was last asked for a new token, and when somebody was last warned of the old one's end,
    /// by the wall clock.
    var askedSeconds: UInt64?
    var warnedSeconds: UInt64?
    /// The ends of the tokens that peers showed.
    var tokenEnds = TokenEnds()

    init(token: AccessToken, obtainedSeconds: UInt64, revocations: RevocationSet) {
        self.token = token
        self.obtainedSeconds = obtainedSeconds
        self.revocations = revocations
        self.noteSignedTimes()
    }

    /// The digest of the revocations, counted once for each state of the set.
    var revocationDigest: [UInt8] {
        mutating get {
            if let digest = self.knownDigest { return digest }
            let digest = self.revocations.digest
            self.knownDigest = digest
            return digest
        }
    }

    mutating func replaceToken(with token: AccessToken, obtainedSeconds: UInt64) {
        self.token = token
        self.obtainedSeconds = obtainedSeconds
        self.isExpired = false
        self.askedSeconds = nil
        self.warnedSeconds = nil
    }

    /// Merges revocations that `verifySignature` accepts, all of them or none.
    ///
    /// Returns those that are new, or newer than before; nil if nothing changed.
    mutating func merge(
        _ entries: [Revocation],
        verifySignature: (Revocation) -> Bool
    ) throws(IdentityError) -> [Revocation]? {
        let before = self.revocations
        var after = before
        guard try after.merge(entries, verifySignature: verifySignature) > 0 else { return nil }
        self.replaceRevocations(with: after)
        return after.revocations.filter { before[$0.peerId] != $0 }
    }

    /// Adds a member secret; returns whether it is the one in use from now on.
    mutating func insert(_ secret: MemberSecret) -> Bool {
        guard var secrets = self.secrets else {
            self.secrets = MemberSecrets(secret)
            return true
        }
        let isInUse = secrets.insert(secret)
        self.secrets = secrets
        return isInUse
    }

    mutating func replaceRevocations(with set: RevocationSet) {
        self.revocations = set
        self.knownDigest = nil
        self.noteSignedTimes()
    }

    private mutating func noteSignedTimes() {
        for entry in self.revocations.revocations {
            self.latestSignedSeconds = max(self.latestSignedSeconds, entry.seconds)
        }
    }
}
