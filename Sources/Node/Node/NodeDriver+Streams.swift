internal import Concurrency
internal import Identity
internal import NodeCore
internal import Services
internal import Transport

// Streams of admitted networks: those that peers open are served, and all are tracked until they end.
extension NodeDriver {
    /// The answer to requests that arrive while the node drains or stops, so that the client moves to another provider.
    private static let stopping = ServiceFailure(kind: .notRunning, message: "the node is about to stop")

    // MARK: Streams of peers

    /// Serves a stream that a peer opened until it ends.
    func serve(
        _ stream: any Stream,
        on id: ConnectionId,
        _ connection: any Connection,
        _ sendQueue: SendQueue,
        _ inbox: Inbox
    ) async {
        var reader = StreamReader(stream)
        guard let bytes = try? await reader.read(count: StreamHeader.byteCount),  // ended before it began
            let header = StreamHeader(bytes)
        else { return stream.reset(code: CloseCode.protocolViolation.rawValue) }
        guard !state.withLock({ $0.lifecycle.isStopped }) else {
            return await rejectStream(header.kind, stream)
        }
        let peer = connection.remotePeerId
        switch header.kind {
        case .hello:
            guard !connection.isDialler,
                let ended = state.withLock({ $0.connections.claimControlStream(of: id) })
            else { return stream.reset(code: CloseCode.protocolViolation.rawValue) }
            await exchangeFrames(on: id, ControlStream(stream: stream, sendQueue: sendQueue), reader, ended)
        case .request:
            reader.keepRoom(in: inbox)
            await serveRequest(on: stream, reader, header.networkIndex, of: id, from: peer)
        case .message:
            await serve(stream, header, on: id) { network in
                reader.keepRoom(in: inbox)
                await receiveMessage(on: stream, &reader, from: peer, in: network)
            }
        case .bulk:
            await serve(stream, header, on: id) { network in
                await receiveFile(on: stream, &reader, from: peer, in: network)
            }
        }
    }

    /// Tracks a stream while `body` serves it; refuses it unless the peer is admitted and the node runs.
    private func serve(
        _ stream: any Stream,
        _ header: StreamHeader,
        on id: ConnectionId,
        _ body: (NetworkId) async -> Void
    ) async {
        guard state.withLock({ $0.lifecycle.isRunning }) else {
            return stream.reset(code: CloseCode.shutdown.rawValue)
        }
        guard let (network, number) = admit(stream, header.networkIndex, on: id) else {
            return await refuse(header.kind, stream)
        }
        defer { untrack(number, on: id) }
        await body(network)
    }

    /// Reads a request of a peer and runs its handler.
    private func serveRequest(
        on stream: any Stream,
        _ reader: StreamReader,
        _ index: UInt8,
        of id: ConnectionId,
        from peer: PeerId
    ) async {
        // Nothing is read from a peer that is not admitted.
        let isAdmitted = state.withLock { admittedNetwork(index, on: id, in: &$0) != nil }
        guard isAdmitted else { return await refuse(.request, stream) }
        var reader = reader
        let header: RequestHeader
        do {
            guard let bytes = try await reader.readPrefixed(limit: RequestHeader.byteLimit) else {
                throw StreamReader.Failure.endedEarly
            }
            header = try RequestHeader(bytes)
        } catch {
            return stream.reset(code: CloseCode.protocolViolation.rawValue)
        }
        let now = configuration.clock.now()
        let request = TrackedRequest(end: RequestEnd(), deadline: now.monotonic + header.timeLimit, isOurs: false)
        guard let (network, number) = admit(stream, index, on: id, request) else {
            return await refuse(.request, stream)
        }
        defer { untrack(number, on: id) }
        guard let room = state.withLock({ $0.connections[id]?.responses }) else { return }
        let incoming = IncomingRequest(
            from: peer,
            in: network,
            header,
            on: stream,
            reader,
            request,
            byteLimit: configuration.limits.messageBytes,
            room: room,
            metrics: configuration.metrics
        )
        await answer(incoming, of: id)
        incoming.forgetBody()
        await incoming.awaitDelivery()
    }

    private func answer(_ incoming: IncomingRequest, of id: ConnectionId) async {
        guard let handler = configuration.serve else {
            return await incoming.fail(ServiceFailure(kind: .noService, context: incoming.header.servicePath))
        }
        let (isRunning, count) = state.withLock { state in
            (state.lifecycle.isRunning, state.connections[id]?.incomingRequests ?? 0)
        }
        guard isRunning else { return await incoming.fail(Self.stopping) }
        guard count <= configuration.limits.requests else { return await incoming.fail(ServiceFailure(kind: .busy)) }
        await incoming.run(handler, configuration.tracing)
    }

    /// Refuses a stream of a peer that is not admitted; a node that has stopped admits no peer.
    private func refuse(_ kind: StreamHeader.Kind, _ stream: any Stream) async {
        if state.withLock({ $0.lifecycle.isStopped }) { return await rejectStream(kind, stream) }
        stream.reset(code: CloseCode.networkNotShared.rawValue)
    }

    /// Refuses a stream that arrives after the stop, while connections linger; a request may move to another provider.
    private func rejectStream(_ kind: StreamHeader.Kind, _ stream: any Stream) async {
        let answer = ResponseHeader(status: .failed(Self.stopping)).bytes()
        if kind == .request, (try? await stream.write(answer, finish: true)) != nil { return }  // nil: it broke
        stream.reset(code: CloseCode.shutdown.rawValue)
    }

    // MARK: Admission

    /// Finds the network that a peer's stream belongs to and tracks the stream; nil when it must be refused.
    private func admit(
        _ stream: any Stream,
        _ index: UInt8,
        on id: ConnectionId,
        _ request: TrackedRequest? = nil
    ) -> (NetworkId, Int)? {
        state.withLock { state in
            guard let network = admittedNetwork(index, on: id, in: &state) else { return nil }
            return track(stream, network, on: id, request, in: &state).map { (network, $0) }
        }
    }

    /// The network that a peer's stream names; nil when the peer is not admitted in it.
    private func admittedNetwork(_ index: UInt8, on id: ConnectionId, in state: inout State) -> NetworkId? {
        var effects: [Effect] = []
        let now = configuration.clock.now()
        let network = state.core.admitStream(index: index, on: id, at: now, into: &effects)
        perform(effects, in: &state)
        return network
    }

    // MARK: Streams of this node

    /// Opens a stream to an admitted peer and turns its failures into ``NodeError``.
    func withStream<Result: Sendable>(
        kind: StreamHeader.Kind,
        to peer: PeerId,
        in network: NetworkId?,
        _ body: (any Stream, _ header: [UInt8]) async throws -> Result
    ) async throws -> Result {
        let opened = try state.withLock { state throws -> (any Stream, Int, Route)? in
            guard state.lifecycle.isRunning else { throw NodeError.notRunning }
            guard let route = state.core.route(to: peer, in: network),
                let connection = state.connections[route.connection]?.connection
            else { return nil }
            let stream = try Self.openStream(on: connection)
            let number = track(stream, route.network, on: route.connection, in: &state)
            return number.map { (stream, $0, route) }
        }
        guard let (stream, number, route) = opened else {
            throw NodeError.interrupted(peer, "the connection just ended")
        }
        defer { untrack(number, on: route.connection) }
        do {
            return try await body(stream, StreamHeader(kind: kind, networkIndex: route.index).bytes)
        } catch let error as TransportError {
            stream.reset(code: CloseCode.shutdown.rawValue)
            throw NodeError(error, of: peer)
        } catch is StreamReader.Failure {
            stream.reset(code: CloseCode.protocolViolation.rawValue)
            throw NodeError.interrupted(peer, "the answer is malformed")
        } catch {
            stream.reset(code: CloseCode.shutdown.rawValue)
            throw error
        }
    }

    /// Opens a stream; the end of the connection, of which the core may not be notified yet, is a ``NodeError`` too.
    private static func openStream(on connection: any Connection) throws -> any Stream {
        do {
            return try connection.openStream()
        } catch let error as TransportError {
            throw NodeError(error, of: connection.remotePeerId)
        }
    }

    // MARK: Tracking

    /// Tracks a stream, so that the end of its admission resets it; nil when the connection has ended.
    func track(
        _ stream: any Stream,
        _ network: NetworkId,
        on id: ConnectionId,
        _ request: TrackedRequest? = nil,
        in state: inout State
    ) -> Int? {
        let tracked = TrackedStream(network: network, stream: stream, request: request)
        guard let number = state.connections.beginStream(tracked, on: id) else { return nil }
        if let request { requestTimer.arm(request.deadline) }
        apply(.connection(.streamBegan(id)), to: &state)
        return number
    }

    /// Removes a stream that has ended.
    func untrack(_ number: Int, on id: ConnectionId) {
        state.withLock { state in
            state.connections.endStream(number, on: id)
            apply(.connection(.streamEnded(id)), to: &state)
            if state.lifecycle.awaitsLastStream, state.connections.isAtRest { state.lifecycle.noteLastStreamEnded() }
            state.connections.closeDrained(id)
        }
    }

    /// Ends overdue requests, and probes the peers of requests that other providers could answer.
    func reviewRequests() {
        let now = self.now
        let review = state.withLock { state in
            let review = state.connections.reviewRequests(at: now)
            requestTimer.rearm(review.nextAt)
            return review
        }
        for connection in review.silent { connection.probe() }
        for entry in review.overdue {
            guard let request = entry.request else { continue }
            request.end.end(.overdue)
            // A request that was answered only waits for its delivery.
            if request.isOurs || request.end.isFinished { entry.stream.reset(code: CloseCode.requestOverdue.rawValue) }
        }
    }
}

extension NodeError {
    /// The failure of a stream to `peer`.
    init(_ error: TransportError, of peer: PeerId) {
        switch error {
        case .reset(let code), .stopped(let code), .closed(let code, _):
            switch CloseCode(rawValue: code) {
            case .declined: self = .declined(peer)
            case .noRoom: self = .fileRefused(peer, .noRoom)
            case .notStored: self = .fileRefused(peer, .notStored)
            case .receiverBusy: self = .fileRefused(peer, .busy)
            case .offerUnanswered: self = .fileRefused(peer, .unanswered)
            case .offerUnattended: self = .fileRefused(peer, .unattended)
            case .networkNotShared, .notAdmitted:
                self = .refusedByPeer(peer, CloseCode.networkNotShared.explanation)
            case let reason?: self = .interrupted(peer, reason.explanation)
            case nil: self = .interrupted(peer, "\(error)")
            }
        default: self = .interrupted(peer, "\(error)")
        }
    }
}
