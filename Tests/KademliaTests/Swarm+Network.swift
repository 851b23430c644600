internal import Bytes
internal import HeapModule
internal import Identity
internal import Kademlia
internal import TestSupport

// Links, messages and time.
extension Swarm {
    /// Always the same for a pair.
    func roundTrip(_ left: Int, _ right: Int) -> Duration {
        var generator = SeededGenerator(seed: UInt64(min(left, right)) << 32 | UInt64(max(left, right)))
        let span = self.roundTrips.upperBound - self.roundTrips.lowerBound
        return self.roundTrips.lowerBound + span * Int(generator.next() % 1024) / 1024
    }

    func schedule(_ kind: Event.Kind, after delay: Duration) {
        self.order += 1
        self.events.insert(Event(at: self.now + delay, order: self.order, kind: kind))
    }

    /// Does something at a later time.
    func later(_ delay: Duration, _ action: @escaping (Swarm) -> Void) {
        self.script.append(action)
        self.schedule(.scripted(self.script.count - 1), after: delay)
    }

    func run(for duration: Duration) {
        let end = self.now + duration
        while let next = self.events.min, next.at <= end { _ = self.step() }
        self.now = end
    }

    /// Processes the next event; false when there is none.
    func step() -> Bool {
        guard let event = self.events.popMin() else { return false }
        self.now = max(self.now, event.at)
        switch event.kind {
        case .message(let from, let to, let opened, let bytes):
            let peer = self.nodes[from].peerId
            guard self.nodes[to].isUp, self.nodes[to].links[peer]?.opened == opened, !self.isPartitioned(from, to)
            else {
                return true
            }
            self.nodes[to].links[peer]?.usedAt = self.now
            if !self.answerAsHostile(to, from, bytes) { self.feed(to, .messageReceived(from: peer, bytes)) }
        case .dialled(let from, let to): self.dialled(from, to)
        case .linkUp(let at, let other, let opened):
            let peer = self.nodes[other].peerId
            guard self.nodes[at].isUp, self.nodes[at].links[peer]?.opened == opened else { return true }
            self.feed(at, .memberUp(peer, [Self.address(of: other)]))
        case .linkDown(let at, let peer, let opened):
            guard self.nodes[at].isUp, self.nodes[at].links[peer]?.opened == opened else { return true }
            self.nodes[at].links[peer] = nil
            self.feed(at, .memberDown(peer))
        case .unreachable(let at, let peer):
            guard self.nodes[at].isUp, self.nodes[at].dialling[peer] != nil else { return true }
            self.nodes[at].dialling[peer]?.attempts -= 1
            guard self.nodes[at].dialling[peer]?.attempts == 0 else { return true }
            self.nodes[at].dialling[peer] = nil
            self.feed(at, .unreachable(peer))
        case .wake(let node, let life):
            guard self.nodes[node].isUp, self.nodes[node].life == life, self.nodes[node].wake == event.at else {
                return true
            }
            self.nodes[node].wake = nil
            self.feed(node, .timeReached)
        case .scripted(let index): self.script[index](self)
        }
        return true
    }

    func feed(_ node: Int, _ input: Kademlia.Input) {
        var effects: [Kademlia.Effect] = []
        self.nodes[node].table.handle(input, at: self.time, into: &effects)
        for effect in effects { self.perform(effect, of: node) }
        for case .host(.persist(let record)) in effects {
            let id = RecordId(location: Record.location(of: record.key, in: self.network.id), writer: record.writer)
            self.feed(node, .persisted(id, version: record.version, true))
        }
    }

    private func perform(_ effect: Kademlia.Effect, of node: Int) {
        switch effect {
        case .send(let peer, let addresses, let bytes): self.send(bytes, from: node, to: peer, addresses)
        case .wake(let at):
            self.nodes[node].wake = max(at, self.now)
            self.schedule(.wake(node, life: self.nodes[node].life), after: max(at, self.now) - self.now)
        case .host(.finished(let id, let outcome, let effort)):
            let took = self.now - (self.startedAt[id.number] ?? self.now)
            self.results[node, default: [:]][id.number] = Result(outcome: outcome, effort: effort, took: took)
        case .host(.persist(let record)):
            let location = Record.location(of: record.key, in: self.network.id)
            self.nodes[node].disk[RecordId(location: location, writer: record.writer)] = record
        case .host(.forget(let id)): self.nodes[node].disk[id] = nil
        case .violation(let peer, let reason):
            self.violations.append(Violation(named: peer, by: self.nodes[node].peerId, reason: reason))
            self.close(node, peer)
        }
    }

    // MARK: Links

    func send(_ bytes: [UInt8], from node: Int, to peer: PeerId, _ addresses: [SocketAddress]) {
        if let link = self.nodes[node].links[peer] {
            self.transmit(bytes, from: node, to: peer, link)
        } else if var dial = self.nodes[node].dialling[peer] ?? (addresses.isEmpty ? nil : Dial()) {
            let new = addresses.filter { !dial.addresses.contains($0) }
            dial.messages.append(bytes)
            dial.addresses += new
            dial.attempts += new.count
            self.nodes[node].dialling[peer] = dial
            for address in new { self.dial(peer, address, from: node) }
        }
    }

    private func transmit(_ bytes: [UInt8], from node: Int, to peer: PeerId, _ link: Link) {
        self.messageCount += 1
        self.byteCount += bytes.count
        let roundTrip = self.roundTrip(node, link.other)
        var delay = roundTrip / 2
        if self.random.decide(self.loss) { delay += roundTrip * 3 / 2 }
        let arrival = max(self.now + delay, link.lastArrival)
        self.nodes[node].links[peer]?.lastArrival = arrival
        self.nodes[node].links[peer]?.usedAt = self.now
        self.schedule(
            .message(from: node, to: link.other, opened: link.opened, bytes),
            after: arrival - self.now
        )
    }

    private func dial(_ peer: PeerId, _ address: SocketAddress, from node: Int) {
        self.dialCount += 1
        guard let target = self.node(at: address), !self.isPartitioned(node, target) else {
            self.schedule(.unreachable(at: node, peer), after: .seconds(5))
            return
        }
        guard self.nodes[target].peerId == peer, target != node else {
            self.schedule(.unreachable(at: node, peer), after: self.roundTrip(node, target))
            return
        }
        var delay = self.roundTrip(node, target) * 2
        if self.random.decide(self.loss * 4) { delay += self.roundTrip(node, target) * 3 / 2 }
        self.schedule(.dialled(from: node, to: target), after: delay)
    }

    private func node(at address: SocketAddress) -> Int? {
        guard case .v4(let word) = address.ip, word >> 24 == 0x0A else { return nil }
        let node = Int((word & 0xFF_FFFF) >> 4)
        return node < self.nodes.count ? node : nil
    }

    private func dialled(_ from: Int, _ to: Int) {
        guard self.nodes[from].isUp else { return }
        let peer = self.nodes[to].peerId
        guard self.nodes[to].isUp, !self.isPartitioned(from, to) else {
            self.schedule(.unreachable(at: from, peer), after: .seconds(4))
            return
        }
        guard let waiting = self.nodes[from].dialling.removeValue(forKey: peer) else { return }
        let own = self.nodes[from].peerId
        if self.nodes[from].links[peer] == nil {
            self.opened += 1
            let opened = self.opened
            self.nodes[from].links[peer] = Link(other: to, opened: opened, usedAt: self.now, lastArrival: self.now)
            self.nodes[to].links[own] = Link(other: from, opened: opened, usedAt: self.now, lastArrival: self.now)
            self.schedule(.linkUp(at: to, peer: from, opened: opened), after: self.roundTrip(from, to) / 2)
            self.feed(from, .memberUp(peer, [Self.address(of: to)]))
        }
        for bytes in waiting.messages {
            guard let link = self.nodes[from].links[peer] else { break }
            self.transmit(bytes, from: from, to: peer, link)
        }
        self.shed(from)
        self.shed(to)
    }

    /// Closes the idle connection beyond the budget that was used least lately and is not worth keeping.
    private func shed(_ node: Int) {
        guard self.nodes[node].links.count > self.budget else { return }
        let idle = self.nodes[node].links
            .filter { self.now - $0.value.usedAt > .seconds(5) && !self.nodes[node].table.protects($0.key) }
        let oldest = idle.min { ($0.value.usedAt, $0.key) < ($1.value.usedAt, $1.key) }
        if let oldest { self.close(node, oldest.key) }
    }

    /// Closes a link at both ends, at the other one when the word has arrived.
    func close(_ node: Int, _ peer: PeerId) {
        guard let link = self.nodes[node].links.removeValue(forKey: peer) else { return }
        let own = self.nodes[node].peerId
        self.schedule(
            .linkDown(at: link.other, peer: own, opened: link.opened),
            after: self.roundTrip(node, link.other) / 2
        )
        self.feed(node, .memberDown(peer))
    }

    // MARK: Partition

    func isPartitioned(_ left: Int, _ right: Int) -> Bool {
        self.side.map { $0(left) != $0(right) } ?? false
    }

    /// Partitions the nodes into two sets, whose connections break after ten seconds; nil heals the partition.
    func setPartition(_ side: ((Int) -> Bool)?) {
        self.side = side
        for node in self.running {
            for (peer, link) in self.nodes[node].links.sorted(by: { $0.key < $1.key })
            where self.isPartitioned(node, link.other) {
                self.schedule(.linkDown(at: node, peer: peer, opened: link.opened), after: .seconds(10))
            }
        }
    }

    // MARK: Hostility

    private func answerAsHostile(_ node: Int, _ asker: Int, _ bytes: [UInt8]) -> Bool {
        guard let hostile = self.nodes[node].hostile, let message = try? Message(bytes),  // bytes of a core are good
            case .rpc(let rpc) = message.body,
            let reply = hostile(rpc, self.nodes[asker].peerId)
        else { return false }
        if case .answer(let answer) = reply {
            let bytes = Message(number: message.number, body: .answer(answer)).bytes
            self.send(bytes, from: node, to: self.nodes[asker].peerId, [Self.address(of: asker)])
        }
        return true
    }
}
