internal import Identity

/// Bounds the work that datagrams can cause, for each source and for all of them.
///
/// Any device on the link can send anything, under any source address. So each source has its own budget, unknown sources
/// share one budget, and known ones, from which a verified announcement was received recently, share another: a flood from
/// unknown sources does not affect members, and one member's flood is charged to that member alone.
struct SourceBudget: Sendable {
    /// The kinds of work that a datagram can cause.
    enum Work: Int, CaseIterable, Sendable {
        /// Trying a key on a datagram: about a microsecond.
        case trial
        /// Verifying an announcement, two signatures at most: about a hundred microseconds.
        case proof
        /// Opening a rendezvous probe: an agreement of keys, about as much again.
        case rendezvousProbe

        /// For one source.
        fileprivate var ownRate: RateLimit {
            switch self {
            case .trial: RateLimit(perSecond: 5000, atOnce: 20000)
            case .proof: RateLimit(perSecond: 20, atOnce: 400)
            case .rendezvousProbe: RateLimit(perSecond: 1, atOnce: 10)
            }
        }

        /// For all unknown, or all known, sources together.
        fileprivate func sharedRate(isKnown: Bool) -> RateLimit {
            switch self {
            case .trial: RateLimit(perSecond: 20000, atOnce: 40000)
            case .proof: isKnown ? RateLimit(perSecond: 400, atOnce: 2000) : RateLimit(perSecond: 100, atOnce: 1000)
            case .rendezvousProbe: RateLimit(perSecond: 20, atOnce: 100)
            }
        }
    }

    /// The time for which a source stays known after a verified announcement: longer than any of its silences.
    private static let knownFor = Duration.seconds(300)
    /// Unknown sources remembered, twice over: a flood under many addresses is bounded by the shared token bucket.
    private static let unverifiedLimit = 512
    /// Known sources remembered, twice over.
    private static let knownLimit = 512

    private struct Source: Sendable {
        var buckets = Buckets()
        var knownUntil = Duration.zero
    }

    private struct Buckets: Sendable {
        private var trial = TokenBucket()
        private var proof = TokenBucket()
        private var rendezvousProbe = TokenBucket()

        subscript(work: Work) -> TokenBucket {
            get {
                switch work {
                case .trial: trial
                case .proof: proof
                case .rendezvousProbe: rendezvousProbe
                }
            }
            set {
                switch work {
                case .trial: trial = newValue
                case .proof: proof = newValue
                case .rendezvousProbe: rendezvousProbe = newValue
                }
            }
        }
    }

    private var unverified = RecentlyUsed<IPAddress, Source>(limit: unverifiedLimit)
    private var known = RecentlyUsed<IPAddress, Source>(limit: knownLimit)
    private var unverifiedShare = Buckets()
    private var knownShare = Buckets()

    /// The number of sources that are remembered.
    var count: Int { unverified.count + known.count }

    /// Whether there is room for more of `work` for this source.
    func hasRoom(for work: Work, from source: SocketAddress, at now: Duration) -> Bool {
        let (entry, isKnown) = entry(of: AddressSource(source.ip), at: now)
        let share = isKnown ? knownShare : unverifiedShare
        return entry.buckets[work].hasRoom(under: work.ownRate, at: now)
            && share[work].hasRoom(under: work.sharedRate(isKnown: isKnown), at: now)
    }

    /// Counts `work` that was done for this source.
    mutating func charge(_ work: Work, count: Int = 1, to source: SocketAddress, at now: Duration) {
        let key = AddressSource(source.ip)
        var (entry, isKnown) = entry(of: key, at: now)
        entry.buckets[work].charge(count, under: work.ownRate, at: now)
        if isKnown {
            knownShare[work].charge(count, under: work.sharedRate(isKnown: true), at: now)
            known[key.address] = entry
        } else {
            unverifiedShare[work].charge(count, under: work.sharedRate(isKnown: false), at: now)
            unverified[key.party] = entry
        }
    }

    /// Marks a source as known after a verified announcement.
    mutating func vouch(for source: SocketAddress, at now: Duration) {
        let key = AddressSource(source.ip)
        var entry = entry(of: key, at: now).0
        entry.knownUntil = now + Self.knownFor
        known[key.address] = entry
    }

    /// Returns the entry of a source: of a known one that of its address, so that no other address of its network is
    /// charged to it.
    private func entry(of source: AddressSource, at now: Duration) -> (Source, isKnown: Bool) {
        let known = known[source.address]
        if let known, known.knownUntil > now { return (known, true) }
        return (unverified[source.party] ?? known ?? Source(), false)
    }
}
