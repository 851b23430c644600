internal import Crypto
internal import DequeModule
internal import Identity
internal import OrderedCollections

/// An effort to find a direct way to a peer: of a call over a coordinator, or of a connection that lost its path.
struct Session: Sendable {
    /// What it belongs to.
    enum Purpose: Hashable, Sendable {
        /// This node calls.
        case outgoing
        /// The peer does.
        case incoming
        /// The connection's own key is used, to the addresses that it had.
        case path
    }

    let peer: PeerId
    /// The network of a call.
    let network: NetworkId
    let key: CallKey
    let purpose: Purpose
    /// Whether this side is named first in probes: the caller, or whoever dialled the connection.
    let isFirst: Bool
    let startedAt: Duration

    // The caller's questions.
    /// Who can still be asked, the most promising at the end.
    var coordinators: [PeerId] = []
    /// Who was asked and has not said no.
    var asked = OrderedSet<PeerId>()
    var askAt: Duration?
    var refusal: Reach.Refusal?

    // The punching, from when the two were brought together.
    /// Over whom that was.
    var helpers = OrderedSet<PeerId>()
    /// The first of them, to whom what is sent for the call is counted; nil under a connection's key.
    var introducer: PeerId?
    var punchedAt: Duration?
    var candidates: [Candidate] = []
    var peerMapping = MappingBehaviour.unknown
    /// Where the coordinator sees the peer, if the peer says the same of itself.
    var peerObserved: SocketAddress?
    var answers = Allowance()
    /// The best channel that came with the call.
    var channel: ChannelId?
    /// Whether nothing but the channel is used.
    var isRelayOnly = false
    /// When the channel is used.
    var relayAt: Duration?
    /// When the best address that works is taken.
    var chooseAt: Duration?
    /// What was taken: the address and the port to use it from.
    var choice: Way?
    /// What the node was told to dial: an address, or that of a channel.
    var dialled: SocketAddress?
    /// When the search begins.
    var searchAt: Duration?
    var search: Search?
    var endsAt: Duration

    /// An address of the peer's, and the own port from which it is tried (nil for the node's own).
    struct Way: Hashable, Sendable {
        let address: SocketAddress
        let port: UInt16?
    }

    /// The peer to whom probes are counted: only it and the peer itself know the key.
    var voucher: PeerId { self.introducer ?? self.peer }

    var isWorking: Bool { self.candidates.contains { $0.workedAt != nil } }

    /// When something is to be done next.
    var due: Duration {
        var due = self.endsAt
        for time in [self.askAt, self.relayAt, self.chooseAt, self.searchAt, self.search?.dueAt] {
            if let time { due = min(due, time) }
        }
        for candidate in self.candidates {
            if let time = candidate.probeAt { due = min(due, time) }
        }
        return due
    }
}

/// An address where the peer may be.
struct Candidate: Sendable {
    let way: Session.Way
    let kind: Reach.AddressKind
    /// The lower the better.
    let rank: Int
    /// Whether nobody but the peer names it.
    let isUnobserved: Bool
    var firstAt: Duration?
    var lastAt: Duration?
    var probeAt: Duration?
    /// When it answered.
    var workedAt: Duration?
    /// Probes so far.
    var count = 0
}

/// Many ports, where one NAT draws another one for each destination: some pair of them will meet (the birthday paradox).
struct Search: Sendable {
    enum Side: Sendable {
        /// This side's NAT draws ports: it opens many, and sends to where the other side is seen.
        case ownPorts([UInt16], next: Int, target: SocketAddress)
        /// The peer's does: this side tries many of them.
        case peerPorts(tried: Set<UInt16>, of: IPAddress)
    }

    var side: Side
    /// When the next probe goes; nil when no more do.
    var dueAt: Duration?
    /// Own ports on which the peer was heard.
    var hits: OrderedSet<UInt16> = []
}

/// Requests that wait for their answer.
struct Transactions: Sendable {
    struct Request: Sendable {
        let call: CallId
        let way: Session.Way
        let sentAt: Duration
    }

    private var order = Deque<STUNTransactionId>()
    private var requests: [STUNTransactionId: Request] = [:]

    subscript(transaction: STUNTransactionId) -> Request? { self.requests[transaction] }

    mutating func insert(_ request: Request, as transaction: STUNTransactionId, _ limits: Reach.Limits) {
        while let oldest = self.order.first {
            let isOld = self.requests[oldest].map { request.sentAt - $0.sentAt > limits.transactionTime } ?? true
            guard isOld || self.order.count >= limits.transactions else { break }
            self.order.removeFirst()
            self.requests[oldest] = nil
        }
        self.order.append(transaction)
        self.requests[transaction] = request
    }

    mutating func remove(_ transaction: STUNTransactionId) -> Request? {
        self.requests.removeValue(forKey: transaction)
    }
}
