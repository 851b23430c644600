internal import Identity

/// The addresses where the peer of a session may be, and when they are probed.
struct Probing: Sendable {
    /// The time at which it began: for an offer, once the two were brought together.
    var since: Duration
    private(set) var candidates: [Candidate] = []
    /// The answers to the peer's own probes.
    var answers = TokenBucket()

    init(since: Duration) {
        self.since = since
    }

    var isWorking: Bool { candidates.contains { $0.workedAt != nil } }
    /// The time of the next probe.
    var dueAt: Duration? { candidates.lazy.compactMap(\.probeAt).min() }
    /// The number of addresses that are known only from the peer's own probes.
    var heardCount: Int { candidates.count { $0.kind == .heard } }

    subscript(position: Int) -> Candidate {
        get { candidates[position] }
        _modify { yield &candidates[position] }
    }

    func position(of way: Session.Way) -> Int? { candidates.firstIndex { $0.way == way } }

    mutating func add(_ candidate: Candidate) { candidates.append(candidate) }

    // MARK: Answers

    /// Notes that the peer answered on this path; returns the time of the first probe, or nil if it answered before.
    mutating func answered(_ way: Session.Way, _ sentAt: Duration, at now: Duration) -> Duration? {
        if position(of: way) == nil {
            add(Candidate(way: way, kind: .heard, isUnobserved: true, firstAt: sentAt))
        }
        guard let position = self.position(of: way), candidates[position].workedAt == nil else { return nil }
        candidates[position].worked(at: now)
        return candidates[position].firstAt ?? sentAt
    }

    /// The rank of the best address that works.
    var bestRank: Int? { candidates.filter { $0.workedAt != nil }.map(\.rank).min() }

    /// The first of the best addresses that work.
    var best: Session.Way? {
        var best: Candidate?
        for candidate in candidates where candidate.workedAt != nil && candidate.rank < best?.rank ?? .max {
            best = candidate
        }
        return best?.way
    }

    /// Whether an address that is still probed would be better.
    func isBetterPossible(than rank: Int) -> Bool {
        candidates.contains { $0.rank < rank && $0.workedAt == nil && $0.probeAt != nil }
    }

    /// Stops the probes.
    mutating func stop() {
        for position in candidates.indices { candidates[position].probeAt = nil }
    }

    /// Notes that an address that worked does not after all.
    mutating func dismiss(_ address: SocketAddress) {
        for position in candidates.indices where candidates[position].way.address == address {
            candidates[position].workedAt = nil
        }
    }
}

/// An address where the peer may be.
struct Candidate: Sendable {
    let way: Session.Way
    let kind: Reach.AddressKind
    /// The lower the better.
    let rank: Int
    /// Whether only the peer names it.
    let isUnobserved: Bool
    private(set) var firstAt: Duration?
    private(set) var lastAt: Duration?
    var probeAt: Duration?
    /// The time of its answer.
    fileprivate(set) var workedAt: Duration?
    /// Probes so far.
    private(set) var count = 0

    init(
        way: Session.Way,
        kind: Reach.AddressKind,
        isUnobserved: Bool,
        firstAt: Duration? = nil,
        probeAt: Duration? = nil
    ) {
        self.way = way
        self.kind = kind
        rank = Self.rank(of: way.address)
        self.isUnobserved = isUnobserved
        self.firstAt = firstAt
        self.probeAt = probeAt
    }

    /// IPv6 first, then the local network, then the rest.
    private static func rank(of address: SocketAddress) -> Int {
        if address.isPrivate { return 1 }
        return address.isIPv6 ? 0 : 2
    }

    /// Notes that a probe is sent; the next one is due at `next`.
    mutating func probed(at now: Duration, next: Duration?) {
        if count == 0 { firstAt = now }
        count += 1
        lastAt = now
        probeAt = next
    }

    /// Notes that it answered.
    fileprivate mutating func worked(at now: Duration) {
        workedAt = now
        probeAt = nil
    }
}

extension Session {
    /// Sends the probes that are due.
    mutating func probe(_ probes: inout Probes, _ limits: Reach.Limits, _ turn: inout Reach.Turn) {
        for position in probing.candidates.indices {
            let candidate = probing[position]
            guard let time = candidate.probeAt, time <= turn.now else { continue }
            let address = candidate.way.address
            probing[position].probeAt = nil
            switch permission(candidate, &probes.ledger, turn.now) {
            case .granted: break
            case .later:
                let next = nextProbe(candidate.count, limits, turn.now)
                let earliest = turn.now + limits.probeInterval
                probing[position].probeAt = next.map { max($0, earliest) }
                continue
            case .refused:
                if candidate.count == 0 { turn.emit(.host(.record(peer, .leftOut(address, .usedUp)))) }
                continue
            }
            if candidate.count == 0 { turn.emit(.host(.record(peer, .tried(address, candidate.kind)))) }
            probing[position].probed(at: turn.now, next: nextProbe(candidate.count + 1, limits, turn.now))
            probes.send(to: candidate.way, for: self, &turn)
        }
    }

    /// Whether an address gets one more probe; the address that the connection itself used always does.
    private func permission(_ candidate: Candidate, _ ledger: inout Ledger, _ now: Duration) -> Ledger.Permission {
        guard candidate.kind != .used else { return .granted }
        return ledger.takeProbe(
            to: candidate.way.address,
            isUnobserved: candidate.isUnobserved,
            of: peer,
            over: voucher,
            at: now
        )
    }

    /// Returns the time of the next probe of an address that got `count`.
    private func nextProbe(_ count: Int, _ limits: Reach.Limits, _ now: Duration) -> Duration? {
        guard isOfferAnswer else {
            let plan = limits.pathProbes
            return count < plan.count ? probing.since + plan[count] : nil
        }
        let next = now + limits.probeInterval
        return next < probing.since + limits.punchTime ? next : nil
    }
}
