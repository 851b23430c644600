internal import Identity
internal import WireGuard

/// The sockets of an engine as one thread uses them, at most one of each family.
struct EngineSockets {
    let all: [EngineSocket]
    private let path: PathMTU

    /// Uses duplicates of bound sockets.
    init(duplicating descriptors: [Int32], _ path: PathMTU) throws(TunnelError) {
        self.path = path
        var all: [EngineSocket] = []
        for descriptor in descriptors { all.append(try EngineSocket(duplicating: descriptor)) }
        self.all = all
    }

    /// Sends datagrams in order, each through the socket of its family; those without one are lost.
    ///
    /// The thread waits for room in the sockets, so that a sender inside the tunnel is slowed down instead of losing
    /// packets.
    func send(_ datagrams: borrowing DatagramBatch, reportingTo core: EngineCore) {
        guard !datagrams.isEmpty else { return }
        for socket in all {
            if let refusal = socket.send(datagrams, waits: true) { core.note(refusal, path) }
        }
    }

    /// Performs the effects of the value: only datagrams need a system call.
    func perform(_ effects: inout [WireGuardInterface.Effect], reportingTo core: EngineCore) {
        for effect in effects {
            guard case .send(let datagram, let endpoint) = effect else { continue }
            for socket in all where socket.isIPv6 == endpoint.isIPv6 {
                if let refusal = socket.send(datagram, to: endpoint) { core.note(refusal, path) }
            }
        }
        effects.removeAll(keepingCapacity: true)
    }
}

extension EngineCore {
    /// Lowers the reported MTU if a refused datagram was longer than its path carries.
    fileprivate func note(_ refusal: EngineSocket.Refusal, _ path: PathMTU) {
        guard let path = path.bytes(to: refusal.endpoint) else { return }
        let overhead = refusal.endpoint.isIPv6 ? PathMTU.overheadIPv6 : PathMTU.overheadIPv4
        guard refusal.byteCount + overhead - PathMTU.transportOverhead > path else { return }
        lowerPathMTU(to: UInt16(clamping: path - overhead))
    }
}
