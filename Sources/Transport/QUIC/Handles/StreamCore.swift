internal import CQUICShim
internal import Concurrency
internal import Transport

/// One stream, between its user's handle and the I/O thread.
///
/// The lock guards the shared state; the rest belongs to the I/O thread alone, hence `@unchecked Sendable`.
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

    /// Notifies the I/O thread.
    private func notify(_ notice: StreamState.Notice) {
        let isHeard =
            switch notice {
            case .none: true
            case .quiet(let credit): connection.submissions.postQuietly(self, credit: credit)
            case .urgent(let isListed): connection.submissions.post(isListed ? nil : self)
            }
        if !isHeard { failWithEndpoint() }
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

    private func takeNow(atMost maximum: Int) throws -> ReceiveSide.Taking {
        let threshold = connection.creditThreshold
        let (taking, notice, isMisused) = withState { state in
            guard state.receiving.reader == nil else {
                return (ReceiveSide.Taking.nothingYet, StreamState.Notice.none, true)
            }
            let taking = state.receiving.take(atMost: maximum)
            return (taking, state.markCredit(threshold: threshold), false)
        }
        if isMisused { throw TransportError.misuse("two concurrent readers") }
        notify(notice)
        return taking
    }

    private func waitToRead() async throws {
        let arrival = Promise<Void>()
        try await withTaskCancellationHandler {
            let mustWait = try state.withLock { state in
                if state.receiving.reader != nil { throw TransportError.misuse("two concurrent readers") }
                if state.receiving.isReadable { return false }
                if Task.isCancelled { throw CancellationError() }
                state.receiving.wait(arrival)
                return true
            }
            if mustWait { try await arrival.wait() }
        } onCancel: {
            // At once: another task may read as soon as this one is cancelled.
            withState { $0.receiving.cancel(arrival) }
        }
    }

    // MARK: Writing

    func write(_ bytes: [UInt8], finish: Bool) async throws {
        try Task.checkCancellation()
        while true {
            switch try enqueueNow(bytes, finish: finish) {
            case .done: return
            case .streamIsFull:
                let highWater = connection.sendBudget.highWater
                try await waitToWrite(downTo: connection.sendBudget.lowWater) { $0.queued < highWater }
            case .connectionIsFull:
                try await connection.sendBudget.wait { withState { $0.sending.error != nil } }
            }
        }
    }

    /// Waits until the peer has acknowledged the written bytes.
    func delivered() async throws {
        try Task.checkCancellation()
        while true {
            let (failure, queued) = withState { ($0.sending.error, $0.sending.queued) }
            if let failure { throw failure }
            if queued == 0 { return }
            try await waitToWrite(downTo: 0) { $0.queued == 0 }
        }
    }

    /// The result of queueing bytes, or the condition for which they wait.
    private enum Queueing: Sendable {
        case done
        case streamIsFull
        case connectionIsFull
    }

    /// Queues the bytes if there is room.
    private func enqueueNow(_ bytes: [UInt8], finish: Bool) throws -> Queueing {
        let budget = connection.sendBudget
        let (failure, queueing, notice) = withState { state in
            if let failure = state.sending.failure {
                return (failure as TransportError?, Queueing.streamIsFull, StreamState.Notice.none)
            }
            if state.sending.writer != nil { return (.misuse("two concurrent writers"), .streamIsFull, .none) }
            guard state.sending.queued < budget.highWater else { return (nil, .streamIsFull, .none) }
            guard state.sending.enqueue(bytes, finish: finish, within: budget) else {
                return (nil, .connectionIsFull, .none)
            }
            return (nil, .done, state.markUrgent())
        }
        if let failure { throw failure }
        notify(notice)
        return queueing
    }

    /// Returns released bytes to the connection's budget, and wakes writers whose stream failed meanwhile.
    private func release(_ count: Int) {
        connection.sendBudget.giveBack(count)
        connection.sendBudget.wake()
    }

    /// Waits until at most `limit` bytes are queued or writing fails; returns at once if `isTime` holds.
    private func waitToWrite(downTo limit: Int, unless isTime: @Sendable (SendSide) -> Bool) async throws {
        let drained = Promise<Void>()
        try await withTaskCancellationHandler {
            let mustWait = try state.withLock { state in
                if state.sending.writer != nil { throw TransportError.misuse("two concurrent writers") }
                if isTime(state.sending) || state.sending.error != nil { return false }
                if Task.isCancelled { throw CancellationError() }
                state.sending.wait(drained, downTo: limit)
                return true
            }
            if mustWait { try await drained.wait() }
        } onCancel: {
            // At once: another task may write as soon as this one is cancelled, such as the failure of a request.
            withState { $0.sending.cancel(drained) }
        }
    }

    // MARK: The end

    /// Sets the handler that is called once writing becomes useless; at once if it is so already.
    func whenStopped(_ handler: SendSide.StopHandler?) {
        let stopped = withState { state in
            state.sending.stopHandler = handler
            return state.sending.takeStopped()
        }
        if let stopped { stopped.handler(stopped.error) }
    }

    /// Resets both directions.
    func reset(code: UInt64) {
        let (waiters, stopped, released, notice) = withState { state in
            state.reset(code: code)
            let notice = state.markUrgent()
            return (state.takeWaiters(), state.sending.takeStopped(), state.sending.takeReleased(), notice)
        }
        for waiter in waiters { waiter.fulfil(()) }
        release(released)
        if let stopped { stopped.handler(stopped.error) }
        notify(notice)
    }

    /// Stops or resets the incomplete directions, because the handle was released.
    func abandon() {
        let (released, notice) = withState { state -> (Int, StreamState.Notice) in
            if state.slot.isClosed || (state.sending.hasFinished && state.receiving.isFullyRead) {
                guard state.receiving.creditDue > 0 || state.receiving.unread > 0 else { return (0, .none) }
            }
            if state.sending.hasFinished { state.receiving.stop() } else { state.reset(code: 0) }
            let notice = state.markUrgent()
            return (state.sending.takeReleased(), notice)
        }
        connection.sendBudget.giveBack(released)
        notify(notice)
    }

    /// The user got the stream from `acceptStream`.
    func markAccepted() {
        let notice = withState { state -> StreamState.Notice in
            state.slot.accept()
            return state.slot.isClosed ? state.markUrgent() : .none
        }
        notify(notice)
    }

    /// Fails the stream because the connection has ended.
    func fail(_ error: TransportError) {
        let (waiters, stopped, released) = withState { state in
            state.receiving.fail(error, discarding: false)
            state.sending.fail(error)
            state.slot.close()
            return (state.takeWaiters(), state.sending.takeStopped(), state.sending.takeReleased())
        }
        for waiter in waiters { waiter.fulfil(()) }
        release(released)
        if let stopped { stopped.handler(stopped.error) }
    }

    /// Fails the stream because the I/O thread has ended and serves it no longer.
    func failWithEndpoint() {
        fail(connection.output.ended.value ?? .endpointClosed)
    }

    // MARK: The I/O thread

    /// Copies bytes that just arrived; they are handed over once per pass.
    func stage(_ bytes: UnsafeBufferPointer<UInt8>) {
        unsafe staged.append(contentsOf: bytes)
    }

    /// Returns the staged bytes and clears them.
    func takeStaged() -> [UInt8] {
        defer { staged = [] }
        return staged
    }
}
