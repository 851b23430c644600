internal import Concurrency
internal import Identity
internal import NodeCore
internal import Transport

/// The connections of a node and the streams that are open on them.
struct ConnectionTable: Sendable {
    /// A connection of the core.
    struct Entry: Sendable {
        let connection: any Connection
        let sendQueue: SendQueue
        /// The room for incomplete bodies that the peer sends on this connection.
        let inbox: Inbox
        /// The peer's, which all its connections share.
        let responses: ResponseRoom
        /// Fulfilled when the control stream has been read to its end; nil before there is one.
        fileprivate(set) var controlStreamEnded: Promise<Void>?
        /// Whether nothing new begins here and the connection is closed when the last stream has ended.
        fileprivate(set) var isDraining = false
        /// Whether the peer cannot take events for now.
        fileprivate(set) var isCongested = false
        /// The open streams, by number.
        fileprivate(set) var streams: [Int: TrackedStream] = [:]
        /// The number of streams that are requests of the peer.
        fileprivate(set) var incomingRequests = 0
    }

    /// A connection that the core has closed, while its last frames are on the way.
    struct Lingering: Sendable {
        let sendQueue: SendQueue
        fileprivate let connection: any Connection
        fileprivate let code: CloseCode

        func close() { connection.close(code: code) }
    }

    private(set) var entries: [ConnectionId: Entry] = [:]
    private(set) var lingering: [ConnectionId: Lingering] = [:]
    private var connectionCount: UInt64 = 0
    private var streamCount = 0

    subscript(id: ConnectionId) -> Entry? { entries[id] }

    // MARK: Connections

    /// Adds a connection under a new id; `responses` makes the response room of a peer without other connections.
    mutating func add(
        _ connection: any Connection,
        inbox: Inbox,
        responses: () -> ResponseRoom
    ) -> (ConnectionId, SendQueue) {
        connectionCount += 1
        let id = ConnectionId(connectionCount)
        let sibling = entries.values.first { $0.connection.remotePeerId == connection.remotePeerId }
        let sendQueue = SendQueue()
        entries[id] = Entry(
            connection: connection,
            sendQueue: sendQueue,
            inbox: inbox,
            responses: sibling?.responses ?? responses()
        )
        return (id, sendQueue)
    }

    /// Removes a connection; nil if it is not in the table.
    mutating func remove(_ id: ConnectionId) -> Entry? { entries.removeValue(forKey: id) }

    /// Removes all connections and returns their number.
    mutating func removeAll() -> Int {
        defer { entries = [:] }
        return entries.count
    }

    /// Makes a stream the control stream of its connection; nil when there is one, or the connection has ended.
    ///
    /// - Returns: the promise to fulfil when the stream has been read to its end.
    mutating func claimControlStream(of id: ConnectionId) -> Promise<Void>? {
        guard let entry = entries[id], entry.controlStreamEnded == nil else { return nil }
        let ended = Promise<Void>()
        entries[id]?.controlStreamEnded = ended
        return ended
    }

    /// Begins to drain a connection, which closes it if no stream is open.
    mutating func drain(_ id: ConnectionId) {
        entries[id]?.isDraining = true
        closeDrained(id)
    }

    /// Closes a connection that drains and has no streams left, or `evenIfBusy`.
    func closeDrained(_ id: ConnectionId, evenIfBusy: Bool = false) {
        guard let entry = entries[id], entry.isDraining, evenIfBusy || entry.streams.isEmpty else { return }
        entry.connection.close(code: .superseded)
    }

    /// Keeps a connection that the core has closed until ``endLinger(of:)``, so that its last frames arrive.
    mutating func linger(_ entry: Entry, as id: ConnectionId, closingWith code: CloseCode) {
        lingering[id] = Lingering(sendQueue: entry.sendQueue, connection: entry.connection, code: code)
    }

    /// Removes a connection that lingers, to be closed by the caller; nil if it was removed before.
    mutating func endLinger(of id: ConnectionId) -> Lingering? { lingering.removeValue(forKey: id) }

    // MARK: Streams

    /// Whether no stream is open on any connection.
    var isAtRest: Bool { entries.values.allSatisfy(\.streams.isEmpty) }

    /// Adds a stream and returns its number; nil when the connection has ended.
    mutating func beginStream(_ stream: TrackedStream, on id: ConnectionId) -> Int? {
        guard entries[id] != nil else { return nil }
        streamCount += 1
        entries[id]?.streams[streamCount] = stream
        if stream.request?.isOurs == false { entries[id]?.incomingRequests += 1 }
        return streamCount
    }

    /// Removes a stream.
    mutating func endStream(_ number: Int, on id: ConnectionId) {
        let stream = entries[id]?.streams.removeValue(forKey: number)
        if stream?.request?.isOurs == false { entries[id]?.incomingRequests -= 1 }
    }

    /// Resets the streams of a network on a connection.
    func resetStreams(of network: NetworkId, on id: ConnectionId, code: CloseCode) {
        for (_, entry) in entries[id]?.streams ?? [:] where entry.network == network {
            entry.stream.reset(code: code.rawValue)
        }
    }

    // MARK: Requests

    /// Permits a request of this node to move to another provider.
    mutating func setAlternative(_ alternative: TrackedRequest.Alternative, of stream: Int, on id: ConnectionId) {
        entries[id]?.streams[stream]?.request?.alternative = alternative
    }

    /// Cancels the requests on a connection for which `hasProvider` finds another provider.
    func cancelRequests(
        on id: ConnectionId,
        where hasProvider: (TrackedRequest.Alternative, NetworkId) -> Bool
    ) {
        for entry in (entries[id]?.streams ?? [:]).values {
            guard let request = entry.request, let alternative = request.alternative,
                hasProvider(alternative, entry.network)
            else { continue }
            request.end.end(.stopped(.timedOut))
            entry.stream.reset(code: CloseCode.requestCancelled.rawValue)
        }
    }

    /// Finds the overdue requests and the peers to probe, and plans the next probes.
    mutating func reviewRequests(at now: Duration) -> RequestReview {
        var review = RequestReview()
        for (id, entry) in entries {
            var isSilent = false
            for (number, stream) in entry.streams {
                guard let request = stream.request else { continue }
                if request.deadline <= now {
                    review.overdue.append(stream)
                    continue
                }
                review.reviewAgain(at: request.deadline)
                guard var probeAt = request.alternative?.probeAt else { continue }
                if probeAt <= now {
                    isSilent = true
                    probeAt = now + TrackedRequest.Alternative.probePause
                    entries[id]?.streams[number]?.request?.alternative?.probeAt = probeAt
                }
                review.reviewAgain(at: probeAt)
            }
            if isSilent { review.silent.append(entry.connection) }
        }
        return review
    }

    // MARK: Congestion

    /// The peers that can take events and have too many bytes unread, with the number of bytes that were written to each.
    var crowded: [ConnectionId: Int] {
        entries.filter { !$0.value.isCongested && $0.value.sendQueue.isCrowded }.mapValues(\.sendQueue.writtenBytes)
    }

    /// Notes whether the peer of a connection can take events; false if nothing changed or the connection has ended.
    mutating func setCongested(_ isCongested: Bool, _ id: ConnectionId) -> Bool {
        guard let entry = entries[id], entry.isCongested != isCongested else { return false }
        entries[id]?.isCongested = isCongested
        return true
    }
}

extension Connection {
    /// Closes the connection with a code and its explanation.
    func close(code: CloseCode) { close(code: code.rawValue, reason: code.explanation) }
}
