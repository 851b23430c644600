internal import Concurrency
internal import Identity
internal import Logging
internal import NodeCore
internal import Transport
internal import Traversal

// Connections: dials, their control streams, and their end.
extension NodeDriver {
    // MARK: Dials

    /// Dials a peer at its addresses.
    func dial(_ peer: PeerId, at addresses: [SocketAddress]) async {
        let dialler = Dialler(
            endpoint: endpoint,
            clock: configuration.clock,
            stagger: configuration.pauses.dialStagger,
            record: { self.noteDial($0, of: peer) }
        )
        let (winner, failure) = await dialler.race(to: peer, at: addresses)
        if let winner {
            if register(winner) { return }
            if case .closed(let code, _) = await winner.closed() { noteEnd(of: peer, code) }
        }
        configuration.metrics?.p2p.recordConnection(success: false)
        apply(.peer(.dialFailed(peer, reason: failure)))
    }

    /// Records an event of a dial, and stores the address at which it failed unless the node itself ended.
    private func noteDial(_ event: PathHistory.Event, of peer: PeerId) {
        state.withLock { state in
            note(event, of: peer, in: &state)
            guard case .notReached(let address, _) = event, !state.lifecycle.isStopped else { return }
            apply(.peer(.addressFailed(peer, address)), to: &state)
        }
    }

    /// Dials a peer at the address to which other members have opened a path.
    func dial(_ peer: PeerId, at address: SocketAddress, from port: UInt16?) async {
        do {
            let connection = try await endpoint.connect(to: address, expecting: peer, from: port)
            note(.reached(address), of: peer)
            if register(connection) { return }
        } catch {
            note(.notReached(address, reason: "\(error)"), of: peer)
            configuration.logs[.connections].debug("peer \(peer.short) does not answer at \(address): \(error)")
        }
        configuration.metrics?.p2p.recordConnection(success: false)
        apply(.paths(.dialFailed(peer)))
    }

    /// Fails the waits for a peer at once when that peer has no room, since dialling again may take long.
    private func noteEnd(of peer: PeerId, _ code: UInt64) {
        guard code == CloseCode.tooManyPeers.rawValue else { return }
        let error = NodeError.refusedByPeer(peer, CloseCode.tooManyPeers.explanation)
        state.withLock { $0.pending.admissions.refuse(peer, in: nil, error) }
    }

    // MARK: A connection from its start to its end

    /// Registers the connections that other peers open, until the endpoint is closed.
    func acceptConnections() async {
        while let connection = try? await endpoint.accept() {  // the endpoint only throws when it is closed
            register(connection)
        }
    }

    /// Makes a connection known to the core and serves it; false when it or the node has ended.
    @discardableResult
    private func register(_ connection: any Connection) -> Bool {
        let link: Link
        do {
            link = Link(
                peer: connection.remotePeerId,
                isDialler: connection.isDialler,
                address: connection.remoteAddress,
                exporter: try connection.exportKeyingMaterial(
                    label: Link.exporterLabel,
                    byteCount: Link.exporterByteCount
                ),
                pathKey: PathKey(
                    try connection.exportKeyingMaterial(label: Link.pathLabel, byteCount: PathKey.byteCount)
                )
            )
        } catch {
            return false  // closed meanwhile
        }
        return state.withLock { state in
            guard !state.lifecycle.isStopped else {
                connection.close(code: .shutdown)
                return false
            }
            let inbox = Inbox(byteLimit: configuration.limits.inboxBytesOrDefault)
            let (id, sendQueue) = state.connections.add(connection, inbox: inbox) {
                ResponseRoom(byteLimit: configuration.limits.responseBytesOrDefault)
            }
            configuration.metrics?.p2p.recordConnection(success: true)
            jobs.add(.serve(id, connection, sendQueue, inbox))
            apply(.connection(.up(id, link)), to: &state)
            return true
        }
    }

    /// Serves a connection until it ends.
    func serve(_ id: ConnectionId, _ connection: any Connection, _ sendQueue: SendQueue, _ inbox: Inbox) async {
        await withDiscardingTaskGroup { group in
            if connection.isDialler {
                group.addTask { await self.openControlStream(on: id, connection, sendQueue) }
            }
            group.addTask { await self.followPath(of: id, connection) }
            // A task for each stream: an unadmitted peer over QUIC has at most two (`UnadmittedLimits`).
            while let stream = try? await connection.acceptStream() {  // the end of the connection ends the loop
                group.addTask { await self.serve(stream, on: id, connection, sendQueue, inbox) }
            }
            let end = await connection.closed()
            await readRest(of: id)
            var code: UInt64?
            if case .closed(let given, _) = end { code = given }
            connectionEnded(id, code)
            sendQueue.noteEnd()
            if let code { noteEnd(of: connection.remotePeerId, code) }
            group.cancelAll()
        }
    }

    private func connectionEnded(_ id: ConnectionId, _ code: UInt64?) {
        state.withLock { state in
            _ = forget(id, in: &state)
            apply(.connection(.down(id, code: code)), to: &state)
        }
    }

    /// Removes a connection from the table; nil when it was removed before.
    func forget(_ id: ConnectionId, in state: inout State) -> ConnectionTable.Entry? {
        guard let entry = state.connections.remove(id) else { return nil }
        configuration.metrics?.p2p.recordDisconnection()
        return entry
    }

    /// Reports the changes of a connection's path to the core, until the connection ends.
    private func followPath(of id: ConnectionId, _ connection: any Connection) async {
        for await event in connection.pathEvents {
            switch event {
            case .moved(let address):
                apply(.connection(.pathChanged(id, address)))
                if let path = self.path(to: connection.remotePeerId) {
                    events.send(.pathChanged(connection.remotePeerId, path))
                }
            case .refused(let address): apply(.connection(.pathRefused(id, address)))
            case .suspect: apply(.connection(.pathSuspected(id)))
            case .answered: apply(.connection(.pathAnswered(id)))
            }
        }
    }

    // MARK: The control stream

    private func openControlStream(on id: ConnectionId, _ connection: any Connection, _ sendQueue: SendQueue) async {
        guard let stream = try? connection.openStream(),  // closed() reports why
            let ended = state.withLock({ $0.connections.claimControlStream(of: id) })
        else { return }
        let control = ControlStream(stream: stream, sendQueue: sendQueue)
        let header = StreamHeader(kind: .hello).bytes
        await exchangeFrames(on: id, control, StreamReader(stream), ended, after: header)
    }

    /// Exchanges frames with the peer until its direction ends, without which the connection is closed.
    func exchangeFrames(
        on id: ConnectionId,
        _ control: ControlStream,
        _ reader: StreamReader,
        _ ended: Promise<Void>,
        after header: [UInt8] = []
    ) async {
        await withDiscardingTaskGroup { group in
            group.addTask { await control.writeFrames(after: header) { self.noteRoom(on: id) } }
            do {
                try await control.readFrames(reader) { handle($0, on: id) }
            } catch {
                configuration.logs[.connections].debug("control stream of connection \(id.number): \(error)")
            }
            state.withLock { $0.connections[id]?.connection.close(code: .protocolViolation) }
            ended.fulfil(())
        }
    }

    /// Applies a frame and returns the limit in bytes for the next one; nil while the connection lingers, for no change.
    private func handle(_ frame: [UInt8], on id: ConnectionId) -> Int? {
        state.withLock { state in
            apply(.connection(.frameReceived(id, frame)), to: &state)
            return state.connections.lingering[id] == nil ? state.core.frameByteLimit(on: id) : nil
        }
    }

    /// Waits until all frames are handled that arrived before the end of a connection: one of them may admit the peer,
    /// or carry events.
    private func readRest(of id: ConnectionId) async {
        let ended = state.withLock { $0.connections[id]?.controlStreamEnded }
        try? await ended?.wait()  // cancelled: the node stops
    }

    // MARK: The end of a connection

    /// Closes a connection when its streams have ended, also those that the peer opens before it is notified.
    func drain(_ id: ConnectionId) async {
        let clock = configuration.clock
        let start = clock.now().monotonic
        guard (try? await clock.sleep(start + configuration.pauses.drain)) != nil else { return }  // nil: stop
        state.withLock { $0.connections.drain(id) }
        guard (try? await clock.sleep(start + configuration.pauses.patience)) != nil else { return }  // nil: stop
        state.withLock { $0.connections.closeDrained(id, evenIfBusy: true) }
    }

    /// Closes a connection that lingers as soon as its last frames have arrived, after `pause` at the latest.
    ///
    /// A cancelled caller closes it at once.
    func endLinger(of id: ConnectionId, within pause: Duration) async {
        guard let sendQueue = state.withLock({ $0.connections.lingering[id]?.sendQueue }) else { return }
        let clock = configuration.clock
        await withTaskGroup { group in
            group.addTask { await sendQueue.ended() }
            group.addTask { try? await clock.sleep(clock.now().monotonic + pause) }  // cancelled: it ends at once
            await group.next()
            group.cancelAll()
        }
        state.withLock { $0.connections.endLinger(of: id) }?.close()
    }

    /// Waits for the delivery of waiting frames and then closes their connections: a new admission must be acknowledged, and
    /// a node that leaves republishes its records.
    ///
    /// This takes ``DriverPauses/lingerAtStop`` at most, even if the calling task is cancelled.
    func endLingers() async {
        let lingering = state.withLock { Array($0.connections.lingering.keys) }
        let pause = configuration.pauses.lingerAtStop
        // A task of its own is not cancelled with the caller: the frames have their time also if the node's task is.
        await Task {
            await withDiscardingTaskGroup { group in
                for id in lingering {
                    group.addTask { await self.endLinger(of: id, within: pause) }
                }
            }
        }
        .value
    }
}
