internal import Concurrency
internal import Identity
internal import NodeCore
internal import Services
internal import Transport

// Requests of peers: each is handed to the application in a task of its own.
extension NodeDriver {
    /// The largest response that is no longer counted once it is queued: its delivery costs no look at the stream.
    private static let briefResponse = 64 << 10

    /// Reads a request and has it answered.
    func serveRequest(
        on stream: any Stream,
        _ reader: StreamReader,
        _ index: UInt8,
        of id: ConnectionId,
        from peer: PeerId
    ) async {
        // Nothing is read of whoever is not admitted.
        guard self.isAdmitted(index, on: id) else { return await self.refuse(.request, stream) }
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
        let now = self.configuration.clock.now()
        let request = TrackedRequest(end: RequestEnd(), deadline: now.monotonic + header.timeLimit, isOurs: false)
        guard let (network, number) = self.admit(stream, index, on: id, request) else {
            return await self.refuse(.request, stream)
        }
        defer { self.untrack(number, on: id) }
        guard let room = self.state.withLock({ $0.connections[id]?.responses }) else { return }
        let incoming = IncomingRequest(
            from: peer,
            in: network,
            header,
            on: stream,
            reader,
            request,
            byteLimit: self.configuration.messageByteLimit,
            room: room,
            metrics: self.configuration.metrics
        )
        await self.answer(incoming, room, on: stream, of: id, request.end)
        incoming.forgetBody()
        await self.awaitDelivery(of: incoming, on: stream, request.end)
    }

    private func answer(
        _ incoming: IncomingRequest,
        _ room: ResponseRoom,
        on stream: any Stream,
        of id: ConnectionId,
        _ end: RequestEnd
    ) async {
        guard let serve = self.configuration.serve else {
            return await incoming.fail(ServiceFailure(kind: .noService, context: String(incoming.header.servicePath)))
        }
        guard self.state.withLock({ $0.lifecycle.isRunning }) else {
            return await incoming.fail(Self.stopping)
        }
        guard self.hasRoom(on: id) else { return await incoming.fail(ServiceFailure(kind: .busy)) }
        await self.run(serve, incoming, room, on: stream, end)
    }

    /// Counts a request with a large response until the peer has it or the time is over, which resets the stream.
    private func awaitDelivery(of incoming: IncomingRequest, on stream: any Stream, _ end: RequestEnd) async {
        guard incoming.sentBytes > Self.briefResponse, end.cause == nil else { return }
        end.finish()
        try? await stream.delivered()  // the stream is over, as after its delivery
    }

    private static let stopping = ServiceFailure(kind: .notRunning, message: "the node is about to stop")

    /// Refuses a stream of whoever is not admitted; a node that says its last words admits nobody.
    func refuse(_ kind: StreamHeader.Kind, _ stream: any Stream) async {
        if self.state.withLock({ $0.lifecycle.isStopped }) { return await self.turnAway(kind, stream) }
        stream.reset(code: CloseCode.networkNotShared.rawValue)
    }

    /// Refuses a stream that comes while the node says its last words; a request may then be another provider's.
    func turnAway(_ kind: StreamHeader.Kind, _ stream: any Stream) async {
        let answer = ResponseHeader(status: .failed(Self.stopping)).bytes()
        if kind == .request, (try? await stream.write(answer, finish: true)) != nil { return }  // nil: nobody hears it
        stream.reset(code: CloseCode.goodbye.rawValue)
    }

    /// Runs the handler until it is done, and cancels it when its request is over before.
    private func run(
        _ serve: @escaping @Sendable (IncomingRequest) async -> Void,
        _ incoming: IncomingRequest,
        _ room: ResponseRoom,
        on stream: any Stream,
        _ end: RequestEnd
    ) async {
        stream.whenStopped { end.end(.stopped($0)) }
        await withDiscardingTaskGroup { group in
            group.addTask {
                guard (try? await room.waitForTurn()) != nil else { return }  // nil: the request is over
                if let tracing = self.configuration.tracing {
                    await tracing.serving(incoming.header, in: incoming.network, from: incoming.peer) {
                        await serve(incoming)
                    }
                } else {
                    await serve(incoming)
                }
                end.finish()
            }
            guard let cause = await end.wait() else { return }
            group.cancelAll()
            if case .overdue = cause { await incoming.fail(cause.failure) }
        }
        stream.whenStopped(nil)
        await incoming.fail(ServiceFailure(kind: .handler, message: "the handler did not answer"))
    }

    private func hasRoom(on id: ConnectionId) -> Bool {
        self.state.withLock { $0.connections[id]?.incomingRequests ?? 0 } <= self.configuration.requestLimit
    }
}
