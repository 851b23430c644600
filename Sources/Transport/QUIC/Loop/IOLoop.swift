internal import CQUICShim
internal import Concurrency
internal import Identity
internal import Transport

/// The one thread that owns the engine's state: sockets, connections, timers.
///
/// A pass takes the mail, reads what came, fires timers, and then sends once per connection that has a reason to: so
/// datagrams leave in trains. Everything in here belongs to that thread once ``start()`` was called, except the
/// `Sendable` constants; hence `@unchecked Sendable`.
@safe
final class IOLoop: @unchecked Sendable {
    let mailbox: Mailbox
    let limits: QUICLimits
    let seams: Seams
    /// Inbound connections that proved themselves.
    let accepted = BoundedChannel<ConnectionCore>()
    /// Set when the thread has ended and the port is free.
    let stopped = Promise<Void>()
    let foreign: AsyncStream<ForeignDatagram>.Continuation

    let sockets: Sockets
    let tls: TLSContext
    var options: rq_options
    let hooks: UnsafeMutablePointer<rq_hooks>
    private let waker: Waker
    private let batch: OpaquePointer

    var table: [ConnectionID: ConnectionCore] = [:]
    /// The open connections by where their packets go.
    var places = PlaceIndex()
    /// Connections of which nothing is left but their closing period.
    var closingCount = 0
    /// The relays of our channels.
    var channels: [ChannelId: ConnectionCore] = [:]
    /// What this endpoint forwards for others.
    var legs: [ChannelId: RelayLeg] = [:]
    var timers = TimerHeap<ConnectionCore>()
    var gate: AdmissionGate
    /// Accepted connections whose handshake is under way.
    var halfOpen: [AdmissionGate.Handshake: ConnectionCore] = [:]
    /// When this pass began.
    var now: UInt64
    private var clock: SteadyClock
    var lastRouteCheck: UInt64 = 0
    private var dirty: [ConnectionCore] = []
    private var mailedStreams: [StreamCore] = []
    private var mailedJobs: [Job] = []
    private var shutdownDeadline: UInt64?
    private var lastID: ConnectionID?
    private var lastCore: ConnectionCore?

    /// Batches read from one socket before others get their turn.
    private static let batchesPerPass = 4
    /// How long the acknowledgement of a small packet waits for the answer of whoever was just woken by it.
    ///
    /// Sent at once it would cost a packet each way: ngtcp2 takes the packet number of an acknowledgement for a gap in
    /// what must be acknowledged, and answers the next packet at once in its turn.
    private static let answerNanoseconds: UInt64 = 200_000
    /// Datagrams up to this size may wait so; longer ones are parts of a transfer.
    static let smallDatagram = 1000
    /// How long `close` waits for closing periods at most.
    private static let shutdownNanoseconds: UInt64 = 3_000_000_000

    init(
        configuration: QUICConfiguration,
        sockets: Sockets,
        tls: TLSContext,
        options: rq_options,
        foreign: AsyncStream<ForeignDatagram>.Continuation
    ) throws(TransportError) {
        guard let waker = Waker(), let batch = unsafe rq_batch_new() else {
            throw .initializationFailed("no more file descriptors or memory")
        }
        limits = configuration.limits
        seams = configuration.seams
        clock = SteadyClock(reading: configuration.seams.now ?? { rq_now() })
        now = clock.now()
        self.waker = waker
        unsafe self.batch = unsafe batch
        mailbox = Mailbox(waker: waker, maximumQuietCredit: min(256 << 10, configuration.limits.connectionWindow / 4))
        gate = AdmissionGate(limits: configuration.limits)
        self.sockets = sockets
        self.tls = tls
        self.options = options
        self.foreign = foreign
        unsafe hooks = .allocate(capacity: 1)
        unsafe hooks.initialize(to: EngineHooks.make())
    }

    deinit {
        unsafe rq_batch_free(batch)
        unsafe hooks.deallocate()
    }

    /// Starts the thread, which keeps the loop alive until it is told to shut down.
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
        sockets.markReadable()
        while true {
            now = clock.now()
            takeMail()
            receive()
            fireTimers()
            flush()
            closeUnusedPorts()
            if isDone { break }
            sleep()
        }
        foreign.finish()
        accepted.finish(discarding: true)
        let (jobs, streams) = mailbox.close()
        for job in jobs { refuse(job) }
        for stream in streams { stream.failWithEndpoint() }
        sockets.close()
        stopped.fulfil(())
    }

    /// Whether the endpoint takes nobody any more.
    var isShuttingDown: Bool { shutdownDeadline != nil }

    private var isDone: Bool {
        guard let shutdownDeadline else { return false }
        return timers.first == nil || now >= shutdownDeadline
    }

    /// Waits for something to do, and marks the sockets to read from.
    private func sleep() {
        guard mailbox.mayFallAsleep() else { return sockets.markReadable() }
        let now = clock.now()
        let next = min(timers.first?.timer.deadline ?? .max, shutdownDeadline ?? .max)
        let wait = next == .max ? UInt64.max : next > now ? next - now : 0
        unsafe sockets.markReadable { all, count, readable in
            unsafe rq_waker_wait(waker.raw, all, count, wait, readable)
        }
        mailbox.wokeUp()
    }

    // MARK: Mail

    private func takeMail() {
        mailbox.take(into: &mailedStreams, jobs: &mailedJobs)
        for stream in mailedStreams { carryOut(stream) }
        for job in mailedJobs { carryOut(job) }
        mailedStreams.removeAll(keepingCapacity: mailedStreams.count < 1024)
        mailedJobs.removeAll()
    }

    private func carryOut(_ job: Job) {
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
        case .networkChanged:
            for core in timers.all { followRoute(core) }
        case .shutDown(let code):
            shutDown(code: code)
        default:
            carryOutOnPaths(job)
        }
    }

    /// Answers a job that nobody will carry out any more.
    private func refuse(_ job: Job) {
        switch job {
        case .dial(let core, _, _):
            core.output.fail(.endpointClosed)
        case .openPorts(_, let opened): opened.fulfil([])
        default: break
        }
    }

    /// Ends a connection from this side; what was written before goes first, as far as the peer takes it now.
    private func close(_ core: ConnectionCore, code: UInt64, reason: String) {
        if case .open = core.phase { send(core) }
        end(core, .locally(code: code, reason: reason))
    }

    private func shutDown(code: UInt64) {
        guard shutdownDeadline == nil else { return }
        shutdownDeadline = now + Self.shutdownNanoseconds
        for core in timers.all {
            switch core.phase {
            case .handshaking: end(core, .silently(.endpointClosed))
            case .open: close(core, code: code, reason: "")
            case .closing, .gone: break
            }
        }
        accepted.finish(discarding: true)
    }

    private func sendForeign(_ bytes: [UInt8], to address: rq_addr, from port: UInt16?) {
        guard !bytes.isEmpty, let udp = unsafe sockets.socket(family: address.family, port: port) else { return }
        var address = address
        _ = unsafe bytes.withUnsafeBufferPointer { bytes in
            unsafe rq_udp_send(udp, nil, &address, 0, bytes.baseAddress, bytes.count, bytes.count)
        }
    }

    // MARK: Receiving

    private func receive() {
        for index in 0..<sockets.count where sockets.isReadable(index) {
            let udp = unsafe sockets[index]
            for _ in 0..<Self.batchesPerPass {
                let count = unsafe rq_udp_receive(udp, batch)
                for number in 0..<count {
                    guard let train = unsafe rq_batch_train(batch, number) else { continue }
                    unsafe receive(train)
                }
                if count < 16 { break }
            }
        }
        lastID = nil
        lastCore = nil
    }

    private func receive(_ train: UnsafePointer<rq_train>) {
        guard let base = unsafe train.pointee.bytes else { return }
        let length = unsafe train.pointee.length
        let segment = unsafe max(1, train.pointee.segment)
        var offset = 0
        while offset < length {
            if unsafe base[offset] == UInt8(RQ_CHANNEL_BYTE) {
                let rest = unsafe UnsafeBufferPointer(start: base + offset, count: length - offset)
                offset += unsafe receiveFromChannel(rest, segment: segment, of: train)
                continue
            }
            let datagram = unsafe UnsafeBufferPointer(start: base + offset, count: min(segment, length - offset))
            unsafe receive(datagram, of: train)
            offset += segment
        }
    }

    func receive(_ datagram: UnsafeBufferPointer<UInt8>, of train: UnsafePointer<rq_train>) {
        var cid = rq_cid()
        var isLong = false
        var version: UInt32 = 0
        let hasID = unsafe rq_packet_destination(datagram.baseAddress, datagram.count, &cid, &isLong, &version)
        // Without the fixed bit only Version Negotiation is QUIC (RFC 9443); we never let peers clear it.
        let isNegotiation = isLong && hasID && version == 0
        guard unsafe datagram[0] & 0x40 != 0 || isNegotiation else {
            return unsafe handOut(datagram, train.pointee)
        }
        guard hasID else { return }
        let id = ConnectionID(cid)
        if id != lastID {
            lastID = id
            lastCore = table[id]
        }
        guard let core = lastCore else {
            lastID = nil
            return isNegotiation ? () : unsafe meetStranger(datagram, cid: cid, train: train)
        }
        unsafe feed(core, datagram, train)
    }

    private func handOut(_ datagram: UnsafeBufferPointer<UInt8>, _ train: rq_train) {
        guard datagram.count <= limits.foreignDatagramBytes, let source = unsafe train.source.socketAddress else {
            return
        }
        let destination = unsafe train.destination
        let port = sockets.isFurther(port: destination.port) ? destination.port : nil
        unsafe foreign.yield(ForeignDatagram(bytes: Array(datagram), source: source, port: port))
    }

    /// Forgets which connection the last datagram belonged to, because ids changed.
    func forgetLastLookup() {
        lastID = nil
        lastCore = nil
    }

    // MARK: Timers and sending

    func markDirty(_ core: ConnectionCore) {
        if core.turn == .none { dirty.append(core) }
        core.turn = .due
    }

    private func fireTimers() {
        while let core = timers.first, core.timer.deadline <= now {
            timers.set(core, deadline: .max)
            expire(core)
        }
    }

    private func flush() {
        guard !dirty.isEmpty else { return }
        let batch = dirty
        dirty.removeAll(keepingCapacity: true)
        for core in batch {
            let mayWait = core.turn == .deferrable
            core.turn = .none
            let wasHeard = drainEvents(of: core)
            if mayWait, wasHeard, let raw = unsafe core.raw, unsafe !rq_conn_has_unsent(raw) {
                timers.set(core, deadline: min(core.timer.deadline, now + Self.answerNanoseconds))
            } else {
                send(core)
            }
        }
    }
}
