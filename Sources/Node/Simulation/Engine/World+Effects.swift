internal import Discovery
internal import Identity
internal import Kademlia
internal import Mailbox
internal import NodeCore
internal import PubSub

// The effects of cores.
extension World {
    mutating func perform(_ effect: Effect, of node: Int) {
        switch effect {
        case .connection(let effect): perform(effect, of: node)
        case .peer(let effect): perform(effect, of: node)
        case .membership(let effect): perform(effect, of: node)
        case .table(_, let effect): perform(effect, of: node)
        case .events(_, let effect): perform(effect, of: node)
        case .mailbox(_, let effect): perform(effect, of: node)
        case .keys(let peer, let effect): perform(effect, with: peer, of: node)
        case .discovery(.multicast(let datagram)): multicast(datagram, from: node)
        case .wake(let time): schedule(wakeOf: node, at: time.nanosecondsRoundedUp)
        case .discovery(.ignored), .services:
            // Reports that no figure counts.
            break
        case .join, .paths:
            // Devices are members from the beginning, and connections have no paths here.
            break
        }
    }

    private mutating func perform(_ effect: ConnectionEffect, of node: Int) {
        switch effect {
        case .send(let id, let frame): send(frame, on: id, from: node)
        case .close(let id, let code, _): close(id, code, by: node)
        case .drain(let id): drain(id, by: node)
        case .admitted, .moveRequests, .resetStreams, .migrate, .openChannel, .relay:
            // There are no limits, streams or paths here.
            break
        }
    }

    private mutating func perform(_ effect: PeerEffect, of node: Int) {
        switch effect {
        case .dial(let peer, let addresses): dial(peer, at: addresses, by: node)
        case .joined(let peer, _): admit(peer, at: node)
        case .left(let peer, _, _): record.noteLoss(of: peer)
        case .refused(let peer, _, _), .refusedByPeer(let peer, _, _):
            record.noteRefusal(of: peer)
        case .persist(let peer, _, let place):
            nodes[node].disk.remember(peer, at: place.map { [$0.address] } ?? [])
        case .discovered(let peer, _, _): noteDiscovery(of: peer, by: node)
        case .dialPath, .unreachable, .banned, .lost, .persistSeen, .persistFailure:
            // No node waits for one peer, nor traverses a NAT, and no person reads when a peer was seen.
            break
        }
    }

    private mutating func admit(_ peer: PeerId, at node: Int) {
        let other = nodes.number(of: peer)
        record.noteAdmission(of: other, at: node, after: nodes.admit(node, at: queue.now))
        guard let other, queue.now >= network.partition.end else { return }
        nodes.noteContact(of: node, with: other, at: queue.now)
    }

    private mutating func noteDiscovery(of peer: PeerId, by node: Int) {
        guard let other = nodes.number(of: peer) else { return }
        let start = max(nodes[node].startedAt, nodes[other].startedAt)
        record.noteDiscovery(of: other, by: node, after: queue.now - start)
    }

    private mutating func perform(_ effect: MembershipEffect, of node: Int) {
        switch effect {
        case .persistRevocations(let entries):
            nodes[node].disk.revocations += entries
            for entry in entries { record.noteRevocation(of: entry.peerId, at: queue.now, by: node, nodes[node]) }
        case .persistSecrets(let secrets): nodes[node].disk.secrets = secrets
        case .tokenRenewed, .tokenExpiring, .renewalRequested:
            // Tokens have no end here.
            break
        case .ended, .deviceKeyUsedTwice, .clockBehind:
            // Reports that no figure counts.
            break
        }
    }

    private mutating func perform(_ effect: Kademlia.HostEffect, of node: Int) {
        switch effect {
        case .finished(let id, let outcome, let effort): finish(id, outcome, effort)
        case .persist(let record):
            let id = RecordId(location: Record.location(of: record.key, in: keys.networkId), writer: record.writer)
            nodes[node].disk.records[id] = record
            diskAnswers.append(.table(.persisted(keys.networkId, id, version: record.version, true)))
        case .forget(let id): nodes[node].disk.records[id] = nil
        }
    }

    private mutating func perform(_ effect: PubSub.HostEffect, of node: Int) {
        switch effect {
        case .deliver(let batch, _, let hops):
            record.noteBatch(batch, hops, at: queue.now, of: node, in: nodes)
        case .missed(let stream, let count): record.noteGap(in: stream, count: count)
        case .isolated:
            // A report that no figure counts.
            break
        }
    }

    private mutating func schedule(wakeOf node: Int, at time: Int64) {
        nodes[node].wakeGeneration &+= 1
        let generation = nodes[node].wakeGeneration
        queue.schedule(.wake, at: max(time, queue.now), node: node, stamp: generation)
    }
}
