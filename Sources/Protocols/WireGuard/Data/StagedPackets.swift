internal import DequeModule

/// The outgoing packets that wait for a session, in order for each peer; bounded for each peer and for all of them.
///
/// A packet beyond a bound replaces the oldest one: of the same peer, or of all peers.
struct StagedPackets: Sendable {
    private struct Packet: Sendable {
        var serial: UInt64
        var bytes: [UInt8]
    }

    private let peerLimit: Int
    private let limit: Int
    private let byteLimit: Int
    /// Peers without a waiting packet have no entry.
    private var queues: [Int: Deque<Packet>] = [:]
    /// The packets of all peers, the oldest first, among others that no longer wait.
    private var order = Deque<(peer: Int, serial: UInt64)>()
    private var nextSerial: UInt64 = 0
    /// The packets that wait.
    private(set) var count = 0
    /// The bytes of these.
    private(set) var byteCount = 0
    /// The entries of the order, waiting or not: at most twice the limit and one.
    var orderCount: Int { order.count }

    init(peerLimit: Int, limit: Int, byteLimit: Int) {
        self.peerLimit = peerLimit
        self.limit = limit
        self.byteLimit = byteLimit
    }

    /// Whether a packet of the peer waits.
    func contains(_ peer: Int) -> Bool { queues[peer] != nil }

    /// Adds a packet.
    mutating func append(_ bytes: [UInt8], for peer: Int) {
        guard bytes.count <= byteLimit else { return }
        if queues[peer]?.count == peerLimit { removeFirst(of: peer) }
        while count >= limit || byteCount + bytes.count > byteLimit { removeOldest() }
        queues[peer, default: []].append(Packet(serial: nextSerial, bytes: bytes))
        order.append((peer, nextSerial))
        nextSerial += 1
        count += 1
        byteCount += bytes.count
        if order.count > 2 * limit { forgetSent() }
    }

    /// Removes and returns the packets of a peer, the oldest first.
    mutating func removeAll(of peer: Int) -> [[UInt8]] {
        guard let queue = queues.removeValue(forKey: peer) else { return [] }
        count -= queue.count
        byteCount -= queue.reduce(0) { $0 + $1.bytes.count }
        return queue.map(\.bytes)
    }

    private mutating func removeFirst(of peer: Int) {
        guard let packet = queues[peer]?.popFirst() else { return }
        if queues[peer]?.isEmpty == true { queues[peer] = nil }
        count -= 1
        byteCount -= packet.bytes.count
    }

    private mutating func removeOldest() {
        while let oldest = order.popFirst() {
            guard queues[oldest.peer]?.first?.serial == oldest.serial else { continue }
            removeFirst(of: oldest.peer)
            return
        }
    }

    private mutating func forgetSent() {
        order.removeAll { entry in (queues[entry.peer]?.first?.serial).map { $0 > entry.serial } ?? true }
    }
}
