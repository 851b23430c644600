internal import Identity

/// The search for the members nearest to a target: whom to ask next, and when it is over.
///
/// Kademlia's iteration (section 2.3) over several paths that share no node (S/Kademlia, section 4.4): what a node
/// answers is followed up on its own path only, so liars cannot take all questions for themselves. Three more things
/// are held against lies: a contact is a candidate until it answers itself; a node whose contacts all fail is no longer
/// believed; and addresses that one node gives do not replace those that another gave.
///
/// A question that takes long does not hold the search up: first another one is asked in its place, then it no longer
/// counts among the nearest, and if its answer comes after all it counts again.
struct Lookup: Sendable {
    enum State: UInt8, Sendable {
        /// Known by name.
        case heard
        /// Asked, and not late yet.
        case asked
        /// Late: somebody else is asked in its place.
        case slow
        /// So late that the search may end without it.
        case overdue
        /// It answered.
        case answered
        /// It cannot be reached or did not answer.
        case failed
    }

    struct Candidate: Sendable {
        var contact: Contact
        let distance: Distance
        let path: Int
        /// Steps from this node.
        var hops: Int
        /// The number of the candidate that named it, or nil for one of this node's own table.
        let introducer: Int?
        /// Its own number, by which others name it as their introducer.
        let number: Int
        /// Whether a second node, or this node's table, named it too.
        var isCorroborated: Bool
        var isConnected: Bool
        var state: State
    }

    /// How the contacts did that one candidate named.
    private struct Introductions: Sendable {
        var waiting = 0
        var good = 0
        var bad = 0
    }

    struct Shape: Sendable {
        /// How many nearest ones are wanted.
        var count: Int
        /// Unanswered questions at a time, of each kind: to connected nodes, and to others.
        var parallelism: Int
        var paths: Int
        /// Candidates remembered.
        var candidates: Int
        /// Questions at most; an honest network never needs as many.
        var questions = 160
    }

    /// Contacts that one node named and that may be under way at a time before one of them has answered.
    private static let trust = 4

    let target: Bytes32
    let shape: Shape
    private let local: PeerId
    private(set) var candidates: [Candidate] = []
    private var introductions: [Introductions] = []
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

    private var parallelismPerPath: Int { max(2, (self.shape.parallelism + self.shape.paths - 1) / self.shape.paths) }

    // MARK: - What is known

    /// Starts from a member of this node's own table; `isSettled` if it need not be asked.
    mutating func seed(_ contact: Contact, isConnected: Bool, isSettled: Bool = false) {
        guard contact.peerId != self.local, self.index(of: contact.peerId) == nil else { return }
        let path = self.introductions.count % self.shape.paths
        let state: State = isSettled ? .answered : .heard
        self.add(contact, path: path, hops: 1, introducer: nil, isConnected: isConnected, state: state)
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
        case .asked, .slow, .overdue: self.settle(index, as: state)
        case .heard, .answered, .failed: break
        }
    }

    private mutating func settle(_ index: Int, as state: State) {
        let wasWaiting = self.candidates[index].state == .asked
        self.candidates[index].state = state
        guard let introducer = self.candidates[index].introducer else { return }
        if wasWaiting { self.introductions[introducer].waiting -= 1 }
        switch state {
        case .answered: self.introductions[introducer].good += 1
        case .overdue, .failed: self.introductions[introducer].bad += 1
        case .heard, .asked, .slow: break
        }
    }

    private mutating func hear(_ contact: Contact, again index: Int, from answerer: Candidate) {
        if self.candidates[index].introducer != answerer.number { self.candidates[index].isCorroborated = true }
        self.candidates[index].hops = min(self.candidates[index].hops, answerer.hops + 1)
        let known = self.candidates[index].contact.addresses
        let new = contact.addresses.filter { !known.contains($0) }
        guard !new.isEmpty, known.count < Contact.addressLimit else { return }
        self.candidates[index].contact.addresses += new.prefix(Contact.addressLimit - known.count)
        // The addresses that failed may have been a lie.
        if self.candidates[index].state == .failed { self.candidates[index].state = .heard }
    }

    private mutating func add(
        _ contact: Contact,
        path: Int,
        hops: Int,
        introducer: Int?,
        isConnected: Bool,
        state: State
    ) {
        guard isConnected || !contact.addresses.isEmpty else { return }
        let distance = Distance(contact.peerId.words, self.target)
        let candidate = Candidate(
            contact: contact,
            distance: distance,
            path: path,
            hops: hops,
            introducer: introducer,
            number: self.introductions.count,
            isCorroborated: introducer == nil,
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
        var slots = Slots(paths: self.shape.paths, each: self.parallelismPerPath)
        for candidate in self.candidates where candidate.state == .asked {
            slots.take(path: candidate.path, isConnected: candidate.isConnected)
        }
        for index in self.scope { self.ask(index, with: &slots, into: &chosen) }
        if self.isFirstStep {
            // Connected members beyond the nearest answer before the nearest are even dialled.
            self.isFirstStep = false
            for index in self.candidates.indices where self.candidates[index].isConnected {
                self.ask(index, with: &slots, into: &chosen)
            }
        }
        return chosen
    }

    private mutating func ask(_ index: Int, with slots: inout Slots, into chosen: inout [Contact]) {
        let candidate = self.candidates[index]
        guard candidate.state == .heard, self.questions < self.shape.questions, self.isBelieved(candidate),
            slots.take(path: candidate.path, isConnected: candidate.isConnected)
        else { return }
        self.candidates[index].state = .asked
        if let introducer = candidate.introducer { self.introductions[introducer].waiting += 1 }
        self.questions += 1
        chosen.append(candidate.contact)
    }

    /// Whether the candidate may be asked: what one node alone named waits until some of its contacts have answered.
    private func isBelieved(_ candidate: Candidate) -> Bool {
        guard let introducer = self.doubtful(candidate) else { return true }
        return introducer.good > 0 || introducer.waiting + introducer.bad < Self.trust
    }

    /// Whether the candidate no longer counts: it does not answer, or comes from one whose contacts never do.
    private func isOut(_ candidate: Candidate) -> Bool {
        switch candidate.state {
        case .failed, .overdue: return true
        case .asked, .slow, .answered: return false
        case .heard:
            guard let introducer = self.doubtful(candidate) else { return false }
            return introducer.good == 0 && introducer.bad >= Self.trust
        }
    }

    private func doubtful(_ candidate: Candidate) -> Introductions? {
        guard let introducer = candidate.introducer, !candidate.isCorroborated, !candidate.isConnected else {
            return nil
        }
        return self.introductions[introducer]
    }

    /// The positions of those that matter, the nearest first: the nearest of all, and the nearest of each path.
    private var scope: [Int] {
        var positions: [Int] = []
        var seen = 0
        var seenOnPath = [Int](repeating: 0, count: self.shape.paths)
        for index in self.candidates.indices where !self.isOut(self.candidates[index]) {
            let path = self.candidates[index].path
            seen += 1
            seenOnPath[path] += 1
            if seen <= self.shape.count || seenOnPath[path] <= self.pathWindow { positions.append(index) }
        }
        return positions
    }

    /// Whether nobody who matters is left to ask or to wait for.
    ///
    /// Late ones are no longer waited for once three quarters of the nearest have answered.
    var isFinished: Bool {
        let scope = self.scope
        let near = scope.prefix(self.shape.count)
        let answered = near.count { self.candidates[$0].state == .answered }
        let isEnough = answered >= self.shape.count * 3 / 4
        for (rank, index) in scope.enumerated() {
            switch self.candidates[index].state {
            case .heard: if self.questions < self.shape.questions { return false }
            case .asked: return false
            case .slow: if rank < self.shape.count, !isEnough { return false }
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

    /// The slots for questions under way, by path and kind.
    private struct Slots {
        private var connected: [Int]
        private var dialled: [Int]

        init(paths: Int, each: Int) {
            self.connected = [Int](repeating: each, count: paths)
            self.dialled = self.connected
        }

        @discardableResult
        mutating func take(path: Int, isConnected: Bool) -> Bool {
            if isConnected {
                self.connected[path] -= 1
                return self.connected[path] >= 0
            }
            self.dialled[path] -= 1
            return self.dialled[path] >= 0
        }
    }
}
