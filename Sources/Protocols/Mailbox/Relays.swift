internal import Identity
internal import OrderedCollections

/// The deposits that this node relays and that have no answer yet.
struct Relays: Sendable {
    struct Relay: Sendable {
        let sender: PeerId
        /// The sender's number of the deposit.
        let request: UInt32
        let holder: PeerId
        /// The bytes of the sealed deposit.
        let byteCount: Int
        let deadline: Duration
    }

    private let limits: Mailbox.Limits
    private var relays: OrderedDictionary<UInt32, Relay> = [:]
    private var counts: [PeerId: Int] = [:]
    /// The bytes on their way to each holder.
    private var byteCounts: [PeerId: Int] = [:]

    init(limits: Mailbox.Limits) { self.limits = limits }

    /// The earliest deadline: relays are stored in the order of their deadlines.
    var earliestDeadline: Duration? { relays.values.first?.deadline }

    /// Whether there is room for another relay.
    func hasRoom(for byteCount: Int, from sender: PeerId, to holder: PeerId) -> Bool {
        relays.count < limits.relays && counts[sender, default: 0] < limits.relaysPerSender
            && byteCounts[holder, default: 0] + byteCount <= limits.relayBytesPerHolder
    }

    /// Adds a relay under this node's own number of the request.
    mutating func add(_ relay: Relay, as request: UInt32) {
        relays[request] = relay
        counts[relay.sender, default: 0] += 1
        byteCounts[relay.holder, default: 0] += relay.byteCount
    }

    /// Takes out the relay that a holder answers.
    mutating func take(_ request: UInt32, answeredBy holder: PeerId) -> Relay? {
        guard let relay = relays[request], relay.holder == holder else { return nil }
        remove(request)
        return relay
    }

    /// Removes the relays whose deadline has passed, and those to or from the disconnected member `gone`.
    mutating func takeFailed(at now: Duration, gone: PeerId? = nil) -> [Relay] {
        let failed = relays.filter { relay in
            relay.value.deadline <= now || relay.value.holder == gone || relay.value.sender == gone
        }
        for request in failed.keys { remove(request) }
        return failed.values.filter { $0.sender != gone }
    }

    private mutating func remove(_ request: UInt32) {
        guard let relay = relays.removeValue(forKey: request) else { return }
        counts[relay.sender, default: 0] -= 1
        if counts[relay.sender] == 0 { counts[relay.sender] = nil }
        byteCounts[relay.holder, default: 0] -= relay.byteCount
        if byteCounts[relay.holder] == 0 { byteCounts[relay.holder] = nil }
    }
}
