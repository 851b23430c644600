internal import Bytes
internal import Identity
internal import NodeCore

// The steps of a scenario.
extension World {
    mutating func perform(_ number: UInt32) throws(IdentityError) {
        switch self.scenario.steps[Int(number)].action {
        case .start(let count, let span): self.startNodes(count, over: span.nanoseconds)
        case .partition(let share, let lasting, let isOneWay):
            self.cutOff(share: share, lasting: lasting.nanoseconds, isOneWay: isOneWay)
        case .revoke(let count): try self.revoke(count)
        case .clockJump(let share, let span, let isBackwards):
            let seconds = span.components.seconds * (isBackwards ? -1 : 1)
            for node in self.nodes.indices where self.stepChance.decide(share) {
                self.nodes[node].wallOffset += seconds
            }
        case .churn(let churn): self.beginChurn(churn)
        case .put(let work, _, _), .update(let work), .get(let work, _), .lookup(let work), .mail(let work, _, _),
            .seal(let work, _):
            self.schedule(work, of: number)
        case .exchangeKeys: self.exchangeKeys()
        case .publish(let publishing): self.schedule(publishing.work, of: number)
        case .silence(let share): self.silenceNodes(share: share)
        case .measure(_, let interval, let lasting):
            let count = interval > .zero ? Int(lasting / interval) + 1 : 1
            self.schedule(Scenario.Work(count: count, over: interval * count), of: number)
        }
    }

    /// Stops nodes together without a shutdown, except the owner and the publisher.
    private mutating func silenceNodes(share: Double) {
        let running = self.nodes.indices.filter {
            self.nodes[$0].isRunning && $0 != Population.owner && $0 != self.record.events.publisher
        }
        let count = Int((Double(running.count) * share).rounded())
        for node in running.shuffled(using: &self.stepChance).prefix(count) { self.stop(node, isAbrupt: true) }
    }

    /// Begins a partition: connections across it fall silent.
    private mutating func cutOff(share: Double, lasting: Int64, isOneWay: Bool) {
        let end = self.queue.now + lasting
        self.noteMeetings()
        self.network.partition = Partition(end: end, lasting: lasting, isOneWay: isOneWay)
        for node in self.nodes.indices {
            self.nodes[node].isCutOff = node != Population.owner && self.stepChance.decide(share)
            self.nodes[node].firstContact = nil
        }
        guard lasting >= self.network.model.idleTimeout.nanoseconds else { return }
        for slot in self.network.connections.slots {
            guard let connection = self.network.connections[slot] else { continue }
            let ends = [Int(connection.dialler.node), Int(connection.acceptor.node)]
            guard self.nodes[ends[0]].isCutOff != self.nodes[ends[1]].isCutOff else { continue }
            for node in ends { self.silence(ConnectionId(slot: slot, stamp: connection.stamp), at: node) }
        }
    }

    private mutating func startNodes(_ count: Int?, over span: Int64) {
        let waiting = self.nodes.indices.filter { self.nodes[$0].generation == 0 }
        let chosen = waiting.prefix(count ?? waiting.count)
        for (index, node) in chosen.enumerated() {
            let time = self.queue.now + span / Int64(max(chosen.count, 1)) * Int64(index)
            self.queue.schedule(.start, at: time, node: node, stamp: 0)
        }
    }

    /// The owner's device revokes running members, never itself.
    private mutating func revoke(_ count: Int) throws(IdentityError) {
        let running = self.nodes.indices.filter {
            $0 != Population.owner && self.nodes[$0].isRunning && !self.nodes[$0].isCutOff
                && !self.record.revocations.isVictim(self.nodes[$0].peerId)
        }
        var entries: [Revocation] = []
        for node in running.shuffled(using: &self.stepChance).prefix(count) {
            let entry = try Revocation.create(
                peerId: self.nodes[node].peerId,
                networkId: self.keys.networkId,
                signer: self.keys.network,
                seconds: self.time(of: Population.owner).wallSeconds
            )
            entries.append(entry)
            self.record.mails.noteRevocation(of: node)
            self.record.revocations.begin(self.nodes[node].peerId, at: self.queue.now, nodeCount: self.nodes.count)
        }
        self.record.note(.step, at: self.queue.now, of: Population.owner, UInt64(entries.count))
        self.apply(.membership(.revocationsAdded(entries)), to: Population.owner)
        // A revoked member must not read the beacons of the others.
        let epoch = self.time(of: Population.owner).wallSeconds
        let secret = try self.keys.memberSecret(epoch: epoch, using: &self.stepChance)
        self.apply(.membership(.secretAdded(secret)), to: Population.owner)
    }
}
