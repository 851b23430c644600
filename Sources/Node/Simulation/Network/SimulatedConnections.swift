internal import NodeCore

/// The connections between nodes by slot.
///
/// A slot is used again after both ends of its connection are down, a stamp never: an id leads to its own connection or
/// to none.
struct SimulatedConnections {
    private var connections = Slab<SimulatedConnection>()
    private var lastStamp: UInt32 = 0

    /// The slots in use, ascending.
    var slots: [UInt32] { connections.slots }

    /// The connection that is in a slot.
    subscript(slot: UInt32) -> SimulatedConnection? { connections[slot] }

    /// The connection of an id, as long as an end of it is not down.
    subscript(id: ConnectionId) -> SimulatedConnection? {
        guard let connection = connections[id.slot], connection.stamp == id.stamp else { return nil }
        return connection
    }

    /// Makes a connection of which neither end is notified yet.
    mutating func open(from dialler: SimulatedConnection.End, to acceptor: SimulatedConnection.End) -> ConnectionId {
        lastStamp += 1
        let connection = SimulatedConnection(stamp: lastStamp, dialler: dialler, acceptor: acceptor)
        return ConnectionId(slot: connections.insert(connection), stamp: lastStamp)
    }

    /// Notes that the core at `node` uses a connection.
    mutating func bringUp(_ slot: UInt32, at node: Int) {
        connections[slot]?[node].stage = .up
    }

    /// Takes a connection away from one of its nodes; false if that did not have it.
    mutating func takeDown(_ id: ConnectionId, at node: Int) -> Bool {
        guard let connection = self[id], connection[node].stage == .up else { return false }
        connections[id.slot]?[node].stage = .down
        forgetIfOver(id.slot)
        return true
    }

    /// Drops a connection that its acceptor does not have yet; returns its dialler, nil if the acceptor has it.
    mutating func losePending(_ id: ConnectionId) -> Int? {
        guard let connection = self[id], connection.acceptor.stage == .pending else { return nil }
        connections[id.slot]?.acceptor.stage = .down
        forgetIfOver(id.slot)
        return Int(connection.dialler.node)
    }

    /// Notes when the last thing that was sent to an end arrives.
    mutating func noteArrival(_ time: Int64, on slot: UInt32, at node: Int) {
        connections[slot]?[node].lastArrival = time
    }

    /// Notes the packet that frames sent to an end at the moment `now` join.
    mutating func notePacket(_ packet: UInt32, byteCount: Int, sentAt now: Int64, on slot: UInt32, to node: Int) {
        connections[slot]?[node].lastPacket = packet
        connections[slot]?[node].lastSent = now
        connections[slot]?[node].lastByteCount = byteCount
    }

    private mutating func forgetIfOver(_ slot: UInt32) {
        guard let connection = connections[slot], connection.dialler.stage == .down,
            connection.acceptor.stage == .down
        else { return }
        _ = connections.remove(slot)
    }
}
