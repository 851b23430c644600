internal import Identity
internal import OrderedCollections

// Members that come and go.
extension Kademlia {
    private enum Pace {
        static let firstRetry = Duration.seconds(1)
        static let longestRetry = Duration.seconds(300)
        static let retryDoublings = 9
        /// Contacts of hearsay that are tried at a time.
        static let triesAtOnce = 4
        /// Between two tries of hearsay while there are members enough.
        static let leisurely = Duration.seconds(300)
        /// Failures after which a member leaves the table.
        static let failures = 2
    }

    mutating func memberUp(_ peer: PeerId, _ addresses: [SocketAddress], _ now: NodeTime, _ effects: inout [Effect]) {
        guard peer != self.local, !self.revoked.contains(peer) else { return }
        let dialable = Array(addresses.filter(\.isDialable).prefix(Contact.addressLimit))
        let isFirst = self.peers.isEmpty
        self.peers.connect(peer, dialable, at: now.monotonic)
        self.hearsay[peer] = nil
        let wasAlive = self.table[peer]?.isAlive == true
        let isIn = self.table.insert(peer, addresses: dialable, at: now.monotonic)
        if isIn, !wasAlive { self.neighbourhoodChanged(by: peer, now) }
        if isFirst {
            self.join(now, &effects)
        } else if isIn, !wasAlive, self.isNeighbour(peer) {
            self.planToGreet(peer, now)
        }
    }

    mutating func memberDown(_ peer: PeerId, _ now: NodeTime, _ effects: inout [Effect]) {
        guard self.peers.disconnect(peer) else { return }
        let addresses = self.table[peer]?.addresses ?? []
        self.table.update(peer) { entry in
            entry.isConnected = false
            entry.lastSeen = now.monotonic
        }
        self.transfers[peer] = nil
        self.resendQueries(to: peer, addresses, now, &effects)
        guard let position = self.table.position(of: peer) else { return }
        if addresses.isEmpty {
            self.drop(peer, now)
        } else if position < self.limits.bucketSize {
            // A neighbour: it counts as gone until it answers again, and is asked at once whether it is.
            self.suspect(peer, now)
            self.greet(Contact(peerId: peer, addresses: addresses), now, &effects)
        }
    }

    /// Whether somebody who is connected answers at all: nobody waits for whoever does not, nor gives it up either.
    mutating func memberSuspected(_ peer: PeerId, _ isSuspect: Bool, _ now: NodeTime, _ effects: inout [Effect]) {
        guard self.peers.setUnresponsive(isSuspect, peer), isSuspect else { return }
        self.delayQueries(to: peer, now, &effects)
    }

    mutating func memberRevoked(_ peer: PeerId, _ now: NodeTime, _ effects: inout [Effect]) {
        self.revoked.insert(peer)
        self.peers.remove(peer)
        self.hearsay[peer] = nil
        self.verifiedWriters[peer] = nil
        self.transfers[peer] = nil
        self.failQueries(to: peer, now, &effects)
        self.drop(peer, now)
        for id in self.store.removeAll(of: peer) { effects.append(.host(.forget(id))) }
    }

    /// Nobody answered at the peer's addresses.
    mutating func unreachable(_ peer: PeerId, _ now: NodeTime, _ effects: inout [Effect]) {
        if self.hearsay[peer] != nil { self.retryLater(peer, now) }
        guard self.peers[peer] == nil else { return }
        self.suspect(peer, now)
        self.failQueries(to: peer, now, &effects)
    }

    /// Counts a failure against a member; after some it leaves the table.
    mutating func suspect(_ peer: PeerId, _ now: NodeTime) {
        guard let entry = self.table[peer] else { return }
        if Int(entry.failures) + 1 >= Pace.failures {
            self.drop(peer, now)
            return
        }
        let isNeighbour = self.isNeighbour(peer)
        self.table.update(peer) { $0.failures += 1 }
        self.neighbourhoodChanged(by: peer, now)
        if isNeighbour { self.planNeighbourhood(soon: true, now) }
    }

    /// Takes a member out of the table.
    mutating func drop(_ peer: PeerId, _ now: NodeTime) {
        guard let entry = self.table[peer] else { return }
        let isNeighbour = self.isNeighbour(peer)
        if entry.isAlive { self.neighbourhoodChanged(by: peer, now) }
        self.table.remove(peer)
        if isNeighbour { self.planNeighbourhood(soon: true, now) }
        // What is unreachable now may be the other part of a network that broke in two.
        if !self.revoked.contains(peer) { self.remember(entry.contact, now, isGone: true) }
    }

    func isNeighbour(_ peer: PeerId) -> Bool {
        self.table.position(of: peer).map { $0 < self.limits.bucketSize } ?? false
    }

    /// After so many changes at once every record is looked at.
    static var changeLimit: Int { 64 }

    /// A member near enough to hold the same records came or went.
    private mutating func neighbourhoodChanged(by peer: PeerId, _ now: NodeTime) {
        guard let position = self.table.position(of: peer), position < 2 * self.limits.bucketSize,
            !self.store.places.isEmpty
        else { return }
        if self.changes.count < Self.changeLimit { self.changes.append(peer) }
        self.planHandOn(now)
    }

    // MARK: Hearsay

    mutating func contactHeard(_ contact: Contact, _ now: NodeTime, _ effects: inout [Effect]) {
        let peer = contact.peerId
        guard peer != self.local, !self.revoked.contains(peer), self.peers[peer] == nil else { return }
        let dialable = Array(contact.addresses.filter(\.isDialable).prefix(Contact.addressLimit))
        guard !dialable.isEmpty else { return }
        let heard = Contact(peerId: peer, addresses: dialable)
        if let entry = self.table[peer] {
            self.table.update(peer) { $0.addresses = dialable }
            if !entry.isAlive { self.greet(heard, now, &effects) }
        } else {
            let isNew = self.hearsay[peer] == nil
            self.remember(heard, now, isGone: false)
            if isNew, self.wouldBeNeighbour(heard) {
                self.hearsay[peer]?.nextTry = now.monotonic + Pace.longestRetry
                self.greet(heard, now, &effects)
            }
            if self.peers.count < self.limits.bucketSize { self.tryHearsay(now, &effects) }
        }
    }

    private mutating func remember(_ contact: Contact, _ now: NodeTime, isGone: Bool) {
        guard !contact.addresses.isEmpty else { return }
        if self.hearsay[contact.peerId] == nil, self.hearsay.count >= self.limits.hearsay {
            self.hearsay.removeFirst()
        }
        let nextTry = now.monotonic + (isGone ? self.schedule.jittered(Pace.firstRetry) : .zero)
        let hearsay = Hearsay(contact: contact, failures: isGone ? 1 : 0, nextTry: nextTry)
        self.hearsay[contact.peerId, default: hearsay].contact = contact
        self.planHearsay(at: nextTry, now)
    }

    /// Whoever knows enough members tries hearsay now and then only.
    private mutating func planHearsay(at time: Duration, _ now: NodeTime) {
        let isLeisurely = self.peers.count >= self.limits.bucketSize
        if isLeisurely, self.schedule.isPlanned(.candidates) { return }
        let earliest = isLeisurely ? now.monotonic + self.schedule.jittered(Pace.leisurely) : now.monotonic
        self.schedule.plan(.candidates, at: max(time, earliest))
    }

    private mutating func retryLater(_ peer: PeerId, _ now: NodeTime) {
        guard var hearsay = self.hearsay[peer] else { return }
        let pause = min(Pace.longestRetry, Pace.firstRetry * (1 << min(hearsay.failures, Pace.retryDoublings)))
        hearsay.failures += 1
        hearsay.nextTry = now.monotonic + self.schedule.jittered(pause)
        self.hearsay[peer] = hearsay
        self.planHearsay(at: hearsay.nextTry, now)
    }

    /// Tries those of whom this node has only heard, or whom it lost: some at a time while it knows few members, one
    /// now and then when it knows enough, because the network may have been in two parts.
    mutating func tryHearsay(_ now: NodeTime, _ effects: inout [Effect]) {
        self.schedule.cancel(.candidates)
        let triesAtOnce = self.peers.count < self.limits.bucketSize ? Pace.triesAtOnce : 1
        var trying = 0
        var next: Duration?
        for (peer, hearsay) in self.hearsay {
            if self.queries.isPending(to: peer) {
                trying += 1
            } else if hearsay.nextTry <= now.monotonic, trying < triesAtOnce {
                trying += 1
                self.hearsay[peer]?.nextTry = now.monotonic + Pace.longestRetry
                self.greet(hearsay.contact, now, &effects)
            } else {
                let time = max(hearsay.nextTry, now.monotonic + Pace.firstRetry)
                next = min(next ?? time, time)
            }
        }
        if let next { self.planHearsay(at: next, now) }
    }
}

/// A contact that this node was told of and has not met.
struct Hearsay: Sendable {
    var contact: Contact
    var failures = 0
    var nextTry: Duration
}
