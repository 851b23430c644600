internal import Identity
internal import WireGuard

/// The sockets of an engine as one thread uses them, at most one of each family.
struct EngineSockets {
    let all: [EngineSocket]

    /// Uses duplicates of bound sockets.
    init(duplicating descriptors: [Int32]) throws(TunnelError) {
        var all: [EngineSocket] = []
        for descriptor in descriptors { all.append(try EngineSocket(duplicating: descriptor)) }
        self.all = all
    }

    /// Sends datagrams in order, each through the socket of its family; those without one are lost.
    ///
    /// The thread waits for room in the sockets, so that a sender inside the tunnel is slowed down instead of losing
    /// packets.
    func send(_ datagrams: borrowing DatagramBatch) {
        guard !datagrams.isEmpty else { return }
        for socket in all { socket.send(datagrams, waits: true) }
    }

    /// Performs the effects of the value: only datagrams need a system call.
    func perform(_ effects: inout [WireGuardInterface.Effect]) {
        for effect in effects {
            guard case .send(let datagram, let endpoint) = effect else { continue }
            for socket in all where socket.isIPv6 == endpoint.isIPv6 { socket.send(datagram, to: endpoint) }
        }
        effects.removeAll(keepingCapacity: true)
    }
}
