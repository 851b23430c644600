internal import Concurrency

/// The operations of stream handles.
extension Wire {
    /// Makes a stream that the other end does not know yet.
    func openStream(at side: WireSide) throws -> Int {
        try state.withLock { state in
            if let ending = state[side].ending { throw ending }
            let id = state[side].nextStream
            state[side].nextStream += 2
            state[side].streams[id] = WireStream(isOurs: true)
            return id
        }
    }

    /// Returns the next stream that the other end opened, or nil once the connection has ended.
    func acceptStream(at side: WireSide) async throws -> Int? {
        try await state.withLock { $0[side].arrivals.accepting }.wait {
            state.withLock { state -> Int?? in
                if let id = state[side].arrivals.popFirst() { return .some(id) }
                return state[side].ending == nil ? nil : .some(nil)
            }
        }
    }

    // MARK: Reading

    /// Returns the next bytes of a stream; see ``Stream/read(atMost:)``.
    func read(_ id: Int, atMost maximum: Int, at side: WireSide) async throws -> (bytes: [UInt8], isFinal: Bool) {
        guard maximum > 0 else { throw TransportError.misuse("a read of at most \(maximum) bytes") }
        let signal = try state.withLock { state in
            guard let stream = state[side].streams[id], !stream.isReading else {
                throw TransportError.misuse("two tasks read one stream")
            }
            state[side].streams[id]?.isReading = true
            return stream.reading
        }
        defer { state.withLock { $0[side].streams[id]?.isReading = false } }
        return try await signal.wait {
            try state.withLock { try take(atMost: maximum, of: id, at: side, in: &$0) }
        }
    }

    private func take(
        atMost maximum: Int,
        of id: Int,
        at side: WireSide,
        in state: inout State
    ) throws -> (bytes: [UInt8], isFinal: Bool)? {
        guard var stream = state[side].streams[id] else { return ([], true) }
        switch stream.receiving {
        case .ended: return ([], true)
        case .reset(let code), .stopped(let code): throw TransportError.reset(code: code)
        case .open, .complete: break
        }
        let bytes = stream.inbox.take(atMost: maximum)
        var isFinal = false
        if case .complete = stream.receiving { isFinal = stream.inbox.count == 0 }
        if bytes.isEmpty, !isFinal {
            if let ending = state[side].ending { throw ending }
            return nil
        }
        if isFinal { stream.receiving = .ended }
        state[side].streams[id] = stream
        consume(bytes.count, of: id, at: side, in: &state)
        reportDone(id, at: side, in: &state)
        return (bytes, isFinal)
    }

    // MARK: Writing

    /// Queues bytes on a stream; see ``Stream/write(_:finish:)``.
    func write(_ bytes: [UInt8], finish: Bool, on id: Int, at side: WireSide) async throws {
        let signal = try state.withLock { state in
            guard let stream = state[side].streams[id], !stream.isWriting else {
                throw TransportError.misuse("two tasks write one stream")
            }
            state[side].streams[id]?.isWriting = true
            return state[side].credit.writing
        }
        defer { state.withLock { $0[side].streams[id]?.isWriting = false } }
        try await signal.wait {
            try state.withLock { try queue(bytes, finish: finish, on: id, at: side, in: &$0) }
        }
    }

    /// Queues all of `bytes`, or returns nil when there is no room yet.
    private func queue(
        _ bytes: [UInt8],
        finish: Bool,
        on id: Int,
        at side: WireSide,
        in state: inout State
    ) throws -> Void? {
        guard let stream = state[side].streams[id] else { return nil }
        switch stream.sending {
        case .stopped(let code), .reset(let code): throw TransportError.stopped(code: code)
        case .finished: throw TransportError.misuse("a write after the end of a stream")
        case .open: break
        }
        if let ending = state[side].ending { throw ending }
        guard !bytes.isEmpty || finish else { return () }
        let limits = network.limits
        guard stream.unconsumed < limits.streamWindow, state[side].credit.maySend(limits) else { return nil }
        if !stream.isAnnounced {
            guard state[side].credit.mayOpen(limits) else { return nil }
            state[side].credit.open()
            state[side].streams[id]?.isAnnounced = true
            send(.open(stream: id), from: side, in: &state)
        }
        state[side].streams[id]?.unconsumed += bytes.count
        state[side].credit.send(bytes.count)
        if finish { state[side].streams[id]?.sending = .finished }
        send(.bytes(stream: id, bytes, isFinal: finish), from: side, in: &state)
        reportDone(id, at: side, in: &state)
        return ()
    }

    // MARK: Giving up

    /// Sets the handler that is called once writing on a stream becomes useless; see ``Stream/whenStopped(_:)``.
    func whenStopped(_ id: Int, at side: WireSide, _ handler: (@Sendable (TransportError) -> Void)?) {
        state.withLock { state in
            state[side].streams[id]?.stopHandler = handler
            switch state[side].streams[id]?.sending {
            case .stopped(let code), .reset(let code):
                tellStopped(id, .stopped(code: code), at: side, in: &state)
            case .open, .finished, nil:
                if let ending = state[side].ending { tellStopped(id, ending, at: side, in: &state) }
            }
        }
    }

    /// Resets the directions of a stream that are not complete; see ``Stream/reset(code:)``.
    func reset(_ id: Int, code: UInt64, at side: WireSide) {
        state.withLock { reset(id, code: code, at: side, in: &$0) }
    }

    /// Resets the incomplete directions and forgets the stream, because its handle was released.
    func drop(_ id: Int, at side: WireSide) {
        state.withLock { state in
            reset(id, code: 0, at: side, in: &state)
            state[side].streams[id] = nil
        }
    }

    private func reset(_ id: Int, code: UInt64, at side: WireSide, in state: inout State) {
        guard let stream = state[side].streams[id] else { return }
        if case .open = stream.sending {
            state[side].streams[id]?.sending = .reset(code)
            if stream.isAnnounced { send(.reset(stream: id, code: code), from: side, in: &state) }
            state[side].credit.writing.broadcast()
            tellStopped(id, .stopped(code: code), at: side, in: &state)
        }
        if case .open = stream.receiving, stream.isAnnounced {
            send(.stop(stream: id, code: code), from: side, in: &state)
        }
        endReceiving(id, as: .stopped(code), at: side, in: &state)
        reportDone(id, at: side, in: &state)
    }
}
