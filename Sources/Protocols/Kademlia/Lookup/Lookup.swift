internal import Algorithms
internal import Identity

/// The search for the members nearest to a target: the next query, and the end of the search.
///
/// Kademlia's iteration (section 2.3) over several paths that share no node (S/Kademlia, section 4.4): the contacts that a
/// node returns are queried on its own path only, so malicious nodes cannot capture all queries. Three more rules limit
/// false answers: a contact is a candidate until it answers itself; a node whose contacts all fail is no longer trusted; and
/// addresses from one node do not replace those from another, but are tried as well.
///
/// A slow query does not delay the search: first another query is sent in its place, then the candidate no longer counts
/// among the nearest, and a late answer restores it.
struct Lookup: Sendable {
    struct Shape: Sendable {
        /// The number of nearest members to find.
        var count: Int
        /// Concurrent queries to connected nodes.
        var parallelism: Int
        /// Pending queries to nodes that must be dialled first, which takes three times as long.
        var dials: Int
        var paths: Int
        /// Candidates remembered.
        var candidates: Int
        /// Whether late ones are waited for even if few name them: they may be as new as this node.
        var isPatient = false
        /// The members beyond the nearest that are queried too, as replacements for those that fail.
        var reserve = 0
        /// Queries at most; an honest network never needs as many.
        var queries = 160
    }

    /// Introducers of one candidate that are remembered.
    private static let introducerLimit = 8
    /// Addresses of one candidate that are remembered; liars may give as many as they like, others give few.
    private static let addressLimit = 4 * Contact.addressLimit

    let target: Bytes32
    private(set) var shape: Shape
    private let local: PeerId
    /// Sorted by distance.
    private(set) var candidates: [Candidate] = []
    private var acquaintances: [Acquaintance] = []
    /// Candidates that were queried before further addresses of theirs became known.
    private var redials: [PeerId] = []
    private var isFirstStep = true
    private(set) var queries = 0
    private(set) var answers = 0

    init(target: Bytes32, local: PeerId, shape: Shape) {
        self.target = target
        self.local = local
        self.shape = shape
    }

    /// The number of its own nearest candidates that each path queries.
    private var pathWindow: Int { (self.shape.count + self.shape.paths - 1) / self.shape.paths + 3 }

    /// The share of one path in something.
    private func share(_ count: Int) -> Int { max(2, (count + self.shape.paths - 1) / self.shape.paths) }

    // MARK: - Candidates

    /// Starts from a member of this node's own table; `isSettled` if it need not be queried.
    mutating func seed(_ contact: Contact, isConnected: Bool, isSettled: Bool = false) {
        guard contact.peerId != self.local, self.index(of: contact.peerId) == nil else { return }
        let path = UInt8(self.acquaintances.count % self.shape.paths)
        let state: State = isSettled ? .answered : .heard
        self.add(contact, path: path, hops: 1, introducer: nil, isConnected: isConnected, state: state)
    }

    /// Records that the peer answered with these contacts; `isConnected` returns whether this node is connected to a peer.
    mutating func answered(_ peer: PeerId, naming contacts: [Contact], isConnected: (PeerId) -> Bool) {
        guard let index = self.index(of: peer), self.candidates[index].state != .answered else { return }
        self.settle(index, as: .answered)
        self.answers += 1
        let answerer = self.candidates[index]
        let hops = answerer.hops &+ (answerer.hops < .max ? 1 : 0)
        for contact in contacts.prefix(self.shape.count) where contact.peerId != self.local {
            if let known = self.index(of: contact.peerId) {
                self.hear(contact, again: known, from: answerer.number, hops: hops)
            } else {
                self.add(
                    contact,
                    path: answerer.path,
                    hops: hops,
                    introducer: answerer.number,
                    isConnected: isConnected(contact.peerId),
                    state: .heard
                )
            }
        }
    }

    mutating func failed(_ peer: PeerId) { self.change(peer, to: .failed) }

    mutating func slow(_ peer: PeerId) { self.change(peer, to: .slow) }

    mutating func overdue(_ peer: PeerId) { self.change(peer, to: .overdue) }

    private mutating func change(_ peer: PeerId, to state: State) {
        guard let index = self.index(of: peer) else { return }
        switch self.candidates[index].state {
        case .pending, .slow, .overdue: self.settle(index, as: state)
        case .heard, .answered, .failed: break
        }
    }

    private mutating func settle(_ index: Int, as state: State) {
        let candidate = self.candidates[index]
        self.candidates[index].state = state
        if candidate.state == .pending, let patron = candidate.patron { self.acquaintances[Int(patron)].waiting -= 1 }
        let wasBad = candidate.state.isBad
        for introducer in self.acquaintances[Int(candidate.number)].introducers {
            if state == .answered { self.acquaintances[Int(introducer)].good += 1 }
            if state.isBad, !wasBad { self.acquaintances[Int(introducer)].bad += 1 }
            if wasBad, !state.isBad { self.acquaintances[Int(introducer)].bad -= 1 }
        }
    }

    private mutating func hear(_ contact: Contact, again index: Int, from introducer: Int32, hops: UInt8) {
        let number = Int(self.candidates[index].number)
        self.candidates[index].mentions &+= 1
        self.candidates[index].hops = min(self.candidates[index].hops, hops)
        if self.acquaintances[number].hear(of: contact.addresses, limit: Self.addressLimit) {
            // The addresses that were tried, or failed, may have been a lie.
            switch self.candidates[index].state {
            case .failed: self.settle(index, as: .heard)
            case .pending, .slow, .overdue: self.redials.append(contact.peerId)
            case .heard, .answered: break
            }
        }
        guard !self.candidates[index].isOwn,
            self.acquaintances[number].introducers.count < Self.introducerLimit
        else { return }
        self.acquaintances[number].introducers.append(introducer)
        if self.candidates[index].state == .answered { self.acquaintances[Int(introducer)].good += 1 }
        if self.candidates[index].state.isBad { self.acquaintances[Int(introducer)].bad += 1 }
    }

    private mutating func add(
        _ contact: Contact,
        path: UInt8,
        hops: UInt8,
        introducer: Int32?,
        isConnected: Bool,
        state: State
    ) {
        guard isConnected || !contact.addresses.isEmpty else { return }
        let distance = Distance(contact.peerId.words, self.target)
        let position = self.position(of: distance)
        if self.candidates.count >= self.shape.candidates {
            // The farthest of the same path that nothing was done about makes room.
            let last = self.candidates.lastIndex { $0.path == path && $0.state == .heard }
            guard let last, last >= position else { return }
            self.candidates.remove(at: last)
        }
        let candidate = Candidate(
            distance: distance,
            number: Int32(self.acquaintances.count),
            path: path,
            hops: hops,
            mentions: 1,
            isOwn: introducer == nil,
            isConnected: isConnected,
            state: state
        )
        self.acquaintances.append(
            Acquaintance(
                contact: contact,
                addressMentions: [UInt8](repeating: 1, count: contact.addresses.count),
                introducers: introducer.map { [$0] } ?? []
            )
        )
        self.candidates.insert(candidate, at: position)
    }

    private func position(of distance: Distance) -> Int {
        self.candidates.partitioningIndex { $0.distance >= distance }
    }

    private func index(of peer: PeerId) -> Int? {
        let distance = Distance(peer.words, self.target)
        let position = self.position(of: distance)
        return position < self.candidates.count && self.candidates[position].distance == distance ? position : nil
    }

    /// Raises the number of nearest members to find.
    mutating func widen(to count: Int) { self.shape.count = max(self.shape.count, count) }

    /// Returns the number of candidates that count and have a first distance word of at most `distance`.
    func count(within distance: UInt64) -> Int {
        var count = 0
        for candidate in self.candidates {
            if candidate.distance.first > distance { break }
            if !self.isOut(candidate) { count += 1 }
        }
        return count
    }

    // MARK: - Steps

    /// Returns the contacts to query now, each of them once.
    mutating func next() -> [Contact] {
        var chosen: [Contact] = []
        let dials = self.isFirstStep ? 1 : self.share(self.shape.dials)
        var slots = Slots(paths: self.shape.paths, connected: self.share(self.shape.parallelism), dialled: dials)
        for candidate in self.candidates where candidate.state == .pending {
            slots.take(path: Int(candidate.path), isConnected: candidate.isConnected)
        }
        var scope = Scope(self)
        for index in self.candidates.indices {
            guard !scope.isOver, self.queries < self.shape.queries else { break }
            if scope.place(self.candidates[index], of: self) != nil { self.select(index, with: &slots, into: &chosen) }
        }
        if self.isFirstStep {
            // Connected members beyond the nearest answer before the nearest are even dialled.
            self.isFirstStep = false
            for index in self.candidates.indices where self.candidates[index].isConnected {
                self.select(index, with: &slots, into: &chosen)
            }
        }
        return chosen
    }

    /// Returns the pending candidates that have further addresses by now, each of them once.
    mutating func takeRedials() -> [Contact] {
        guard !self.redials.isEmpty else { return [] }
        defer { self.redials = [] }
        return self.redials.compactMap { self.contact(of: $0) }
    }

    private mutating func select(_ index: Int, with slots: inout Slots, into chosen: inout [Contact]) {
        let candidate = self.candidates[index]
        guard candidate.state == .heard, self.queries < self.shape.queries else { return }
        let patron = candidate.needsPatron ? self.patron(of: candidate) : nil
        guard patron != nil || !candidate.needsPatron,
            slots.take(path: Int(candidate.path), isConnected: candidate.isConnected)
        else { return }
        self.candidates[index].state = .pending
        self.candidates[index].patron = patron
        if let patron { self.acquaintances[Int(patron)].waiting += 1 }
        self.queries += 1
        chosen.append(self.acquaintances[Int(candidate.number)].contact)
    }

    /// The introducer with the most trust left, if any has.
    private func patron(of candidate: Candidate) -> Int32? {
        var best: (number: Int32, trust: Int32)?
        for introducer in self.acquaintances[Int(candidate.number)].introducers {
            let trust = self.acquaintances[Int(introducer)].trust
            if trust > 0, trust >= best?.trust ?? 0 { best = (introducer, trust) }
        }
        return best?.number
    }

    /// Whether the candidate no longer counts: it does not answer, or all of its introducers have spent their trust.
    private func isOut(_ candidate: Candidate) -> Bool {
        switch candidate.state {
        case .failed, .overdue: return true
        case .pending, .slow, .answered: return false
        case .heard:
            guard candidate.needsPatron else { return false }
            for introducer in self.acquaintances[Int(candidate.number)].introducers {
                let record = self.acquaintances[Int(introducer)]
                if record.bad < record.budget { return false }
            }
            return true
        }
    }

    /// The role of a candidate in the lookup.
    private struct Matter {
        /// Whether it is among the nearest of all, not only of its path or in reserve.
        let isNear: Bool
        /// Whether the lookup ends only when it has been queried.
        let isNeeded: Bool
    }

    /// Walks from the nearest candidate on: the nearest of all matter, some in reserve, and the nearest of each path.
    private struct Scope {
        private let answeredNear: Int
        private let beyond: Int
        private var seen = 0
        private var seenOnPath: [Int]
        private var openPaths: Int

        init(_ lookup: Lookup) {
            self.seenOnPath = [Int](repeating: 0, count: lookup.shape.paths)
            self.openPaths = lookup.shape.paths
            self.beyond = lookup.shape.count + lookup.shape.reserve
            self.answeredNear = lookup.nearHopeful.answered
        }

        /// Whether none of the candidates that follow can matter.
        var isOver: Bool { self.openPaths == 0 && self.seen >= self.beyond }

        /// Takes the next candidate; nil if it does not matter.
        mutating func place(_ candidate: Candidate, of lookup: Lookup) -> Matter? {
            // On a path, failed candidates keep their places, so that the path is not extended for each of them.
            let path = Int(candidate.path)
            self.seenOnPath[path] += 1
            if self.seenOnPath[path] == lookup.pathWindow { self.openPaths -= 1 }
            if lookup.isOut(candidate) || lookup.isGivenUp(candidate, self.answeredNear) { return nil }
            self.seen += 1
            let isNear = self.seen <= lookup.shape.count
            let isNeeded = isNear || self.seenOnPath[path] <= lookup.pathWindow
            return isNeeded || self.seen <= self.beyond ? Matter(isNear: isNear, isNeeded: isNeeded) : nil
        }
    }

    /// The number of nearest candidates that have not failed, and of those among them that have answered.
    var nearHopeful: (count: Int, answered: Int) {
        var (count, answered) = (0, 0)
        for candidate in self.candidates where !self.isOut(candidate) {
            count += 1
            if candidate.state == .answered { answered += 1 }
            if count == self.shape.count { break }
        }
        return (count, answered)
    }

    /// Whether a late one is passed over once three quarters of the nearest have answered and few of them name it.
    ///
    /// Nodes near the target know each other, so a candidate that they do not name has left or was invented.
    private func isGivenUp(_ candidate: Candidate, _ answered: Int) -> Bool {
        candidate.state == .slow && !self.shape.isPatient && answered * 4 >= self.shape.count * 3
            && Int(candidate.mentions) * 3 < answered
    }

    /// Whether enough nodes name a late one, once three quarters of the nearest have answered, that it can do without
    /// an answer: as many as half of the nearest, and a quarter of all, which is more than there should be liars.
    private func isVouchedFor(_ candidate: Candidate, _ answered: Int) -> Bool {
        let mentions = Int(candidate.mentions)
        return !self.shape.isPatient && answered * 4 >= self.shape.count * 3 && mentions * 2 >= answered
            && mentions * 4 >= self.answers
    }

    /// Whether no candidate that matters is left to query or to wait for.
    var isFinished: Bool {
        var scope = Scope(self)
        let answered = self.nearHopeful.answered
        for candidate in self.candidates {
            guard !scope.isOver else { break }
            guard let matter = scope.place(candidate, of: self) else { continue }
            switch candidate.state {
            case .heard: if matter.isNeeded, self.queries < self.shape.queries { return false }
            case .pending: if matter.isNeeded { return false }
            case .slow: if matter.isNear, !self.isVouchedFor(candidate, answered) { return false }
            case .overdue, .answered, .failed: break
            }
        }
        return true
    }

    /// The nearest candidates that answered, and late ones that are vouched for, the nearest first.
    ///
    /// A quarter at most are late, so that inventions that liars agree on cannot push those out that answered.
    var nearest: [Answerer] {
        let answered = self.nearHopeful.answered
        var late = self.shape.count / 4
        var found: [Answerer] = []
        for candidate in self.candidates where found.count < self.shape.count {
            let isLate = late > 0 && candidate.state == .slow && self.isVouchedFor(candidate, answered)
            guard isLate || candidate.state == .answered else { continue }
            if isLate { late -= 1 }
            let contact = self.acquaintances[Int(candidate.number)].contact
            found.append(Answerer(contact: contact, distance: candidate.distance, hops: Int(candidate.hops)))
        }
        return found
    }

    func hops(of peer: PeerId) -> Int? { self.index(of: peer).map { Int(self.candidates[$0].hops) } }

    func contact(of peer: PeerId) -> Contact? {
        self.index(of: peer).map { self.acquaintances[Int(self.candidates[$0].number)].contact }
    }
}
