internal import NodeCore

// Frames on connections, and datagrams to groups.
extension World {
    mutating func send(_ frame: Frame, on id: ConnectionId, from node: Int) {
        guard let connection = network.connections[id], connection[node].stage == .up else { return }
        let bytes = frame.bytes
        record.traffic.noteFrame(bytes)
        let other = connection.other(than: node)
        let way = nodes.way(from: node, to: other)
        guard let sent = network.send(bytes, on: id.slot, over: way, at: queue.now) else { return }
        queue.schedule(
            .frame,
            at: sent.arrival,
            node: other,
            slot: id.slot,
            stamp: id.stamp,
            payload: sent.packet
        )
    }

    mutating func deliverPacket(_ event: Event, to node: Int) {
        guard let packet = network.receive(event.payload) else { return }
        deliver(packet.first, on: event.connection, to: node)
        for frame in packet.others { deliver(frame, on: event.connection, to: node) }
    }

    private mutating func deliver(_ bytes: [UInt8], on id: ConnectionId, to node: Int) {
        guard network.connections[id]?[node].stage == .up else { return }
        record.noteFrame(bytes, at: queue.now, of: node)
        if nodes[node].isHostile, answerFalsely(bytes, on: id, by: node) { return }
        apply(.connection(.frameReceived(id, bytes)), to: node)
    }

    // MARK: Datagrams

    /// Sends a datagram to all running nodes of the sender's local network, the sender included: hosts receive what they
    /// send to a group.
    mutating func multicast(_ datagram: [UInt8], from node: Int) {
        guard let local = network.model.local else { return }
        record.traffic.noteDatagram(byteCount: datagram.count)
        for other in local.neighbours(of: node, nodeCount: nodes.count) where nodes[other].isRunning {
            let way = nodes.way(from: node, to: other)
            for sent in network.send(datagram, local.link, over: way, at: queue.now) {
                queue.schedule(
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
        guard let bytes = network.receive(event.payload)?.first, nodes[node].isRunning else { return }
        record.note(.datagram, at: queue.now, of: node, UInt64(event.slot) << 16 | UInt64(bytes.count))
        apply(.discovery(.datagramReceived(bytes, from: SimulatedAddress.of(Int(event.slot)))), to: node)
    }
}
