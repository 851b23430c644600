internal import Crypto

/// One session with a peer: a pair of keys, and the counters of both directions (the paper, section 5.4.5).
struct Session: Sendable {
    let peer: Int
    /// The index that the peer sends to.
    let localIndex: UInt32
    /// The index that the peer chose.
    let remoteIndex: UInt32
    /// Whether the local side began the handshake, and therefore renews the session.
    let isInitiator: Bool
    let madeAt: Duration
    let sendingKey: SymmetricKey
    let receivingKey: SymmetricKey
    /// The counter of the next message.
    var nextCounter: UInt64 = 0
    var window = ReplayWindow()

    /// Whether the session is neither sent nor received with any longer.
    func isExpired(at now: Duration) -> Bool { now - madeAt >= Constants.rejectAfterTime }

    /// The messages that may still be sent.
    func remainingMessages(at now: Duration) -> UInt64 {
        isExpired(at: now) || nextCounter >= Constants.rejectAfterMessages
            ? 0 : Constants.rejectAfterMessages - nextCounter
    }

    /// Whether the local side begins a new handshake after it sent.
    func needsRekey(afterSendingAt now: Duration) -> Bool {
        nextCounter > Constants.rekeyAfterMessages || isInitiator && now - madeAt >= Constants.rekeyAfterTime
    }

    /// Whether the local side begins a new handshake after it received: the session would expire before the next packet.
    func needsRekey(afterReceivingAt now: Duration) -> Bool {
        isInitiator
            && now - madeAt >= Constants.rejectAfterTime - Constants.keepaliveTimeout - Constants.rekeyTimeout
    }
}

/// The sessions of a peer, as places in the table of sessions (the paper, section 6.3).
struct PeerSessions: Sendable {
    /// The session that packets are sent with.
    var current: Int32?
    /// The session before: packets that are on their way still arrive with it.
    var previous: Int32?
    /// The session before that one, if both sides began the last handshake at once.
    var older: Int32?
    /// The session that the local side made as responder, until the initiator proves with a packet that it has it.
    var next: Int32?

    /// All of them.
    var all: [Int32] { [current, previous, older, next].compactMap(\.self) }
}

/// The sessions of all peers, and the indices that the local side chose: for sessions and for handshakes.
struct SessionTable: Sendable {
    /// The meaning of an index.
    enum Owner: Equatable, Sendable {
        /// A handshake that this peer's side has not finished.
        case handshake(peer: Int)
        /// A session at this place.
        case session(Int32)
    }

    private var sessions: [Session?] = []
    private var free: [Int32] = []
    private var owners: [UInt32: Owner] = [:]

    /// The indices in use.
    var indexCount: Int { owners.count }
    /// The sessions in use.
    var sessionCount: Int { sessions.count - free.count }

    func owner(of index: UInt32) -> Owner? { owners[index] }

    subscript(place: Int32) -> Session? {
        get { sessions[Int(place)] }
        _modify { yield &sessions[Int(place)] }
    }

    /// Reserves a random index that is not in use.
    mutating func reserveIndex(for owner: Owner, using random: inout some RandomNumberGenerator) -> UInt32 {
        var index = UInt32.random(in: .min ... .max, using: &random)
        while owners[index] != nil { index = UInt32.random(in: .min ... .max, using: &random) }
        owners[index] = owner
        return index
    }

    /// Releases an index.
    mutating func release(_ index: UInt32) { owners[index] = nil }

    /// Adds a session under its local index, which is reserved.
    mutating func insert(_ session: Session) -> Int32 {
        let place: Int32
        if let reused = free.popLast() {
            place = reused
            sessions[Int(place)] = session
        } else {
            place = Int32(sessions.count)
            sessions.append(session)
        }
        owners[session.localIndex] = .session(place)
        return place
    }

    /// Removes a session and its index; the keys are wiped with the last reference to them.
    mutating func remove(_ place: Int32?) {
        guard let place, let session = sessions[Int(place)] else { return }
        owners[session.localIndex] = nil
        sessions[Int(place)] = nil
        free.append(place)
    }
}
