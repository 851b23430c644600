internal import Bytes
internal import Identity
internal import NodeCore
internal import Transport

/// Local networks of neighbouring nodes, in which datagrams to the discovery group reach all, with losses.
struct LocalNetworkModel: Sendable, Hashable {
    /// How many nodes one has; the last one may have fewer.
    var size: Int
    var link: LinkModel
    var knows = Knowledge.secret

    /// What nodes know of their network before their first start, beside their token.
    enum Knowledge: String, Sendable, CaseIterable {
        /// The member secret, as after an earlier admission.
        case secret
        /// The key to which they can call, as from a text.
        case rendezvous
    }
}

extension World {
    /// Sends a datagram to everybody in the node's local network that runs, the node itself included: hosts hear what
    /// they send to a group.
    mutating func multicast(_ datagram: [UInt8], from node: Int) {
        guard let model = self.scenario.localNetwork else { return }
        self.record.traffic.noteDatagram(byteCount: datagram.count)
        let first = node / model.size * model.size
        for other in first..<min(first + model.size, self.nodes.count) where self.nodes[other].isRunning {
            guard self.passage(from: node, to: other, at: self.queue.now) == self.queue.now else { continue }
            for delay in model.link.datagramDelays(using: &self.datagramChance) {
                self.queue.schedule(
                    .datagram,
                    at: self.queue.now + delay.nanoseconds,
                    node: other,
                    slot: UInt32(node),
                    payload: self.packets.insert(SimulatedPacket(first: datagram))
                )
            }
        }
    }

    mutating func deliverDatagram(_ event: Event, to node: Int) {
        guard let bytes = self.packets.remove(event.payload)?.first, self.nodes[node].isRunning else { return }
        self.record.note(.datagram, at: self.queue.now, of: node, UInt64(event.slot) << 16 | UInt64(bytes.count))
        self.apply(.discovery(.datagramReceived(bytes, from: SimulatedAddress.of(Int(event.slot)))), to: node)
    }
}
