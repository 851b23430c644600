internal import Discovery
internal import Identity
internal import Kademlia
internal import Mailbox
internal import NodeCore
internal import PubSub

// The effects of cores.
extension World {
    mutating func carryOut(_ effect: Effect, of node: Int) {
        switch effect {
        case .connection(let effect): self.carryOut(effect, of: node)
        case .peer(let effect): self.carryOut(effect, of: node)
        case .membership(let effect): self.carryOut(effect, of: node)
        case .table(_, let effect): self.carryOut(effect, of: node)
        case .events(_, let effect): self.carryOut(effect, of: node)
        case .mailbox(_, let effect): self.carryOut(effect, of: node)
        case .keys(let peer, let effect): self.carryOut(effect, with: peer, of: node)
        case .discovery(.multicast(let datagram)): self.multicast(datagram, from: node)
        case .wake(let time): self.schedule(wakeOf: node, at: time.nanosecondsRoundedUp)
        case .discovery(.ignored), .services:
            // Reports that no figure counts.
            break
        case .join, .paths:
            // Devices are members from the beginning, and connections have no paths here.
            break
        }
    }

    private mutating func carryOut(_ effect: ConnectionEffect, of node: Int) {
        switch effect {
        case .send(let id, let frame): self.send(frame, on: id, from: node)
        case .close(let id, let code, _): self.close(id, code, by: node)
        case .drain(let id): self.drain(id, by: node)
        case .admitted, .moveRequests, .resetStreams, .migrate, .openChannel, .relay:
            // There are no limits, streams or paths here.
            break
        }
    }

    private mutating func carryOut(_ effect: PeerEffect, of node: Int) {
        switch effect {
        case .dial(let peer, let addresses): self.dial(peer, at: addresses, by: node)
        case .joined(let peer, _): self.admit(peer, at: node)
        case .left(let peer, _, _): self.record.noteLoss(of: peer)
        case .refused(let peer, _, _), .refusedByPeer(let peer, _, _):
            self.record.noteRefusal(of: peer)
        case .persist(let peer, _, let place):
            self.nodes[node].disk.remember(peer, at: place.map { [$0.address] } ?? [])
        case .discovered(let peer, _, _): self.noteDiscovery(of: peer, by: node)
        case .dialPath, .unreachable, .banned, .lost, .persistSeen, .persistFailure:
            // No node waits for one peer, nor traverses a NAT, and no person reads when a peer was seen.
            break
        }
    }

    private mutating func admit(_ peer: PeerId, at node: Int) {
        let other = self.nodes.number(of: peer)
        self.record.noteAdmission(of: other, at: node, after: self.nodes.admit(node, at: self.queue.now))
        guard let other, self.queue.now >= self.network.partition.end else { return }
        self.nodes.noteContact(of: node, with: other, at: self.queue.now)
    }

    private mutating func noteDiscovery(of peer: PeerId, by node: Int) {
        guard let other = self.nodes.number(of: peer) else { return }
        let start = max(self.nodes[node].startedAt, self.nodes[other].startedAt)
        self.record.noteDiscovery(of: other, by: node, after: self.queue.now - start)
    }

    private mutating func carryOut(_ effect: MembershipEffect, of node: Int) {
        switch effect {
        case .persistRevocations(let entries):
            self.nodes[node].disk.revocations += entries
            for entry in entries {
                self.record.noteRevocation(of: entry.peerId, at: self.queue.now, by: node, self.nodes[node])
            }
        case .persistSecrets(let secrets): self.nodes[node].disk.secrets = secrets
        case .tokenRenewed, .tokenExpiring, .renewalRequested:
            // Tokens have no end here.
            break
        case .ended, .deviceKeyUsedTwice, .clockBehind:
            // Reports that no figure counts.
            break
        }
    }

    private mutating func carryOut(_ effect: Kademlia.HostEffect, of node: Int) {
        switch effect {
        case .finished(let id, let outcome, let effort): self.finish(id, outcome, effort)
        case .persist(let record):
            let id = RecordId(location: Record.location(of: record.key, in: self.keys.networkId), writer: record.writer)
            self.nodes[node].disk.records[id] = record
            self.diskAnswers.append(.table(.persisted(self.keys.networkId, id, version: record.version, true)))
        case .forget(let id): self.nodes[node].disk.records[id] = nil
        }
    }

    private mutating func carryOut(_ effect: PubSub.HostEffect, of node: Int) {
        switch effect {
        case .deliver(let batch, _, let hops):
            self.record.noteBatch(batch, hops, at: self.queue.now, of: node, in: self.nodes)
        case .missed(let stream, let count): self.record.noteGap(in: stream, count: count)
        case .isolated:
            // A report that no figure counts.
            break
        }
    }

    private mutating func schedule(wakeOf node: Int, at time: Int64) {
        self.nodes[node].wakeGeneration &+= 1
        let generation = self.nodes[node].wakeGeneration
        self.queue.schedule(.wake, at: max(time, self.queue.now), node: node, stamp: generation)
    }
}
