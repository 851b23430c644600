internal import Identity

/// An RPC to another node that has no response yet.
struct PendingQuery: Sendable {
    /// The use of the response.
    enum Purpose: Sendable {
        /// A step of a lookup.
        case lookup(UInt32)
        /// The long value of a record whose head was found by a lookup.
        case fetch(lookup: UInt32, writer: PeerId)
        /// The record of a put, for a replica.
        case store(Kademlia.RequestId, RecordId)
        /// A reservation for a conditional put.
        case reserve(Kademlia.RequestId)
        /// Digests of records that the peer may lack.
        case offer([Message.Digest])
        /// A record that the peer requested.
        case replicate(RecordId)
        /// A connection, on which both nodes learn of each other.
        case greeting

        /// Whether a late response is still used, although the sender no longer waits for it.
        var toleratesLateness: Bool { if case .lookup = self { true } else { false } }
    }

    /// The stage of an RPC by the time that it takes.
    enum Stage: Sendable {
        /// Goes to ``slow``.
        case inTime
        /// Goes to ``overdue``.
        case slow
        /// Ends with a timeout.
        case overdue
    }

    /// The patience, after which a query is overdue.
    private static let overdueFactor = 3
    /// The time after which a query has failed; the driver's time limit for a dial is shorter.
    private static let timeout = Duration.seconds(5)
    private static let timeoutWithDial = Duration.seconds(12)

    let peer: PeerId
    let purpose: Purpose
    /// Stored to be sent once more when the connection breaks.
    let bytes: [UInt8]
    let sentAt: Duration
    /// Whether the peer was connected when the query was sent; if not, the response takes a handshake longer.
    let wasConnected: Bool
    /// The time after which the response is slow.
    let patience: Duration
    var wasResent = false
    private(set) var stage = Stage.inTime
    /// The end of the stage.
    private(set) var wakeAt: Duration

    init(
        to peer: PeerId,
        for purpose: Purpose,
        _ bytes: [UInt8],
        wasConnected: Bool,
        patience: Duration,
        sentAt: Duration
    ) {
        self.peer = peer
        self.purpose = purpose
        self.bytes = bytes
        self.sentAt = sentAt
        self.wasConnected = wasConnected
        self.patience = patience
        wakeAt = sentAt + patience
    }

    /// Starts in the stage ``Stage/slow``, which ends at once.
    ///
    /// The timeout is not reported synchronously, because the sender of the query must return first.
    mutating func expectNoResponse() {
        stage = .slow
        wakeAt = sentAt
    }

    /// Moves to the slow stage early; the next ``delay(isUnresponsive:)`` proceeds from it.
    mutating func markSlow() { stage = .slow }

    /// Advances to the next stage; returns false after the last.
    ///
    /// For an unresponsive peer, the stage ``Stage/overdue`` exists only if a late response is still of use.
    mutating func delay(isUnresponsive: Bool) -> Bool {
        let end = sentAt + (wasConnected ? Self.timeout : Self.timeoutWithDial)
        switch stage {
        case .inTime:
            stage = .slow
            wakeAt = min(end, sentAt + patience * Self.overdueFactor)
        case .slow:
            if isUnresponsive, !purpose.toleratesLateness { return false }
            stage = .overdue
            wakeAt = end
        case .overdue: return false
        }
        return true
    }
}
