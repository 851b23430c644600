internal import CQUICShim
internal import Concurrency
internal import Transport

extension IOLoop {
    /// Up to this size bytes are copied into the engine's queue; longer arrays are lent to it.
    private static let copyLimit = 2048

    /// The pending writes and requests of a stream's user.
    private struct PendingOutput: Sendable {
        var outbound: [[UInt8]]
        var finish: Bool
        var reset: UInt64?
        var stopsReading: Bool
        var credit: Int
        var returnsSlot: Bool
    }

    /// Passes a stream's pending output to the engine.
    func perform(_ stream: StreamCore) {
        let pending = stream.withState { state -> PendingOutput in
            state.unmark()
            return PendingOutput(
                outbound: state.sending.takeOutbound(),
                finish: state.sending.takeFinish(),
                reset: state.resetCode,
                stopsReading: state.receiving.isStopped,
                credit: state.receiving.takeCredit(),
                returnsSlot: state.slot.takeReturn()
            )
        }
        let core = stream.connection
        guard let raw = unsafe core.raw else {
            guard let error = core.output.ended.value else { return }
            return stream.fail(error)
        }
        unsafe rq_conn_consume(raw, stream.raw, UInt64(pending.credit))
        if pending.returnsSlot, stream.isRemote { unsafe rq_conn_allow_stream(raw) }
        unsafe write(pending, to: stream, of: raw)
        connections.markDirty(core)
    }

    private func write(_ pending: PendingOutput, to stream: StreamCore, of raw: OpaquePointer) {
        if unsafe stream.raw == nil {
            let hasNews = pending.finish || !pending.outbound.isEmpty
            guard !stream.wasOpened, pending.reset == nil, hasNews else { return }
            stream.wasOpened = true
            let user = unsafe Unmanaged.passRetained(stream)
            unsafe stream.raw = rq_stream_open(raw, user.toOpaque())
        }
        guard let engineStream = unsafe stream.raw else { return }
        for bytes in pending.outbound {
            if bytes.count <= Self.copyLimit {
                unsafe bytes.withUnsafeBufferPointer {
                    unsafe rq_stream_write_copy(engineStream, $0.baseAddress, $0.count)
                }
            } else {
                let buffer = SendBuffer(bytes)
                let owner = unsafe Unmanaged.passRetained(buffer).toOpaque()
                unsafe buffer.bytes.withUnsafeBufferPointer {
                    unsafe rq_stream_write(engineStream, $0.baseAddress, $0.count, owner)
                }
            }
        }
        if pending.finish { unsafe rq_stream_finish(engineStream) }
        if let code = pending.reset {
            unsafe rq_stream_reset(engineStream, code)
        } else if pending.stopsReading {
            unsafe rq_stream_stop_reading(engineStream)
        }
    }

    /// Delivers the events of this pass to a connection's streams, and new streams to its user.
    ///
    /// Returns whether bytes or the end of a stream arrived.
    @discardableResult func drainEvents(of core: ConnectionCore) -> Bool {
        guard let raw = unsafe core.raw else { return false }
        var wasHeard = false
        var event = unsafe rq_event()
        while unsafe rq_conn_next_event(raw, &event) {
            guard let user = unsafe event.user else { continue }
            let stream = unsafe Unmanaged<StreamCore>.fromOpaque(user).takeUnretainedValue()
            let result = unsafe deliver(flags: event.flags, code: event.code, queued: Int(event.queued), to: stream)
            unsafe rq_conn_consume(raw, stream.raw, UInt64(result.credit))
            unsafe wasHeard = wasHeard || event.flags & UInt32(RQ_EVENT_DATA | RQ_EVENT_FIN) != 0
            guard unsafe event.flags & UInt32(RQ_EVENT_CLOSED) != 0 else { continue }
            if result.returnsSlot, stream.isRemote { unsafe rq_conn_allow_stream(raw) }
            unsafe stream.raw = nil
            unsafe rq_stream_free(event.stream)
            unsafe Unmanaged.passUnretained(stream).release()
        }
        core.reports.offerNewcomers(to: core.output.arrivals)
        return wasHeard
    }

    private func deliver(
        flags: UInt32,
        code: UInt64,
        queued: Int,
        to stream: StreamCore
    ) -> (credit: Int, returnsSlot: Bool) {
        let has = { (flag: Int) in flags & UInt32(flag) != 0 }
        let staged = stream.takeStaged()
        let (waiters, stopped, released, credit, returnsSlot) = stream.withState { state in
            if !staged.isEmpty { state.receiving.receive(staged) }
            if has(RQ_EVENT_FIN) { state.receiving.end() }
            if has(RQ_EVENT_RESET) { state.receiving.fail(.reset(code: code), discarding: true) }
            if has(RQ_EVENT_STOP) { state.sending.fail(.stopped(code: code)) }
            state.sending.engineBytes = has(RQ_EVENT_CLOSED) ? 0 : queued
            var returnsSlot = false
            if has(RQ_EVENT_CLOSED) {
                state.slot.close()
                returnsSlot = state.slot.takeReturn()
            }
            let waiters = state.takeReadyWaiters()
            // Bytes that will not be read are credited at once.
            let mustCredit = state.receiving.isStopped || has(RQ_EVENT_RESET)
            let credit = mustCredit ? state.receiving.takeCredit() : 0
            let stopped = state.sending.takeStopped()
            return (waiters, stopped, state.sending.takeReleased(), credit, returnsSlot)
        }
        for waiter in waiters { waiter.fulfil(()) }
        stream.connection.sendBudget.giveBack(released)
        if has(RQ_EVENT_STOP) { stream.connection.sendBudget.wake() }
        if let stopped { stopped.handler(stopped.error) }
        return (credit, returnsSlot)
    }

    /// Fails the streams of a connection that has ended.
    func failStreams(of raw: OpaquePointer, _ error: TransportError) {
        while let user = unsafe rq_conn_pop_stream(raw) {
            let stream = unsafe Unmanaged<StreamCore>.fromOpaque(user).takeRetainedValue()
            unsafe stream.raw = nil
            stream.fail(error)
        }
    }
}
