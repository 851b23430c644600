internal import NodeCore

/// A connection between two nodes, which delivers in order.
struct SimulatedConnection {
    /// The state of an end.
    enum Stage: UInt8 {
        /// The core there was not notified of the connection yet. May become `up` or `down`.
        case pending
        /// The core at this end uses it. May become `down`.
        case up
        /// Everything that arrives at this end is dropped.
        case down
    }

    /// One end.
    struct End {
        let node: UInt32
        /// The node's generation when the connection was made.
        let generation: UInt32
        var stage = Stage.pending
        /// The time at which the last thing that was sent to this end arrives.
        var lastArrival: Int64 = 0
        /// The last packet to this end, with its time and length; further frames sent at the same time join it.
        var lastPacket: UInt32 = 0
        var lastSent: Int64 = -1
        var lastByteCount = 0
    }

    /// Never used twice, and greater for a later connection.
    let stamp: UInt32
    var dialler: End
    var acceptor: End

    func isDialler(_ node: Int) -> Bool { Int(dialler.node) == node }

    /// The end at `node`.
    subscript(node: Int) -> End {
        get { isDialler(node) ? dialler : acceptor }
        set {
            if isDialler(node) { dialler = newValue } else { acceptor = newValue }
        }
    }

    /// The node at the other end of `node`.
    func other(than node: Int) -> Int { Int(isDialler(node) ? acceptor.node : dialler.node) }
}

/// The id of a connection for the cores at both ends.
extension ConnectionId {
    init(slot: UInt32, stamp: UInt32) {
        self.init(UInt64(stamp) << 32 | UInt64(slot))
    }

    var slot: UInt32 { UInt32(truncatingIfNeeded: number) }
    var stamp: UInt32 { UInt32(truncatingIfNeeded: number >> 32) }
}

/// Frames that travel together, because one node sent them on one connection at one moment.
struct SimulatedPacket {
    /// The length from which on further frames join the next packet; a longer frame has a packet of its own.
    static let byteLimit = 1200

    let first: [UInt8]
    var others: [[UInt8]] = []
}
