internal import Identity
internal import Kademlia
internal import NodeCore
internal import PubSub

// What cores want done.
extension World {
    mutating func carryOut(_ effect: Effect, of node: Int) {
        switch effect {
        case .send(let id, let frame): self.send(frame, on: id, from: node)
        case .close(let id, let code): self.close(id, code, by: node)
        case .drain(let id): self.drain(id, by: node)
        case .dial(let peer, let addresses): self.dial(peer, at: addresses, by: node)
        case .wake(let time): self.schedule(wakeOf: node, at: time.nanosecondsRoundedUp)
        case .persistRevocations(let entries):
            self.nodes[node].disk.revocations += entries
            for entry in entries { self.noteRevocation(of: entry.peerId, knownTo: node) }
        case .persistPeer(let peer, _, let address):
            self.nodes[node].disk.remember(peer, at: address.map { [$0] } ?? [])
        case .persistMemberSecrets(let secrets): self.nodes[node].disk.secrets = secrets
        case .persistRecord(_, let record):
            let id = RecordId(location: Record.location(of: record.key, in: self.keys.networkId), writer: record.writer)
            self.nodes[node].disk.records[id] = record
        case .forgetRecord(_, let id): self.nodes[node].disk.records[id] = nil
        case .dhtFinished(let id, let outcome, let effort): self.finish(id, outcome, effort)
        case .eventsReceived(_, let batch, _, let hops): self.noteEvents(batch, hops, at: node)
        case .eventsMissed(_, let stream, let count):
            self.digest.mix(stream.publisher.words.first)
            self.eventProbe.gaps += Int(clamping: count)
        case .multicast(let datagram): self.multicast(datagram, from: node)
        case .peerDiscovered(let peer, _, _): self.noteDiscovery(of: peer, by: node)
        case .peerJoined(let peer, _): self.noteAdmission(of: peer, at: node)
        case .peerLeft(let peer, _, _): self.digest.mix(0x1EF7 << 32 | peer.words.first >> 32)
        case .refused(let peer, _, _), .refusedByPeer(let peer, _, _):
            self.digest.mix(0x4EF0 << 32 | peer.words.first >> 32)
            self.admissions.refusals += 1
        default: break
        }
    }

    private mutating func schedule(wakeOf node: Int, at time: Int64) {
        self.nodes[node].wakeGeneration &+= 1
        let generation = self.nodes[node].wakeGeneration
        self.queue.schedule(.wake, at: max(time, self.now), node: node, stamp: generation)
    }
}
