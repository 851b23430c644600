internal import Identity

/// The search for the members nearest to a target: whom to ask next, and when it is over.
///
/// Kademlia's iteration (section 2.3) over several paths that share no node (S/Kademlia, section 4.4): what a node
/// answers is followed up on its own path only, so liars cannot take all questions for themselves. Three more things
/// are held against lies: a contact is a candidate until it answers itself; a node whose contacts all fail is no longer
/// believed; and addresses that one node gives do not replace those that another gave, which are tried beside them.
///
/// A question that takes long does not hold the search up: first another one is asked in its place, then it no longer
/// counts among the nearest, and if its answer comes after all it counts again.
struct Lookup: Sendable {
    /// How the contacts did that one candidate named.
    private struct Introductions: Sendable {
        var waiting = 0
        var good = 0
        var bad = 0

        /// How many contacts may be tried, and fail: some on credit, and more for each that answered.
        var budget: Int { 4 + 3 * self.good }
    }

    struct Shape: Sendable {
        /// How many nearest ones are wanted.
        var count: Int
        /// Questions to connected nodes that are unanswered at a time.
        var parallelism: Int
        /// The same to nodes that must be dialled first, which takes three times as long.
        var dials: Int
        var paths: Int
        /// Candidates remembered.
        var candidates: Int
        /// Whether late ones are waited for even if few name them: they may be as new as this node.
        var isPatient = false
        /// Members beyond the nearest that are asked too, so that they stand in for those that turn out to be gone.
        var reserve = 0
        /// Questions at most; an honest network never needs as many.
        var questions = 160
    }

    /// Introducers of one candidate that are remembered.
    private static let introducerLimit = 8
    /// Addresses of one candidate that are remembered; liars may give as many as they like, others give few.
    private static let addressLimit = 4 * Contact.addressLimit

    let target: Bytes32
    let shape: Shape
    private let local: PeerId
    private(set) var candidates: [Candidate] = []
    private var introductions: [Introductions] = []
    /// Those that were asked before further addresses of theirs became known.
    private var redials: [PeerId] = []
    private var isFirstStep = true
    private(set) var questions = 0
    private(set) var answers = 0

    init(target: Bytes32, local: PeerId, shape: Shape) {
        self.target = target
        self.local = local
        self.shape = shape
    }

    /// Each path asks for its own nearest so many.
    private var pathWindow: Int { (self.shape.count + self.shape.paths - 1) / self.shape.paths + 3 }

    /// The share of one path in something.
    private func share(_ count: Int) -> Int { max(2, (count + self.shape.paths - 1) / self.shape.paths) }

    // MARK: - What is known

    /// Starts from a member of this node's own table; `isSettled` if it need not be asked.
    mutating func seed(_ contact: Contact, isConnected: Bool, isSettled: Bool = false) {
        guard contact.peerId != self.local, self.index(of: contact.peerId) == nil else { return }
        let path = self.introductions.count % self.shape.paths
        let state: State = isSettled ? .answered : .heard
        self.add(contact, path: path, hops: 1, introducers: [], isConnected: isConnected, state: state)
    }

    /// The peer answered and named these contacts; `isConnected` tells which of them this node is connected to.
    mutating func answered(_ peer: PeerId, naming contacts: [Contact], isConnected: (PeerId) -> Bool) {
        guard let index = self.index(of: peer), self.candidates[index].state != .answered else { return }
        self.settle(index, as: .answered)
        self.answers += 1
        let answerer = self.candidates[index]
        for contact in contacts.prefix(self.shape.count) where contact.peerId != self.local {
            if let known = self.index(of: contact.peerId) {
                self.hear(contact, again: known, from: answerer)
            } else {
                self.add(
                    contact,
                    path: answerer.path,
                    hops: answerer.hops + 1,
                    introducers: [answerer.number],
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
        case .asked, .slow, .overdue: self.settle(index, as: state)
        case .heard, .answered, .failed: break
        }
    }

    private mutating func settle(_ index: Int, as state: State) {
        let candidate = self.candidates[index]
        self.candidates[index].state = state
        if candidate.state == .asked, let patron = candidate.patron { self.introductions[patron].waiting -= 1 }
        let wasBad = candidate.state == .overdue || candidate.state == .failed
        let isBad = state == .overdue || state == .failed
        for introducer in candidate.introducers {
            if state == .answered { self.introductions[introducer].good += 1 }
            if isBad, !wasBad { self.introductions[introducer].bad += 1 }
            if wasBad, !isBad { self.introductions[introducer].bad -= 1 }
        }
    }

    private mutating func hear(_ contact: Contact, again index: Int, from answerer: Candidate) {
        self.candidates[index].mentions += 1
        self.candidates[index].hops = min(self.candidates[index].hops, answerer.hops + 1)
        if self.candidates[index].hear(of: contact.addresses, limit: Self.addressLimit) {
            // The addresses that were tried, or failed, may have been a lie.
            switch self.candidates[index].state {
            case .failed: self.candidates[index].state = .heard
            case .asked, .slow, .overdue: self.redials.append(contact.peerId)
            case .heard, .answered: break
            }
        }
        self.remember(answerer.number, asIntroducerOf: index)
    }

    private mutating func remember(_ introducer: Int, asIntroducerOf index: Int) {
        let candidate = self.candidates[index]
        guard !candidate.introducers.isEmpty, candidate.introducers.count < Self.introducerLimit else { return }
        self.candidates[index].introducers.append(introducer)
        if candidate.state == .answered { self.introductions[introducer].good += 1 }
        if candidate.state == .overdue || candidate.state == .failed { self.introductions[introducer].bad += 1 }
    }

    private mutating func add(
        _ contact: Contact,
        path: Int,
        hops: Int,
        introducers: [Int],
        isConnected: Bool,
        state: State
    ) {
        guard isConnected || !contact.addresses.isEmpty else { return }
        let distance = Distance(contact.peerId.words, self.target)
        let candidate = Candidate(
            contact: contact,
            addressMentions: [UInt8](repeating: 1, count: contact.addresses.count),
            distance: distance,
            path: path,
            hops: hops,
            introducers: introducers,
            number: self.introductions.count,
            mentions: 1,
            isConnected: isConnected,
            state: state
        )
        let position = self.position(of: distance)
        if self.candidates.count >= self.shape.candidates {
            // The farthest of the same path that nothing was done about makes room.
            let last = self.candidates.lastIndex { $0.path == path && $0.state == .heard }
            guard let last, last >= position else { return }
            self.candidates.remove(at: last)
        }
        self.introductions.append(Introductions())
        self.candidates.insert(candidate, at: position)
    }

    private func position(of distance: Distance) -> Int {
        var low = 0
        var high = self.candidates.count
        while low < high {
            let middle = (low + high) / 2
            if self.candidates[middle].distance < distance { low = middle + 1 } else { high = middle }
        }
        return low
    }

    private func index(of peer: PeerId) -> Int? {
        let position = self.position(of: Distance(peer.words, self.target))
        guard position < self.candidates.count, self.candidates[position].contact.peerId == peer else { return nil }
        return position
    }

    // MARK: - What to do

    /// Whom to ask now; each is returned once.
    mutating func next() -> [Contact] {
        var chosen: [Contact] = []
        let dials = self.isFirstStep ? 1 : self.share(self.shape.dials)
        var slots = Slots(paths: self.shape.paths, connected: self.share(self.shape.parallelism), dialled: dials)
        for candidate in self.candidates where candidate.state == .asked {
            slots.take(path: candidate.path, isConnected: candidate.isConnected)
        }
        for matter in self.scope { self.ask(matter.index, with: &slots, into: &chosen) }
        if self.isFirstStep {
            // Connected members beyond the nearest answer before the nearest are even dialled.
            self.isFirstStep = false
            for index in self.candidates.indices where self.candidates[index].isConnected {
                self.ask(index, with: &slots, into: &chosen)
            }
        }
        return chosen
    }

    /// Those that are being asked and of which further addresses are known by now; each is returned once.
    mutating func takeRedials() -> [Contact] {
        defer { self.redials = [] }
        return self.redials.compactMap { self.contact(of: $0) }
    }

    private mutating func ask(_ index: Int, with slots: inout Slots, into chosen: inout [Contact]) {
        let candidate = self.candidates[index]
        guard candidate.state == .heard, self.questions < self.shape.questions else { return }
        let patron = self.patron(of: candidate)
        guard patron != nil || !self.needsPatron(candidate),
            slots.take(path: candidate.path, isConnected: candidate.isConnected)
        else { return }
        self.candidates[index].state = .asked
        self.candidates[index].patron = patron
        if let patron { self.introductions[patron].waiting += 1 }
        self.questions += 1
        chosen.append(candidate.contact)
    }

    /// Whether somebody must vouch for the candidate: it is neither connected nor of this node's own table.
    private func needsPatron(_ candidate: Candidate) -> Bool {
        !candidate.isConnected && !candidate.introducers.isEmpty
    }

    /// The introducer with the most trust left, if any has.
    private func patron(of candidate: Candidate) -> Int? {
        guard self.needsPatron(candidate) else { return nil }
        func left(_ introducer: Int) -> Int {
            let record = self.introductions[introducer]
            return record.budget - record.bad - record.waiting
        }
        guard let best = candidate.introducers.max(by: { left($0) < left($1) }), left(best) > 0 else { return nil }
        return best
    }

    /// Whether the candidate no longer counts: it does not answer, or comes from those whose contacts never do.
    private func isOut(_ candidate: Candidate) -> Bool {
        switch candidate.state {
        case .failed, .overdue: return true
        case .asked, .slow, .answered: return false
        case .heard:
            guard self.needsPatron(candidate) else { return false }
            return candidate.introducers.allSatisfy { introducer in
                self.introductions[introducer].bad >= self.introductions[introducer].budget
            }
        }
    }

    /// One that matters.
    private struct Matter {
        let index: Int
        /// Whether it is among the nearest of all, not only of its path or in reserve.
        let isNear: Bool
        /// Whether the lookup ends only when it has been asked.
        let isNeeded: Bool
    }

    /// Those that matter, the nearest first: the nearest of all, some in reserve, and the nearest of each path.
    private var scope: [Matter] {
        var matters: [Matter] = []
        var seen = 0
        var seenOnPath = [Int](repeating: 0, count: self.shape.paths)
        let answered = self.answeredNear
        for (index, candidate) in self.candidates.enumerated() {
            // On a path those that are gone keep their places: it need not go farther for each of them.
            seenOnPath[candidate.path] += 1
            if self.isOut(candidate) || self.isGivenUp(candidate, answered) { continue }
            seen += 1
            let isNear = seen <= self.shape.count
            let isNeeded = isNear || seenOnPath[candidate.path] <= self.pathWindow
            guard isNeeded || seen <= self.shape.count + self.shape.reserve else { continue }
            matters.append(Matter(index: index, isNear: isNear, isNeeded: isNeeded))
        }
        return matters
    }

    /// How many of the nearest have answered.
    private var answeredNear: Int {
        self.candidates.lazy.filter { !self.isOut($0) }.prefix(self.shape.count).count { $0.state == .answered }
    }

    /// Whether a late one is passed over once three quarters of the nearest have answered and few of them name it.
    ///
    /// Those near the target know each other, so whom they do not name is gone or an invention.
    private func isGivenUp(_ candidate: Candidate, _ answered: Int) -> Bool {
        candidate.state == .slow && !self.shape.isPatient && answered * 4 >= self.shape.count * 3
            && candidate.mentions * 3 < answered
    }

    /// Whether nobody who matters is left to ask or to wait for.
    var isFinished: Bool {
        for matter in self.scope {
            switch self.candidates[matter.index].state {
            case .heard: if matter.isNeeded, self.questions < self.shape.questions { return false }
            case .asked: if matter.isNeeded { return false }
            case .slow: if matter.isNear { return false }
            case .overdue, .answered, .failed: break
            }
        }
        return true
    }

    /// The nearest candidates that answered, the nearest first.
    var nearest: [Candidate] {
        Array(self.candidates.lazy.filter { $0.state == .answered }.prefix(self.shape.count))
    }

    /// The nearest candidates that are not known to be gone, whether they have answered or not.
    var nearestHopeful: [Candidate] {
        Array(self.candidates.lazy.filter { !self.isOut($0) }.prefix(self.shape.count))
    }

    func hops(of peer: PeerId) -> Int? { self.index(of: peer).map { self.candidates[$0].hops } }

    func contact(of peer: PeerId) -> Contact? { self.index(of: peer).map { self.candidates[$0].contact } }

}
