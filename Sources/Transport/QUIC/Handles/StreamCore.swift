internal import CQUICShim
internal import Concurrency
internal import Transport

/// One stream, between its user's handle and the I/O thread.
///
/// What both touch lies under the lock; the rest belongs to the I/O thread alone, hence `@unchecked Sendable`.
@safe
final class StreamCore: @unchecked Sendable {
    let connection: ConnectionCore
    private let state: Locked<StreamState>

    // The I/O thread's.
    var raw: OpaquePointer?
    var wasOpened: Bool
    private var staged: [UInt8] = []
    let isRemote: Bool

    init(connection: ConnectionCore, isRemote: Bool) {
        self.connection = connection
        self.isRemote = isRemote
        wasOpened = isRemote
        state = Locked(StreamState(isAccepted: !isRemote))
    }

    func withState<R: Sendable>(_ body: (inout StreamState) -> R) -> R {
        state.withLock { body(&$0) }
    }

    /// Tells the I/O thread.
    private func notify(_ notice: StreamState.Notice, isPosted: Bool) {
        let isHeard =
            switch notice {
            case .none: true
            case .quiet(let credit): connection.mailbox.postQuietly(self, credit: credit)
            case .urgent: connection.mailbox.post(isPosted ? nil : self)
            }
        if !isHeard { failWithEndpoint() }
    }

    /// Marks the stream as posted urgently; returns whether the thread must be told, and whether the stream was on its
    /// list already.
    private static func markUrgent(_ state: inout StreamState) -> (StreamState.Notice, Bool) {
        guard !state.isPostedUrgently else { return (.none, true) }
        let wasPosted = state.isPosted
        state.isPosted = true
        state.isPostedUrgently = true
        return (.urgent, wasPosted)
    }

    // MARK: Reading

    func read(atMost maximum: Int) async throws -> (bytes: [UInt8], isFinal: Bool) {
        guard maximum > 0 else { return ([], false) }
        try Task.checkCancellation()
        while true {
            switch try takeNow(atMost: maximum) {
            case .bytes(let bytes, let isFinal): return (bytes, isFinal)
            case .failure(let error): throw error
            case .nothingYet: try await waitToRead()
            }
        }
    }

    private func takeNow(atMost maximum: Int) throws -> StreamState.Taking {
        let threshold = connection.creditThreshold
        let (taking, notice, wasPosted, isMisused) = withState { state in
            guard state.reader == nil else {
                return (StreamState.Taking.nothingYet, StreamState.Notice.none, false, true)
            }
            let taking = state.take(atMost: maximum)
            var notice = StreamState.Notice.none
            var wasPosted = state.isPosted
            if state.creditDue >= threshold {
                (notice, wasPosted) = Self.markUrgent(&state)
            } else if state.creditDue > 0, state.unread == 0, !state.isPosted {
                state.isPosted = true
                notice = .quiet(state.creditDue)
            }
            return (taking, notice, wasPosted, false)
        }
        if isMisused { throw TransportError.misuse("two readers at a time") }
        notify(notice, isPosted: wasPosted)
        return taking
    }

    private func waitToRead() async throws {
        let arrival = Promise<Void>()
        try await withTaskCancellationHandler {
            let mustWait = try state.withLock { state in
                if state.reader != nil { throw TransportError.misuse("two readers at a time") }
                if state.unread > 0 || state.isFullyRead { return false }
                if Task.isCancelled { throw CancellationError() }
                state.reader = arrival
                return true
            }
            if mustWait { try await arrival.wait() }
        } onCancel: {
            // At once: another task may read as soon as this one is cancelled.
            withState { if $0.reader === arrival { $0.reader = nil } }
        }
    }

    // MARK: Writing

    func write(_ bytes: [UInt8], finish: Bool) async throws {
        try Task.checkCancellation()
        while true {
            switch try enqueueNow(bytes, finish: finish) {
            case .done: return
            case .streamIsFull:
                let highWater = connection.highWater
                try await waitToWrite(downTo: connection.lowWater) { $0.queued < highWater }
            case .connectionIsFull:
                try await connection.sendBudget.wait { withState { $0.writeError != nil } }
            }
        }
    }

    /// Waits until the peer has acknowledged what was written.
    func delivered() async throws {
        try Task.checkCancellation()
        while true {
            let (failure, queued) = withState { ($0.writeError, $0.queued) }
            if let failure { throw failure }
            if queued == 0 { return }
            try await waitToWrite(downTo: 0) { $0.queued == 0 }
        }
    }

    /// Whether bytes were queued, or what they wait for.
    private enum Queueing: Sendable {
        case done
        case streamIsFull
        case connectionIsFull
    }

    /// Queues the bytes if there is room.
    private func enqueueNow(_ bytes: [UInt8], finish: Bool) throws -> Queueing {
        let (highWater, budget) = (connection.highWater, connection.sendBudget)
        let (failure, queueing, notice, wasPosted) = withState { state in
            if let failure = state.writeFailure() {
                return (failure as TransportError?, Queueing.streamIsFull, StreamState.Notice.none, false)
            }
            if state.writer != nil { return (.misuse("two writers at a time"), .streamIsFull, .none, false) }
            guard state.queued < highWater else { return (nil, .streamIsFull, .none, false) }
            guard state.enqueue(bytes, finish: finish, within: budget) else {
                return (nil, .connectionIsFull, .none, false)
            }
            let (notice, wasPosted) = Self.markUrgent(&state)
            return (nil, .done, notice, wasPosted)
        }
        if let failure { throw failure }
        notify(notice, isPosted: wasPosted)
        return queueing
    }

    /// Gives what is queued no more back to the connection's budget, and wakes writers whose stream failed meanwhile.
    private func release(_ count: Int) {
        connection.sendBudget.giveBack(count)
        connection.sendBudget.wake()
    }

    /// Waits until at most `limit` bytes are queued, unless it is time already, or nothing can be written any more.
    private func waitToWrite(downTo limit: Int, unless isTime: @Sendable (StreamState) -> Bool) async throws {
        let drained = Promise<Void>()
        try await withTaskCancellationHandler {
            let mustWait = try state.withLock { state in
                if state.writer != nil { throw TransportError.misuse("two writers at a time") }
                if isTime(state) || state.writeError != nil { return false }
                if Task.isCancelled { throw CancellationError() }
                state.writer = drained
                state.writerLimit = limit
                return true
            }
            if mustWait { try await drained.wait() }
        } onCancel: {
            // At once: another task may write as soon as this one is cancelled, such as the failure of a request.
            withState { if $0.writer === drained { $0.writer = nil } }
        }
    }

    // MARK: The end

    /// Has `handler` told that writing is of no use any more.
    func whenStopped(_ handler: StreamState.StopHandler?) {
        let stopped = withState { state in
            state.stopHandler = handler
            return state.takeStopped()
        }
        if let stopped { stopped.handler(stopped.error) }
    }

    /// Gives up both directions.
    func reset(code: UInt64) {
        let (waiters, stopped, released, notice, wasPosted) = withState { state in
            state.giveUp(code: code)
            let (notice, wasPosted) = Self.markUrgent(&state)
            return (Self.takeWaiters(&state), state.takeStopped(), state.takeReleased(), notice, wasPosted)
        }
        for waiter in waiters { waiter.fulfil(()) }
        release(released)
        if let stopped { stopped.handler(stopped.error) }
        notify(notice, isPosted: wasPosted)
    }

    /// The handle is gone.
    func abandon() {
        let (released, notice, wasPosted) = withState { state -> (Int, StreamState.Notice, Bool) in
            if state.isClosed || (state.hasFinished && state.isFullyRead) {
                guard state.creditDue > 0 || state.unread > 0 else { return (0, .none, false) }
            }
            if state.hasFinished { state.stopReading() } else { state.giveUp(code: 0) }
            let (notice, wasPosted) = Self.markUrgent(&state)
            return (state.takeReleased(), notice, wasPosted)
        }
        connection.sendBudget.giveBack(released)
        notify(notice, isPosted: wasPosted)
    }

    /// The user got the stream from `acceptStream`.
    func markAccepted() {
        let (notice, wasPosted) = withState { state -> (StreamState.Notice, Bool) in
            state.isAccepted = true
            return state.isClosed ? Self.markUrgent(&state) : (.none, false)
        }
        notify(notice, isPosted: wasPosted)
    }

    /// The connection is gone, and the stream with it.
    func fail(_ error: TransportError) {
        let (waiters, stopped, released) = withState { state in
            state.failReading(error, discarding: false)
            state.failWriting(error)
            state.isClosed = true
            return (Self.takeWaiters(&state), state.takeStopped(), state.takeReleased())
        }
        for waiter in waiters { waiter.fulfil(()) }
        release(released)
        if let stopped { stopped.handler(stopped.error) }
    }

    /// The I/O thread is gone and carries out nothing any more.
    func failWithEndpoint() {
        fail(connection.ended.value ?? .endpointClosed)
    }

    // MARK: The I/O thread

    /// Copies bytes that just arrived; they are handed over once per pass.
    func stage(_ bytes: UnsafeBufferPointer<UInt8>) {
        unsafe staged.append(contentsOf: bytes)
    }

    /// Takes what was staged.
    func takeStaged() -> [UInt8] {
        defer { staged = [] }
        return staged
    }

    private static func takeWaiters(_ state: inout StreamState) -> [Promise<Void>] {
        defer {
            state.reader = nil
            state.writer = nil
        }
        return [state.reader, state.writer].compactMap { $0 }
    }
}
