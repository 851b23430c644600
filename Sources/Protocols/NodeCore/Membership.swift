internal import HeapModule
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
    /// The ends of peers' tokens, the earliest first; an entry that differs from `endsByConnection` is stale.
    private var ends: Heap<TokenEnd> = []
    /// The end of the last token on each connection, in seconds since 1970.
    private var endsByConnection: [ConnectionId: UInt64] = [:]

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

    // MARK: Ends of tokens

    mutating func noteEnd(of token: AccessToken, on id: ConnectionId) {
        guard let seconds = token.expirationSeconds else { return self.forgetEnd(on: id) }
        guard self.endsByConnection.updateValue(seconds, forKey: id) != seconds else { return }
        self.ends.insert(TokenEnd(seconds: seconds, connection: id))
        self.dropStaleEnds()
    }

    /// Forgets the end of the token that a peer showed on a connection.
    mutating func forgetEnd(on id: ConnectionId) {
        if self.endsByConnection.removeValue(forKey: id) != nil { self.dropStaleEnds() }
    }

    /// Builds the heap anew when most of it is stale, so that it never holds more than a few times what counts.
    private mutating func dropStaleEnds() {
        guard self.ends.count > 2 * self.endsByConnection.count + 16 else { return }
        self.ends = Heap(self.endsByConnection.map { TokenEnd(seconds: $0.value, connection: $0.key) })
    }

    /// The number of entries in memory, stale ones included.
    var endCount: Int { self.ends.count }

    /// When the next token of a peer ends.
    var nextEnd: UInt64? { self.ends.min?.seconds }

    /// Takes the connection of a token that has ended by `seconds`.
    mutating func takeEnded(at seconds: UInt64) -> ConnectionId? {
        while let first = self.ends.min, UnixTime.isPast(first.seconds, at: seconds) {
            self.ends.removeMin()
            guard self.endsByConnection[first.connection] == first.seconds else { continue }
            self.endsByConnection[first.connection] = nil
            return first.connection
        }
        return nil
    }
}

/// When the token that a peer showed on a connection ends.
private struct TokenEnd: Comparable, Sendable {
    let seconds: UInt64
    let connection: ConnectionId

    static func < (left: TokenEnd, right: TokenEnd) -> Bool {
        left.seconds == right.seconds ? left.connection < right.connection : left.seconds < right.seconds
    }
}
