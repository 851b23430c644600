internal import Bytes
internal import Crypto
internal import DequeModule
internal import Identity

/// The STUN requests of this node: their transaction ids, those that wait for an answer, and how many may go.
struct Probes: Sendable {
    private var random: SeededGenerator
    private var transactions: Transactions
    var ledger: Ledger

    init(seed: UInt64, _ limits: Reach.Limits) {
        random = SeededGenerator(seed: seed)
        transactions = Transactions(limits)
        ledger = Ledger(limits)
    }

    /// A request that waits for its answer.
    subscript(transaction: STUNTransactionId) -> Transactions.Request? { transactions[transaction] }

    /// Sends a probe of a session, and notes it until it is answered.
    mutating func send(to way: Session.Way, for session: Session, _ turn: inout Reach.Turn) {
        let id = session.key.id
        let (transaction, bytes) = makeRequest(ProbeName(id, isFirst: session.isFirst), session.key.key)
        transactions.insert(Transactions.Request(session: id, way: way, sentAt: turn.now), as: transaction)
        turn.emit(.host(.sendDatagram(bytes, to: way.address, port: way.port)))
    }

    /// Draws a transaction id, and seals a request with it.
    mutating func makeRequest(_ name: ProbeName, _ key: SessionKey) -> (STUNTransactionId, [UInt8]) {
        let transaction = STUNTransactionId(using: &random)
        let request = STUNMessage(.request, transaction: transaction, attributes: [.username(name.bytes)])
        return (transaction, STUNPacket.encode(request, key: SymmetricKey(data: key.bytes)))
    }

    /// Notes that a request was answered by this peer.
    mutating func answered(
        _ transaction: STUNTransactionId,
        from address: SocketAddress,
        _ peer: PeerId,
        _ now: Duration
    ) {
        transactions.remove(transaction)
        ledger.answered(from: address, peer, at: now)
    }

    /// Draws a port that was not tried.
    mutating func drawPort(outside tried: Set<UInt16>) -> UInt16 {
        var port = UInt16.random(in: 1024 ... .max, using: &random)
        while tried.contains(port) { port = UInt16.random(in: 1024 ... .max, using: &random) }
        return port
    }
}

/// Requests that wait for their answer.
struct Transactions: Sendable {
    struct Request: Sendable {
        let session: SessionId
        let way: Session.Way
        let sentAt: Duration
    }

    private let limits: Reach.Limits
    private var order = Deque<STUNTransactionId>()
    private var requests: [STUNTransactionId: Request] = [:]

    init(_ limits: Reach.Limits) {
        self.limits = limits
    }

    subscript(transaction: STUNTransactionId) -> Request? { requests[transaction] }

    mutating func insert(_ request: Request, as transaction: STUNTransactionId) {
        while let oldest = order.first {
            let isOld = requests[oldest].map { request.sentAt - $0.sentAt > limits.transactionTime } ?? true
            guard isOld || order.count >= limits.transactions else { break }
            order.removeFirst()
            requests[oldest] = nil
        }
        order.append(transaction)
        requests[transaction] = request
    }

    mutating func remove(_ transaction: STUNTransactionId) { requests[transaction] = nil }
}
