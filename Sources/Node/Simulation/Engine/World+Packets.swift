internal import NodeCore

// Frames on connections, and datagrams to groups.
extension World {
    mutating func send(_ frame: Frame, on id: ConnectionId, from node: Int) {
        guard let connection = self.network.connections[id], connection[node].stage == .up else { return }
        let bytes = frame.bytes
        self.record.traffic.noteFrame(bytes)
        let other = connection.other(than: node)
        let way = self.nodes.way(from: node, to: other)
        guard let sent = self.network.send(bytes, on: id.slot, over: way, at: self.queue.now) else { return }
        self.queue.schedule(
            .frame,
            at: sent.arrival,
            node: other,
            slot: id.slot,
            stamp: id.stamp,
            payload: sent.packet
        )
    }

    mutating func deliverPacket(_ event: Event, to node: Int) {
        guard let packet = self.network.receive(event.payload) else { return }
        self.deliver(packet.first, on: event.connection, to: node)
        for frame in packet.others { self.deliver(frame, on: event.connection, to: node) }
    }

    private mutating func deliver(_ bytes: [UInt8], on id: ConnectionId, to node: Int) {
        guard self.network.connections[id]?[node].stage == .up else { return }
        self.record.noteFrame(bytes, at: self.queue.now, of: node)
        if self.nodes[node].isHostile, self.answerFalsely(bytes, on: id, by: node) { return }
        self.apply(.connection(.frameReceived(id, bytes)), to: node)
    }

    // MARK: Datagrams

    /// Sends a datagram to all running nodes of the sender's local network, the sender included: hosts receive what they
    /// send to a group.
    mutating func multicast(_ datagram: [UInt8], from node: Int) {
        guard let local = self.network.model.local else { return }
        self.record.traffic.noteDatagram(byteCount: datagram.count)
        for other in local.neighbours(of: node, nodeCount: self.nodes.count) where self.nodes[other].isRunning {
            let way = self.nodes.way(from: node, to: other)
            for sent in self.network.send(datagram, local.link, over: way, at: self.queue.now) {
                self.queue.schedule(
                    .datagram,
                    at: sent.arrival,
                    node: other,
                    slot: UInt32(node),
                    payload: sent.packet
                )
            }
        }
    }

    mutating func deliverDatagram(_ event: Event, to node: Int) {
        guard let bytes = self.network.receive(event.payload)?.first, self.nodes[node].isRunning else { return }
        self.record.note(.datagram, at: self.queue.now, of: node, UInt64(event.slot) << 16 | UInt64(bytes.count))
        self.apply(.discovery(.datagramReceived(bytes, from: SimulatedAddress.of(Int(event.slot)))), to: node)
    }
}
