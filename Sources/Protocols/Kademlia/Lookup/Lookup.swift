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
    private var pathWindow: Int { (shape.count + shape.paths - 1) / shape.paths + 3 }

    /// The share of one path in something.
    private func share(_ count: Int) -> Int { max(2, (count + shape.paths - 1) / shape.paths) }

    // MARK: - Candidates

    /// Starts from a member of this node's own table; `isSettled` if it need not be queried.
    mutating func seed(_ contact: Contact, isConnected: Bool, isSettled: Bool = false) {
        guard contact.peerId != local, index(of: contact.peerId) == nil else { return }
        let path = UInt8(acquaintances.count % shape.paths)
        let state: State = isSettled ? .answered : .heard
        add(contact, path: path, hops: 1, introducer: nil, isConnected: isConnected, state: state)
    }

    /// Records that the peer answered with these contacts; `isConnected` returns whether this node is connected to a peer.
    mutating func answered(_ peer: PeerId, naming contacts: [Contact], isConnected: (PeerId) -> Bool) {
        guard let index = self.index(of: peer), candidates[index].state != .answered else { return }
        settle(index, as: .answered)
        answers += 1
        let answerer = candidates[index]
        let hops = answerer.hops &+ (answerer.hops < .max ? 1 : 0)
        for contact in contacts.prefix(shape.count) where contact.peerId != local {
            if let known = self.index(of: contact.peerId) {
                hear(contact, again: known, from: answerer.number, hops: hops)
            } else {
                add(
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

    mutating func failed(_ peer: PeerId) { change(peer, to: .failed) }

    mutating func slow(_ peer: PeerId) { change(peer, to: .slow) }

    mutating func overdue(_ peer: PeerId) { change(peer, to: .overdue) }

    private mutating func change(_ peer: PeerId, to state: State) {
        guard let index = self.index(of: peer) else { return }
        switch candidates[index].state {
        case .pending, .slow, .overdue: settle(index, as: state)
        case .heard, .answered, .failed: break
        }
    }

    private mutating func settle(_ index: Int, as state: State) {
        let candidate = candidates[index]
        candidates[index].state = state
        if candidate.state == .pending, let patron = candidate.patron { acquaintances[Int(patron)].waiting -= 1 }
        let wasBad = candidate.state.isBad
        for introducer in acquaintances[Int(candidate.number)].introducers {
            if state == .answered { acquaintances[Int(introducer)].good += 1 }
            if state.isBad, !wasBad { acquaintances[Int(introducer)].bad += 1 }
            if wasBad, !state.isBad { acquaintances[Int(introducer)].bad -= 1 }
        }
    }

    private mutating func hear(_ contact: Contact, again index: Int, from introducer: Int32, hops: UInt8) {
        let number = Int(candidates[index].number)
        candidates[index].mentions &+= 1
        candidates[index].hops = min(candidates[index].hops, hops)
        if acquaintances[number].hear(of: contact.addresses, limit: Self.addressLimit) {
            // The addresses that were tried, or failed, may have been a lie.
            switch candidates[index].state {
            case .failed: settle(index, as: .heard)
            case .pending, .slow, .overdue: redials.append(contact.peerId)
            case .heard, .answered: break
            }
        }
        guard !candidates[index].isOwn, acquaintances[number].introducers.count < Self.introducerLimit else { return }
        acquaintances[number].introducers.append(introducer)
        if candidates[index].state == .answered { acquaintances[Int(introducer)].good += 1 }
        if candidates[index].state.isBad { acquaintances[Int(introducer)].bad += 1 }
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
        let distance = Distance(contact.peerId.words, target)
        let position = self.position(of: distance)
        if candidates.count >= shape.candidates {
            // The farthest of the same path that nothing was done about makes room.
            let last = candidates.lastIndex { $0.path == path && $0.state == .heard }
            guard let last, last >= position else { return }
            candidates.remove(at: last)
        }
        let candidate = Candidate(
            distance: distance,
            number: Int32(acquaintances.count),
            path: path,
            hops: hops,
            mentions: 1,
            isOwn: introducer == nil,
            isConnected: isConnected,
            state: state
        )
        acquaintances.append(
            Acquaintance(
                contact: contact,
                addressMentions: [UInt8](repeating: 1, count: contact.addresses.count),
                introducers: introducer.map { [$0] } ?? []
            )
        )
        candidates.insert(candidate, at: position)
    }

    private func position(of distance: Distance) -> Int {
        candidates.partitioningIndex { $0.distance >= distance }
    }

    private func index(of peer: PeerId) -> Int? {
        let distance = Distance(peer.words, target)
        let position = self.position(of: distance)
        return position < candidates.count && candidates[position].distance == distance ? position : nil
    }

    /// Raises the number of nearest members to find.
    mutating func widen(to count: Int) { shape.count = max(shape.count, count) }

    /// Returns the number of candidates that count and have a first distance word of at most `distance`.
    func count(within distance: UInt64) -> Int {
        var count = 0
        for candidate in candidates {
            if candidate.distance.first > distance { break }
            if !isOut(candidate) { count += 1 }
        }
        return count
    }

    // MARK: - Steps

    /// Returns the contacts to query now, each of them once.
    mutating func next() -> [Contact] {
        var chosen: [Contact] = []
        let dials = isFirstStep ? 1 : share(shape.dials)
        var slots = Slots(paths: shape.paths, connected: share(shape.parallelism), dialled: dials)
        for candidate in candidates where candidate.state == .pending {
            slots.take(path: Int(candidate.path), isConnected: candidate.isConnected)
        }
        var scope = Scope(self)
        for index in candidates.indices {
            guard !scope.isOver, queries < shape.queries else { break }
            if scope.place(candidates[index], of: self) != nil { select(index, with: &slots, into: &chosen) }
        }
        if isFirstStep {
            // Connected members beyond the nearest answer before the nearest are even dialled.
            isFirstStep = false
            for index in candidates.indices where candidates[index].isConnected {
                select(index, with: &slots, into: &chosen)
            }
        }
        return chosen
    }

    /// Returns the pending candidates that have further addresses by now, each of them once.
    mutating func takeRedials() -> [Contact] {
        guard !redials.isEmpty else { return [] }
        defer { redials = [] }
        return redials.compactMap { contact(of: $0) }
    }

    private mutating func select(_ index: Int, with slots: inout Slots, into chosen: inout [Contact]) {
        let candidate = candidates[index]
        guard candidate.state == .heard, queries < shape.queries else { return }
        let patron = candidate.needsPatron ? self.patron(of: candidate) : nil
        guard patron != nil || !candidate.needsPatron,
            slots.take(path: Int(candidate.path), isConnected: candidate.isConnected)
        else { return }
        candidates[index].state = .pending
        candidates[index].patron = patron
        if let patron { acquaintances[Int(patron)].waiting += 1 }
        queries += 1
        chosen.append(acquaintances[Int(candidate.number)].contact)
    }

    /// The introducer with the most trust left, if any has.
    private func patron(of candidate: Candidate) -> Int32? {
        var best: (number: Int32, trust: Int32)?
        for introducer in acquaintances[Int(candidate.number)].introducers {
            let trust = acquaintances[Int(introducer)].trust
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
            for introducer in acquaintances[Int(candidate.number)].introducers {
                let record = acquaintances[Int(introducer)]
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
            seenOnPath = [Int](repeating: 0, count: lookup.shape.paths)
            openPaths = lookup.shape.paths
            beyond = lookup.shape.count + lookup.shape.reserve
            answeredNear = lookup.nearHopeful.answered
        }

        /// Whether none of the candidates that follow can matter.
        var isOver: Bool { openPaths == 0 && seen >= beyond }

        /// Takes the next candidate; nil if it does not matter.
        mutating func place(_ candidate: Candidate, of lookup: Lookup) -> Matter? {
            // On a path, failed candidates keep their places, so that the path is not extended for each of them.
            let path = Int(candidate.path)
            seenOnPath[path] += 1
            if seenOnPath[path] == lookup.pathWindow { openPaths -= 1 }
            if lookup.isOut(candidate) || lookup.isGivenUp(candidate, answeredNear) { return nil }
            seen += 1
            let isNear = seen <= lookup.shape.count
            let isNeeded = isNear || seenOnPath[path] <= lookup.pathWindow
            return isNeeded || seen <= beyond ? Matter(isNear: isNear, isNeeded: isNeeded) : nil
        }
    }

    /// The number of nearest candidates that have not failed, and of those among them that have answered.
    var nearHopeful: (count: Int, answered: Int) {
        var (count, answered) = (0, 0)
        for candidate in candidates where !isOut(candidate) {
            count += 1
            if candidate.state == .answered { answered += 1 }
            if count == shape.count { break }
        }
        return (count, answered)
    }

    /// Whether a late one is passed over once three quarters of the nearest have answered and few of them name it.
    ///
    /// Nodes near the target know each other, so a candidate that they do not name has left or was invented.
    private func isGivenUp(_ candidate: Candidate, _ answered: Int) -> Bool {
        candidate.state == .slow && !shape.isPatient && answered * 4 >= shape.count * 3
            && Int(candidate.mentions) * 3 < answered
    }

    /// Whether enough nodes name a late one, once three quarters of the nearest have answered, that it can do without
    /// an answer: as many as half of the nearest, and a quarter of all, which is more than there should be liars.
    private func isVouchedFor(_ candidate: Candidate, _ answered: Int) -> Bool {
        let mentions = Int(candidate.mentions)
        return !shape.isPatient && answered * 4 >= shape.count * 3 && mentions * 2 >= answered
            && mentions * 4 >= answers
    }

    /// Whether no candidate that matters is left to query or to wait for.
    var isFinished: Bool {
        var scope = Scope(self)
        let answered = nearHopeful.answered
        for candidate in candidates {
            guard !scope.isOver else { break }
            guard let matter = scope.place(candidate, of: self) else { continue }
            switch candidate.state {
            case .heard: if matter.isNeeded, queries < shape.queries { return false }
            case .pending: if matter.isNeeded { return false }
            case .slow: if matter.isNear, !isVouchedFor(candidate, answered) { return false }
            case .overdue, .answered, .failed: break
            }
        }
        return true
    }

    /// The nearest candidates that answered, and late ones that are vouched for, the nearest first.
    ///
    /// A quarter at most are late, so that inventions that liars agree on cannot push those out that answered.
    var nearest: [Answerer] {
        let answered = nearHopeful.answered
        var late = shape.count / 4
        var found: [Answerer] = []
        for candidate in candidates where found.count < shape.count {
            let isLate = late > 0 && candidate.state == .slow && isVouchedFor(candidate, answered)
            guard isLate || candidate.state == .answered else { continue }
            if isLate { late -= 1 }
            let contact = acquaintances[Int(candidate.number)].contact
            found.append(Answerer(contact: contact, distance: candidate.distance, hops: Int(candidate.hops)))
        }
        return found
    }

    func hops(of peer: PeerId) -> Int? { index(of: peer).map { Int(candidates[$0].hops) } }

    func contact(of peer: PeerId) -> Contact? {
        index(of: peer).map { acquaintances[Int(candidates[$0].number)].contact }
    }
}
