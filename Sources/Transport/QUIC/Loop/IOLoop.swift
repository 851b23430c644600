internal import CQUICShim
internal import Concurrency
internal import Identity
internal import Transport

/// The one thread that owns the engine's state: sockets, connections, timers.
///
/// A pass takes the submissions, reads the received datagrams, fires timers, and then sends once for each connection with a
/// reason to: so datagrams are sent in GSO batches. All state belongs to that thread after ``start()``, except the
/// `Sendable` constants; hence `@unchecked Sendable`.
final class IOLoop: @unchecked Sendable {
    let submissions: SubmissionQueue
    let limits: QUICLimits
    let output: EndpointOutput
    let sockets: Sockets
    let engine: Engine
    /// Read at the beginning of each pass.
    var clock: SteadyClock
    var connections = Connections()
    var handshakes: Handshakes
    var relays = RelayChannels()
    /// The time of the last check of the system's routes because of an error.
    var lastRouteCheck: UInt64 = 0
    /// The latest end of the thread; nil until the endpoint is closed.
    private var shutdownDeadline: UInt64?

    /// Batches read from one socket before others are read.
    private static let batchesPerPass = 4
    /// The time for which the acknowledgement of a small packet waits for the answer of the task that the packet woke.
    ///
    /// Sent at once it would cost a packet each way: ngtcp2 treats the packet number of an acknowledgement as a gap in the
    /// packets to acknowledge, and acknowledges the next packet at once in turn.
    private static let answerNanoseconds: UInt64 = 200_000
    /// The largest datagram that may wait in this way; longer ones are parts of a transfer.
    static let smallDatagram = 1000
    /// The longest time that `close` waits for closing periods.
    private static let shutdownNanoseconds: UInt64 = 3_000_000_000

    init(
        configuration: QUICConfiguration,
        sockets: Sockets,
        tls: TLSContext,
        options: rq_options,
        foreign: AsyncStream<ForeignDatagram>.Continuation
    ) throws(TransportError) {
        guard let waker = Waker() else { throw .initializationFailed("no more file descriptors or memory") }
        limits = configuration.limits
        clock = SteadyClock(reading: configuration.seams.now ?? { rq_now() })
        clock.advance()
        let window = configuration.limits.connectionWindow
        submissions = SubmissionQueue(waker: waker, maximumQuietCredit: min(256 << 10, window / 4))
        handshakes = Handshakes(limits: configuration.limits)
        output = EndpointOutput(foreign: foreign)
        self.sockets = sockets
        engine = Engine(tls: tls, options: options)
    }

    /// Starts the thread, which keeps the loop alive until it shuts down.
    func start() throws(TransportError) {
        let context = unsafe Unmanaged.passRetained(self)
        let status = unsafe rq_thread_start(
            { raw in
                guard let raw = unsafe raw else { return }
                unsafe Unmanaged<IOLoop>.fromOpaque(raw).takeRetainedValue().run()
            },
            context.toOpaque()
        )
        guard status != 0 else { return }
        unsafe context.release()
        throw .initializationFailed("the system refused a thread (error \(status))")
    }

    private func run() {
        var submitted = Submissions()
        sockets.markReadable()
        while true {
            clock.advance()
            take(&submitted)
            receive()
            fireTimers()
            flush()
            closeUnusedPorts()
            if isDone { break }
            sleep()
        }
        output.finish()
        let late = submissions.close()
        for job in late.jobs { refuse(job) }
        for stream in late.streams { stream.failWithEndpoint() }
        sockets.close()
        output.stopped.fulfil(())
    }

    /// Whether the endpoint accepts no new connections.
    var isShuttingDown: Bool { shutdownDeadline != nil }

    private var isDone: Bool {
        guard let shutdownDeadline else { return false }
        return connections.timers.first == nil || clock.now >= shutdownDeadline
    }

    /// Waits for something to do, and marks the sockets to read from.
    private func sleep() {
        guard submissions.mayFallAsleep() else { return sockets.markReadable() }
        let now = clock.advance()
        let next = min(connections.timers.first?.timer.deadline ?? .max, shutdownDeadline ?? .max)
        let wait = next == .max ? UInt64.max : next > now ? next - now : 0
        unsafe sockets.markReadable { all, count, readable in
            unsafe rq_waker_wait(submissions.waker.raw, all, count, wait, readable)
        }
        submissions.wokeUp()
    }

    // MARK: Submissions

    private func take(_ submitted: inout Submissions) {
        submissions.take(into: &submitted)
        for stream in submitted.streams { perform(stream) }
        for job in submitted.jobs { perform(job) }
        submitted.streams.removeAll(keepingCapacity: submitted.streams.count < 1024)
        submitted.jobs.removeAll()
    }

    private func perform(_ job: Job) {
        switch job {
        case .dial(let core, let remote, let port):
            guard shutdownDeadline == nil else { return refuse(job) }
            dial(core, remote, from: port)
        case .close(let core, let code, let reason):
            close(core, code: code, reason: reason)
        case .probe(let core): probe(core)
        case .extendLimits(let core): extendLimits(of: core)
        case .sendForeign(let bytes, let address, let port):
            sendForeign(bytes, to: address, from: port)
        case .migrate(let core, let remote, let port): migrate(core, to: remote, from: port)
        case .openChannel(let channel, let relay): relays.open(channel, over: relay)
        case .closeChannel(let channel): relays.close(channel)
        case .relay(let forth, let back): relays.forward(forth, back)
        case .stopRelaying(let channel): relays.stopForwarding(channel)
        case .openPorts(let count, let opened): opened.fulfil(sockets.openPorts(count: count))
        case .closePorts(let ports): closePorts(ports)
        case .networkChanged:
            for core in connections.timers.all { followRoute(core) }
        case .expectMembers(let addresses):
            for address in addresses.reversed() { handshakes.gate.remember(address) }
        case .shutDown(let code):
            shutDown(code: code)
        }
    }

    /// Answers a job that the I/O thread will no longer run.
    private func refuse(_ job: Job) {
        switch job {
        case .dial(let core, _, _):
            core.output.fail(.endpointClosed)
        case .openPorts(_, let opened): opened.fulfil([])
        case .close, .probe, .extendLimits, .sendForeign, .migrate, .openChannel, .closeChannel, .relay, .stopRelaying,
            .closePorts, .networkChanged, .expectMembers, .shutDown:
            break
        }
    }

    /// Closes a connection from this side, after sending as much of the written data as the peer accepts now.
    private func close(_ core: ConnectionCore, code: UInt64, reason: String) {
        if case .open = core.phase { send(core) }
        end(core, .locally(code: code, reason: reason))
    }

    private func shutDown(code: UInt64) {
        guard shutdownDeadline == nil else { return }
        shutdownDeadline = clock.now + Self.shutdownNanoseconds
        for core in connections.timers.all {
            switch core.phase {
            case .handshaking:
                // The dialler may have completed its side of the handshake already.
                if !core.isDialler { sendClose(of: core, code: code) }
                end(core, .silently(.endpointClosed))
            case .open: close(core, code: code, reason: "")
            case .closing, .gone: break
            }
        }
        output.accepted.finish(discarding: true)
    }

    private func sendForeign(_ bytes: [UInt8], to address: ru_addr, from port: UInt16?) {
        guard !bytes.isEmpty, let udp = unsafe sockets.socket(family: address.family, port: port) else { return }
        var address = address
        _ = unsafe bytes.withUnsafeBufferPointer { bytes in
            unsafe ru_udp_send(udp, nil, &address, 0, bytes.baseAddress, bytes.count, bytes.count)
        }
    }

    // MARK: Receiving

    private func receive() {
        for index in 0..<sockets.count where sockets.isReadable(index) {
            let udp = unsafe sockets[index]
            for _ in 0..<Self.batchesPerPass {
                let count = unsafe ru_udp_receive(udp, sockets.batch.raw)
                for number in 0..<count {
                    guard let batch = unsafe ru_batch_incoming(sockets.batch.raw, number) else { continue }
                    unsafe receive(batch)
                }
                if count < 16 { break }
            }
        }
        connections.table.forgetLast()
    }

    private func receive(_ batch: UnsafePointer<ru_incoming>) {
        guard let base = unsafe batch.pointee.bytes else { return }
        let length = unsafe batch.pointee.length
        let segment = unsafe max(1, batch.pointee.segment)
        var offset = 0
        while offset < length {
            if unsafe base[offset] == UInt8(RQ_CHANNEL_BYTE) {
                let rest = unsafe UnsafeBufferPointer(start: base + offset, count: length - offset)
                offset += unsafe receiveFromChannel(rest, segment: segment, of: batch)
                continue
            }
            let datagram = unsafe UnsafeBufferPointer(start: base + offset, count: min(segment, length - offset))
            unsafe receive(datagram, of: batch)
            offset += segment
        }
    }

    func receive(_ datagram: UnsafeBufferPointer<UInt8>, of batch: UnsafePointer<ru_incoming>) {
        var cid = rq_cid()
        var isLong = false
        var version: UInt32 = 0
        let hasId = unsafe rq_packet_destination(datagram.baseAddress, datagram.count, &cid, &isLong, &version)
        // Without the fixed bit only Version Negotiation is QUIC (RFC 9443); we never let peers clear it.
        let isNegotiation = isLong && hasId && version == 0
        guard unsafe datagram[0] & 0x40 != 0 || isNegotiation else {
            return unsafe handOut(datagram, batch.pointee)
        }
        guard hasId else { return }
        guard let core = connections.table.find(QUICConnectionId(cid)) else {
            return isNegotiation ? () : unsafe handleFirstPacket(datagram, cid: cid, batch: batch)
        }
        unsafe feed(core, datagram, batch)
    }

    private func handOut(_ datagram: UnsafeBufferPointer<UInt8>, _ batch: ru_incoming) {
        guard datagram.count <= limits.foreignDatagramBytes, let source = unsafe batch.source.socketAddress else {
            return
        }
        let destination = unsafe batch.destination
        let port = sockets.isFurther(port: destination.port) ? destination.port : nil
        unsafe output.foreign.yield(ForeignDatagram(bytes: Array(datagram), source: source, port: port))
    }

    // MARK: Timers and sending

    private func fireTimers() {
        while let core = connections.timers.first, core.timer.deadline <= clock.now {
            connections.timers.set(core, deadline: .max)
            expire(core)
        }
    }

    private func flush() {
        for core in connections.takeDirty() {
            let mayWait = core.sendState == .deferrable
            core.sendState = .none
            let wasHeard = drainEvents(of: core)
            if mayWait, wasHeard, let raw = unsafe core.raw, unsafe !rq_conn_has_unsent(raw) {
                connections.timers.set(core, deadline: min(core.timer.deadline, clock.now + Self.answerNanoseconds))
            } else {
                send(core)
            }
        }
    }
}
