internal import Concurrency
internal import Crypto
internal import Identity

/// One in-memory connection: both ends under one lock, and the frames between them.
final class Wire: Sendable {
    /// The state of both ends; one end affects the other only through a ``InMemoryFrame``.
    struct State {
        var ends: [WireEnd]
        /// Whether the link between them has been cut for a while.
        var isSuspect = false

        subscript(side: WireSide) -> WireEnd {
            get { ends[side.rawValue] }
            _modify { yield &ends[side.rawValue] }
        }
    }

    let network: InMemoryNetwork
    /// The dialler's and the acceptor's address.
    let addresses: [SocketAddress]
    let state: Locked<State>
    private let secret: [UInt8]

    init(network: InMemoryNetwork, dialler: InMemoryEndpoint, acceptor: InMemoryEndpoint, secret: [UInt8]) {
        self.network = network
        self.secret = secret
        addresses = [dialler.address, acceptor.address]
        state = Locked(
            State(ends: [
                WireEnd(peerId: dialler.localPeerId, address: dialler.address, side: .dialler),
                WireEnd(peerId: acceptor.localPeerId, address: acceptor.address, side: .acceptor),
            ])
        )
    }

    /// Derives bytes that both ends agree on.
    func exportKeyingMaterial(label: String, byteCount: Int, at side: WireSide) throws -> [UInt8] {
        if let ending = state.withLock({ $0[side].ending }) { throw ending }
        guard (1...8160).contains(byteCount) else {
            throw TransportError.misuse("keying material is exported in lengths from 1 to 8160")
        }
        let key = HKDF<SHA256>.deriveKey(
            inputKeyMaterial: SymmetricKey(data: secret),
            info: Array(label.utf8),
            outputByteCount: byteCount
        )
        return unsafe key.withUnsafeBytes { unsafe Array($0) }
    }

    // MARK: The end of the connection

    /// Ends the connection at `side` and notifies the other end.
    func close(_ error: TransportError, at side: WireSide) {
        state.withLock { state in
            guard state[side].ending == nil else { return }
            send(.close(error), from: side, in: &state)
            end(side, with: error, in: &state)
        }
    }

    /// Ends the connection at both ends at once, as when the link between them dies.
    func fail(with error: TransportError) {
        state.withLock { state in
            end(.dialler, with: error, in: &state)
            end(.acceptor, with: error, in: &state)
        }
    }

    /// Returns why the connection ended, waiting for it.
    func ending(at side: WireSide) async throws -> TransportError {
        try await state.withLock { $0[side].ended }.wait {
            state.withLock { $0[side].ending }
        }
    }

    private func end(_ side: WireSide, with error: TransportError, in state: inout State) {
        guard state[side].ending == nil else { return }
        state[side].ending = error
        state[side].incoming.removeAll()
        state[side].ended.broadcast()
        state[side].pathQueue.finish()
        state[side].arrivals.accepting.broadcast()
        state[side].credit.writing.broadcast()
        for (id, stream) in state[side].streams {
            stream.reading.broadcast()
            tellStopped(id, error, at: side, in: &state)
        }
        if state[side.other].ending != nil { network.forget(self) }
    }

    /// Notifies both ends whether the link is cut.
    func setSuspect(_ isSuspect: Bool) {
        state.withLock { state in
            guard state.isSuspect != isSuspect else { return }
            state.isSuspect = isSuspect
            for end in state.ends { end.pathQueue.yield(isSuspect ? .suspect : .answered) }
        }
    }

    // MARK: Frames on their way

    /// Sends `frame` from `side` to the other end, over the link as it is now.
    func send(_ frame: InMemoryFrame, from side: WireSide, in state: inout State) {
        let target = side.other
        guard state[target].ending == nil else { return }
        let delay = network.connectionDelay(from: state[side].address, to: state[target].address)
        guard let delay, !state[target].incoming.isHolding else { return state[target].incoming.hold(frame) }
        if delay == .zero, state[target].incoming.isEmpty { return arrive(frame, at: target, in: &state) }
        let moment = state[target].incoming.append(frame, at: network.agenda.timebase.now + delay)
        network.agenda.schedule(at: moment) { [weak self] in self?.deliver(to: target) }
    }

    /// Sends the frames that a cut link has held back from `side`.
    func release(to side: WireSide) {
        state.withLock { state in
            for frame in state[side].incoming.takeHeld() {
                send(frame, from: side.other, in: &state)
            }
        }
    }

    /// Delivers the due frames to `side`.
    private func deliver(to side: WireSide) {
        let now = network.agenda.timebase.now
        state.withLock { state in
            while let frame = state[side].incoming.popFirst(at: now) {
                arrive(frame, at: side, in: &state)
            }
        }
    }

    // MARK: Frames that arrive

    private func arrive(_ frame: InMemoryFrame, at side: WireSide, in state: inout State) {
        guard state[side].ending == nil else { return }
        switch frame {
        case .open(let id):
            state[side].streams[id] = WireStream(isOurs: false)
            state[side].arrivals.append(id)
        case .bytes(let id, let bytes, let isFinal):
            take(bytes, isFinal: isFinal, of: id, at: side, in: &state)
        case .reset(let id, let code):
            endReceiving(id, as: .reset(code), at: side, in: &state)
        case .stop(let id, let code):
            guard case .open? = state[side].streams[id]?.sending else { return }
            state[side].streams[id]?.sending = .stopped(code)
            send(.reset(stream: id, code: code), from: side, in: &state)
            state[side].credit.writing.broadcast()
            tellStopped(id, .stopped(code: code), at: side, in: &state)
            reportDone(id, at: side, in: &state)
        case .credit(let id, let byteCount):
            state[side].streams[id]?.unconsumed -= byteCount
            state[side].credit.consume(byteCount)
        case .done:
            state[side].credit.close()
        case .close(let error):
            end(side, with: error, in: &state)
        }
    }

    private func take(_ bytes: [UInt8], isFinal: Bool, of id: Int, at side: WireSide, in state: inout State) {
        guard case .open? = state[side].streams[id]?.receiving else {
            return consume(bytes.count, of: id, at: side, in: &state)
        }
        state[side].streams[id]?.inbox.append(bytes)
        if isFinal { state[side].streams[id]?.receiving = .complete }
        state[side].streams[id]?.reading.broadcast()
    }

    // MARK: Both directions

    /// Returns credit to the other end for bytes that are no longer held here.
    func consume(_ byteCount: Int, of id: Int, at side: WireSide, in state: inout State) {
        guard byteCount > 0 else { return }
        send(.credit(stream: id, byteCount: byteCount), from: side, in: &state)
    }

    /// Ends the reading direction before its end was seen, and returns the credit of unread bytes.
    func endReceiving(_ id: Int, as receiving: WireStream.Receiving, at side: WireSide, in state: inout State) {
        guard var stream = state[side].streams[id] else { return }
        switch stream.receiving {
        case .ended, .reset, .stopped: return
        case .open, .complete: break
        }
        let unread = stream.inbox.removeAll()
        stream.receiving = receiving
        state[side].streams[id] = stream
        consume(unread, of: id, at: side, in: &state)
        stream.reading.broadcast()
        reportDone(id, at: side, in: &state)
    }

    /// Calls the stop handler of a stream, on which writing has become useless, once.
    func tellStopped(_ id: Int, _ error: TransportError, at side: WireSide, in state: inout State) {
        guard let handler = state[side].streams[id]?.stopHandler else { return }
        state[side].streams[id]?.stopHandler = nil
        handler(error)
    }

    /// Notifies the opener of a stream once the stream is complete at this end.
    func reportDone(_ id: Int, at side: WireSide, in state: inout State) {
        guard let stream = state[side].streams[id], !stream.isOurs, stream.isDone, !stream.isReportedDone else {
            return
        }
        state[side].streams[id]?.isReportedDone = true
        send(.done(stream: id), from: side, in: &state)
    }
}
