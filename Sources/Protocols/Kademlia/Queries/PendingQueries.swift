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

    subscript(number: UInt32) -> PendingQuery? { self.queries[number] }

    /// Returns the numbers of the queries to a peer, in the order of sending.
    func numbers(to peer: PeerId) -> [UInt32] { self.numbersByPeer[peer] ?? [] }

    func isPending(to peer: PeerId) -> Bool { self.numbersByPeer[peer] != nil }

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
        guard self.queries.count < self.limit else { return nil }
        repeat { self.lastNumber &+= 1 } while self.queries[self.lastNumber] != nil
        let number = self.lastNumber
        let bytes = Message(number: number, body: .rpc(rpc)).bytes
        var query = PendingQuery(
            to: peer,
            for: purpose,
            bytes,
            wasConnected: connected != nil,
            patience: self.patience(with: connected),
            sentAt: now
        )
        if connected?.isUnresponsive == true { query.expectNoResponse() }
        self.queries[number] = query
        self.numbersByPeer[peer, default: []].append(number)
        schedule.arm(.query(number), at: query.wakeAt)
        return bytes
    }

    private func patience(with connected: ConnectedPeer?) -> Duration {
        guard let connected else { return min(self.dialTime, Patience.longestWithDial) }
        guard let roundTrip = connected.roundTrip else { return Patience.unknown }
        return max(Patience.shortest, min(roundTrip * 2 + .milliseconds(50), Patience.longest))
    }

    /// Returns the message of a query for one retransmission after its connection broke; nil the second time.
    mutating func resend(_ number: UInt32) -> [UInt8]? {
        guard let query = self.queries[number], !query.wasResent else { return nil }
        self.queries[number]?.wasResent = true
        return query.bytes
    }

    /// Returns the messages of a lookup's queries to a peer, to be sent again when more addresses of it are known.
    func messages(of lookup: UInt32, to peer: PeerId) -> [[UInt8]] {
        self.numbers(to: peer).compactMap { number in
            guard let query = self.queries[number], case .lookup(lookup) = query.purpose else { return nil }
            return query.bytes
        }
    }

    // MARK: Responses and timeouts

    /// Removes a query, because it was answered or failed.
    mutating func remove(_ number: UInt32) -> PendingQuery? {
        guard let query = self.queries.removeValue(forKey: number) else { return nil }
        self.numbersByPeer[query.peer]?.removeAll { $0 == number }
        if self.numbersByPeer[query.peer]?.isEmpty == true { self.numbersByPeer[query.peer] = nil }
        return query
    }

    /// Notes the time that a query took, and returns it if it measures the round trip on a connection.
    mutating func measure(_ query: PendingQuery, at now: Duration) -> Duration? {
        let elapsed = now - query.sentAt
        if query.wasConnected { return query.wasResent ? nil : elapsed }
        self.dialTime = (self.dialTime * 15 + min(elapsed, Patience.longestWithDial)) / 16
        return nil
    }

    mutating func markSlow(_ number: UInt32) { self.queries[number]?.markSlow() }

    /// Moves a query that takes long to its next stage and returns that, or nil when the query has failed.
    mutating func delay(_ number: UInt32, isUnresponsive: Bool, _ schedule: inout Schedule) -> PendingQuery.Stage? {
        guard self.queries[number]?.delay(isUnresponsive: isUnresponsive) == true, let query = self.queries[number]
        else { return nil }
        schedule.arm(.query(number), at: query.wakeAt)
        return query.stage
    }
}
