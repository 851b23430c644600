internal import Identity

/// The RPCs to other nodes that have no response yet, by number and peer.
///
/// The patience with a response follows the round trip to a connected peer, and for others the time that RPCs with a
/// dial took.
struct PendingQueries: Sendable {
    /// The bounds of the patience with one response.
    private enum Patience {
        static let shortest = Duration.milliseconds(100)
        static let longest = Duration.milliseconds(1500)
        static let unknown = Duration.milliseconds(500)
        static let longestWithDial = Duration.seconds(3)
    }

    private let limit: Int
    private var queries: [UInt32: PendingQuery] = [:]
    /// The numbers of the queries to each peer, in the order of sending.
    private var numbersByPeer: [PeerId: [UInt32]] = [:]
    private var lastNumber: UInt32 = 0
    /// The smoothed time of an RPC that needs a dial first.
    private var dialTime = Duration.milliseconds(500)

    init(limit: Int) {
        self.limit = limit
    }

    subscript(number: UInt32) -> PendingQuery? { queries[number] }

    /// Returns the numbers of the queries to a peer, in the order of sending.
    func numbers(to peer: PeerId) -> [UInt32] { numbersByPeer[peer] ?? [] }

    func isPending(to peer: PeerId) -> Bool { numbersByPeer[peer] != nil }

    // MARK: Sending

    /// Adds a query to a peer, connected or not; returns its message, or nil when too many are pending.
    mutating func add(
        _ rpc: Message.RPC,
        to peer: PeerId,
        _ connected: ConnectedPeer?,
        for purpose: PendingQuery.Purpose,
        _ schedule: inout Schedule,
        at now: Duration
    ) -> [UInt8]? {
        guard queries.count < limit else { return nil }
        repeat { lastNumber &+= 1 } while queries[lastNumber] != nil
        let number = lastNumber
        let bytes = Message(number: number, body: .rpc(rpc)).bytes
        var query = PendingQuery(
            to: peer,
            for: purpose,
            bytes,
            wasConnected: connected != nil,
            patience: patience(with: connected),
            sentAt: now
        )
        if connected?.isUnresponsive == true { query.expectNoResponse() }
        queries[number] = query
        numbersByPeer[peer, default: []].append(number)
        schedule.arm(.query(number), at: query.wakeAt)
        return bytes
    }

    private func patience(with connected: ConnectedPeer?) -> Duration {
        guard let connected else { return min(dialTime, Patience.longestWithDial) }
        guard let roundTrip = connected.roundTrip else { return Patience.unknown }
        return max(Patience.shortest, min(roundTrip * 2 + .milliseconds(50), Patience.longest))
    }

    /// Returns the message of a query for one retransmission after its connection broke; nil the second time.
    mutating func resend(_ number: UInt32) -> [UInt8]? {
        guard let query = queries[number], !query.wasResent else { return nil }
        queries[number]?.wasResent = true
        return query.bytes
    }

    /// Returns the messages of a lookup's queries to a peer, to be sent again when more addresses of it are known.
    func messages(of lookup: UInt32, to peer: PeerId) -> [[UInt8]] {
        numbers(to: peer).compactMap { number in
            guard let query = queries[number], case .lookup(lookup) = query.purpose else { return nil }
            return query.bytes
        }
    }

    // MARK: Responses and timeouts

    /// Removes a query, because it was answered or failed.
    mutating func remove(_ number: UInt32) -> PendingQuery? {
        guard let query = queries.removeValue(forKey: number) else { return nil }
        numbersByPeer[query.peer]?.removeAll { $0 == number }
        if numbersByPeer[query.peer]?.isEmpty == true { numbersByPeer[query.peer] = nil }
        return query
    }

    /// Notes the time that a query took, and returns it if it measures the round trip on a connection.
    mutating func measure(_ query: PendingQuery, at now: Duration) -> Duration? {
        let elapsed = now - query.sentAt
        if query.wasConnected { return query.wasResent ? nil : elapsed }
        dialTime = (dialTime * 15 + min(elapsed, Patience.longestWithDial)) / 16
        return nil
    }

    mutating func markSlow(_ number: UInt32) { queries[number]?.markSlow() }

    /// Moves a query that takes long to its next stage and returns that, or nil when the query has failed.
    mutating func delay(_ number: UInt32, isUnresponsive: Bool, _ schedule: inout Schedule) -> PendingQuery.Stage? {
        guard queries[number]?.delay(isUnresponsive: isUnresponsive) == true, let query = queries[number]
        else { return nil }
        schedule.arm(.query(number), at: query.wakeAt)
        return query.stage
    }
}
