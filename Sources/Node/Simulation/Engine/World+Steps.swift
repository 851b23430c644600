internal import Bytes
internal import Identity
internal import NodeCore

// The steps of a scenario.
extension World {
    mutating func perform(_ number: UInt32) throws(IdentityError) {
        switch scenario.steps[Int(number)].action {
        case .start(let count, let span): startNodes(count, over: span.nanoseconds)
        case .partition(let share, let lasting, let isOneWay):
            cutOff(share: share, lasting: lasting.nanoseconds, isOneWay: isOneWay)
        case .revoke(let count): try revoke(count)
        case .clockJump(let share, let span, let isBackwards):
            let seconds = span.components.seconds * (isBackwards ? -1 : 1)
            for node in nodes.indices where stepChance.decide(share) { nodes[node].wallOffset += seconds }
        case .churn(let churn): beginChurn(churn)
        case .put(let work, _, _), .update(let work), .get(let work, _), .lookup(let work), .mail(let work, _, _),
            .seal(let work, _):
            schedule(work, of: number)
        case .exchangeKeys: exchangeKeys()
        case .publish(let publishing): schedule(publishing.work, of: number)
        case .silence(let share): silenceNodes(share: share)
        case .measure(_, let interval, let lasting):
            let count = interval > .zero ? Int(lasting / interval) + 1 : 1
            schedule(Scenario.Work(count: count, over: interval * count), of: number)
        }
    }

    /// Stops nodes together without a shutdown, except the owner and the publisher.
    private mutating func silenceNodes(share: Double) {
        let running = nodes.indices.filter {
            nodes[$0].isRunning && $0 != Population.owner && $0 != record.events.publisher
        }
        let count = Int((Double(running.count) * share).rounded())
        for node in running.shuffled(using: &stepChance).prefix(count) { stop(node, isAbrupt: true) }
    }

    /// Begins a partition: connections across it fall silent.
    private mutating func cutOff(share: Double, lasting: Int64, isOneWay: Bool) {
        let end = queue.now + lasting
        noteMeetings()
        network.partition = Partition(end: end, lasting: lasting, isOneWay: isOneWay)
        for node in nodes.indices {
            nodes[node].isCutOff = node != Population.owner && stepChance.decide(share)
            nodes[node].firstContact = nil
        }
        guard lasting >= network.model.idleTimeout.nanoseconds else { return }
        for slot in network.connections.slots {
            guard let connection = network.connections[slot] else { continue }
            let ends = [Int(connection.dialler.node), Int(connection.acceptor.node)]
            guard nodes[ends[0]].isCutOff != nodes[ends[1]].isCutOff else { continue }
            for node in ends { silence(ConnectionId(slot: slot, stamp: connection.stamp), at: node) }
        }
    }

    private mutating func startNodes(_ count: Int?, over span: Int64) {
        let waiting = nodes.indices.filter { nodes[$0].generation == 0 }
        let chosen = waiting.prefix(count ?? waiting.count)
        for (index, node) in chosen.enumerated() {
            let time = queue.now + span / Int64(max(chosen.count, 1)) * Int64(index)
            queue.schedule(.start, at: time, node: node, stamp: 0)
        }
    }

    /// The owner's device revokes running members, never itself.
    private mutating func revoke(_ count: Int) throws(IdentityError) {
        let running = nodes.indices.filter {
            $0 != Population.owner && nodes[$0].isRunning && !nodes[$0].isCutOff
                && !record.revocations.isVictim(nodes[$0].peerId)
        }
        var entries: [Revocation] = []
        for node in running.shuffled(using: &stepChance).prefix(count) {
            let entry = try Revocation.create(
                peerId: nodes[node].peerId,
                networkId: keys.networkId,
                signer: keys.network,
                seconds: time(of: Population.owner).wallSeconds
            )
            entries.append(entry)
            record.mails.noteRevocation(of: node)
            record.revocations.begin(nodes[node].peerId, at: queue.now, nodeCount: nodes.count)
        }
        record.note(.step, at: queue.now, of: Population.owner, UInt64(entries.count))
        apply(.membership(.revocationsAdded(entries)), to: Population.owner)
        // A revoked member must not read the beacons of the others.
        let epoch = time(of: Population.owner).wallSeconds
        let secret = try keys.memberSecret(epoch: epoch, using: &stepChance)
        apply(.membership(.secretAdded(secret)), to: Population.owner)
    }
}
