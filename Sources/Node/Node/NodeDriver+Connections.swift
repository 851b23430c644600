internal import Concurrency
internal import Identity
internal import Logging
internal import NodeCore
internal import Transport

// Dialling, and serving the streams of a connection.
extension NodeDriver {
    /// Dials the addresses one after the other, a little apart, and keeps the first that answers.
    func dial(_ peer: PeerId, at addresses: [SocketAddress]) async {
        let (winner, failure) = await self.race(to: peer, at: addresses)
        if let winner {
            if self.register(winner) { return }
            if case .closed(let code, _) = await winner.closed() { self.noteEnd(of: peer, code) }
        }
        self.configuration.metrics?.p2p.recordConnection(success: false)
        self.apply(.peer(.dialFailed(peer, reason: failure)))
    }

    /// Tells whoever waits for a peer at once when that one has no room: trying again may take long.
    private func noteEnd(of peer: PeerId, _ code: UInt64) {
        guard code == CloseCode.tooManyPeers.rawValue else { return }
        let error = NodeError.refusedByPeer(peer, CloseCode.tooManyPeers.explanation)
        self.state.withLock { $0.pending.admissions.refuse(peer, in: nil, error) }
    }

    private func race(
        to peer: PeerId,
        at addresses: [SocketAddress]
    ) async -> (winner: (any Connection)?, failure: String) {
        await withTaskGroup(of: Result<any Connection, any Error>.self) { group in
            for (position, address) in addresses.enumerated() {
                group.addTask { await self.dial(peer, at: address, afterTurns: position) }
            }
            var winner: (any Connection)?
            var failure = "the connection broke at once"
            for await result in group {
                switch result {
                case .success(let connection) where winner == nil:
                    winner = connection
                    group.cancelAll()
                case .success(let connection):
                    connection.close(code: .superseded)
                case .failure(let error):
                    if !(error is CancellationError) { failure = "\(error)" }
                }
            }
            return (winner, failure)
        }
    }

    private func dial(
        _ peer: PeerId,
        at address: SocketAddress,
        afterTurns turns: Int
    ) async -> Result<any Connection, any Error> {
        do {
            if turns > 0 {
                let clock = self.configuration.clock
                try await clock.sleep(clock.now().monotonic + self.configuration.dialStagger * turns)
            }
            self.note(.dialled(address), of: peer)
            let connection = try await self.endpoint.connect(to: address, expecting: peer)
            self.note(.reached(address), of: peer)
            return .success(connection)
        } catch {
            // A dial that another one overtook says nothing about its address.
            if !Task.isCancelled { self.note(.notReached(address, reason: "\(error)"), of: peer) }
            return .failure(error)
        }
    }

    func serve(_ id: ConnectionId, _ connection: any Connection, _ outbox: Outbox) async {
        let inbox = Inbox(byteLimit: self.configuration.inboxBytes)
        await withDiscardingTaskGroup { group in
            if connection.isDialler {
                group.addTask { await self.openControlStream(on: id, connection, outbox) }
            }
            group.addTask { await self.followPath(of: id, connection) }
            // A task for each stream: of a peer that is not admitted, over QUIC, two in all (`UnadmittedLimits`).
            while let stream = try? await connection.acceptStream() {  // the end of the connection ends the loop
                group.addTask { await self.serve(stream, on: id, connection, outbox, inbox) }
            }
            let end = await connection.closed()
            await self.readRest(of: id)
            var code: UInt64?
            if case .closed(let given, _) = end { code = given }
            self.connectionEnded(id, code)
            outbox.noteEnd()
            if let code { self.noteEnd(of: connection.remotePeerId, code) }
            group.cancelAll()
        }
    }

    private func connectionEnded(_ id: ConnectionId, _ code: UInt64?) {
        self.state.withLock { state in
            _ = self.forget(id, in: &state)
            self.apply(.connection(.down(id, code: code)), to: &state)
        }
    }

    private func openControlStream(
        on id: ConnectionId,
        _ connection: any Connection,
        _ outbox: Outbox
    ) async {
        guard let stream = try? connection.openStream(),  // closed() reports why
            let ended = self.state.withLock({ $0.connections.claimControlStream(of: id) })
        else { return }
        await self.exchangeFrames(
            on: id,
            stream,
            StreamReader(stream),
            outbox,
            ended,
            first: StreamHeader(kind: .hello).bytes
        )
    }

    /// Writes the outbox to the control stream and feeds its frames to the core.
    private func exchangeFrames(
        on id: ConnectionId,
        _ stream: any Stream,
        _ reader: StreamReader,
        _ outbox: Outbox,
        _ ended: Promise<Void>,
        first: [UInt8]
    ) async {
        await withDiscardingTaskGroup { group in
            group.addTask {
                defer { outbox.noteEnd() }
                do {
                    if !first.isEmpty { try await stream.write(first, finish: false) }
                    for await frame in outbox.frames {
                        try await stream.write(frame, finish: false)
                        if outbox.noteWritten(frame) { self.noteRoom(on: id) }
                    }
                    try await stream.delivered()
                } catch {
                    // A peer that takes no frames is of no use: the reader ends with it. If the connection is gone, the
                    // reader ends by itself, after what came before.
                    guard case TransportError.stopped = error else { return }
                    stream.reset(code: CloseCode.protocolViolation.rawValue)
                }
            }
            await self.readFrames(on: id, reader)
            ended.fulfil(())
        }
    }

    private func readFrames(on id: ConnectionId, _ reader: StreamReader) async {
        var reader = reader
        var limit = Frame.helloByteLimit
        do {
            while true {
                limit = self.frameByteLimit(on: id) ?? limit
                guard let frame = try await reader.readPrefixed(limit: limit) else { break }
                self.apply(.connection(.frameReceived(id, frame)))
            }
        } catch {
            self.configuration.logs[.connections].debug("control stream of connection \(id.number): \(error)")
        }
        self.closeAfterControlStream(id)
    }

    /// The longest frame that a peer may send now; nil when its connection is about to be closed, and nothing changes.
    private func frameByteLimit(on id: ConnectionId) -> Int? {
        self.state.withLock { $0.connections.lingering[id] == nil ? $0.core.frameByteLimit(on: id) : nil }
    }

    /// Without its control stream a connection is of no use.
    private func closeAfterControlStream(_ id: ConnectionId) {
        self.state.withLock { $0.connections[id]?.connection.close(code: .protocolViolation) }
    }

    private func serve(
        _ stream: any Stream,
        on id: ConnectionId,
        _ connection: any Connection,
        _ outbox: Outbox,
        _ inbox: Inbox
    ) async {
        var reader = StreamReader(stream)
        guard let bytes = try? await reader.read(count: StreamHeader.byteCount),  // ended before it began
            let header = StreamHeader(bytes)
        else { return stream.reset(code: CloseCode.protocolViolation.rawValue) }
        guard !self.state.withLock({ $0.lifecycle.isStopped }) else { return await self.turnAway(header.kind, stream) }
        if header.kind == .hello {
            guard !connection.isDialler,
                let ended = self.state.withLock({ $0.connections.claimControlStream(of: id) })
            else { return stream.reset(code: CloseCode.protocolViolation.rawValue) }
            return await self.exchangeFrames(on: id, stream, reader, outbox, ended, first: [])
        }
        if header.kind == .request {
            reader.keepRoom(in: inbox)
            let peer = connection.remotePeerId
            return await self.serveRequest(on: stream, reader, header.networkIndex, of: id, from: peer)
        }
        guard self.state.withLock({ $0.lifecycle.isRunning }) else {
            return stream.reset(code: CloseCode.goodbye.rawValue)
        }
        guard let (network, number) = self.admit(stream, header.networkIndex, on: id) else {
            return await self.refuse(header.kind, stream)
        }
        defer { self.untrack(number, on: id) }
        switch header.kind {
        case .message:
            reader.keepRoom(in: inbox)
            await self.receiveMessage(on: stream, &reader, from: connection.remotePeerId, in: network)
        case .bulk: await self.receiveFile(on: stream, &reader, from: connection.remotePeerId, in: network)
        case .hello, .request: break
        }
    }

    /// Finds the network that a peer's stream belongs to and remembers the stream; nil when it must be refused.
    func admit(
        _ stream: any Stream,
        _ index: UInt8,
        on id: ConnectionId,
        _ request: TrackedRequest? = nil
    ) -> (NetworkId, Int)? {
        self.state.withLock { state in
            var effects: [Effect] = []
            let now = self.configuration.clock.now()
            let network = state.core.admitStream(index: index, on: id, at: now, into: &effects)
            self.carryOut(effects, in: &state)
            guard let network else { return nil }
            return self.track(stream, network, on: id, request, in: &state).map { (network, $0) }
        }
    }

    /// Whether the peer of a connection is admitted in the network that its stream names.
    func isAdmitted(_ index: UInt8, on id: ConnectionId) -> Bool {
        self.state.withLock { state in
            var effects: [Effect] = []
            let network = state.core.admitStream(
                index: index,
                on: id,
                at: self.configuration.clock.now(),
                into: &effects
            )
            self.carryOut(effects, in: &state)
            return network != nil
        }
    }

    /// Waits until every frame was taken that came before the end of a connection: it may be the one that admits, or an
    /// event.
    private func readRest(of id: ConnectionId) async {
        let ended = self.state.withLock { $0.connections[id]?.controlStreamEnded }
        try? await ended?.wait()  // cancelled: the node stops
    }
}

extension NodeDriver.Configuration {
    /// The bytes of bodies that are not whole yet, of one connection.
    fileprivate var inboxBytes: Int { self.inboxByteLimit ?? Self.waitingByteLimit(of: self.messageByteLimit) }

    /// The bytes of responses to one peer that wait to be queued.
    var responseBytes: Int { self.responseByteLimit ?? Self.waitingByteLimit(of: self.messageByteLimit) }

    /// The bytes that may wait in one place where the largest message has so many: 64 of them, and 64 MiB at least.
    package static func waitingByteLimit(of messageByteLimit: Int) -> Int {
        64 * max(1 << 20, min(messageByteLimit, Int.max / 64))
    }
}
