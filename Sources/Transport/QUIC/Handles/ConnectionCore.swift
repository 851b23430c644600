internal import CQUICShim
internal import Concurrency
internal import Identity
internal import Transport

/// One connection, between its users' handles and the I/O thread.
///
/// What both touch lies in locked members; the rest belongs to the I/O thread alone, hence `@unchecked Sendable`.
@safe
final class ConnectionCore: TimerHeapElement, @unchecked Sendable {
    /// What both sides see.
    struct Shared: Sendable {
        var remotePeerId: PeerId?
        var remoteAddress: SocketAddress
        /// Smoothed, in nanoseconds; 0 before it was measured.
        var roundTrip: UInt64 = 0
        var exporterSecret: [UInt8] = []
        /// Bytes of one stream that were read before the I/O thread is woken to give credit for them.
        var creditThreshold: Int
    }

    /// Where a connection is in its life, for the I/O thread.
    enum Phase {
        /// Can become `open` or `closing`.
        case handshaking
        /// Can become `closing`.
        case open
        /// Nothing but the answer to late packets is left. Can become `gone`.
        case closing(ClosingPeriod)
        /// No packet finds it any more.
        case gone
    }

    /// News of the path that wait for their reader; older ones are of no use.
    private static let pathEventLimit = 16

    let mailbox: Mailbox
    let isDialler: Bool
    /// Whom we dialled.
    let expected: PeerId?
    let sendBudget: SendBudget
    /// Nil once both sides know each other, or why not.
    let established = Promise<TransportError?>()
    let ended = Promise<TransportError>()
    let arrivals = BoundedChannel<StreamCore>()
    let shared: Locked<Shared>
    let pathEvents: AsyncStream<PathEvent>
    let pathQueue: AsyncStream<PathEvent>.Continuation

    // The I/O thread's.
    var raw: OpaquePointer?
    var ids: [ConnectionID] = []
    /// Streams that the peer opened in this pass.
    var newcomers: [StreamCore] = []
    var deadline: UInt64 = .max
    var heapIndex = -1
    var isDirty = false
    /// Whether its users know that nothing is heard any more.
    var isSuspect = false
    /// Whether there is nothing to say but that one small packet came.
    var mayWait = false
    var phase = Phase.handshaking
    /// The handshake of an accepted connection, until the peer is admitted.
    var handshake: AdmissionGate.Handshake?
    var refusal: TransportError?
    unowned let loop: IOLoop

    init(loop: IOLoop, isDialler: Bool, remote: SocketAddress, expected: PeerId?) {
        self.loop = loop
        mailbox = loop.mailbox
        self.isDialler = isDialler
        self.expected = expected
        let limits = loop.limits
        sendBudget = SendBudget(limits: limits)
        // Small windows are full before anything else wakes the I/O thread, so there every byte counts at once.
        let threshold = limits.unadmitted == nil ? limits.creditThreshold : 1
        shared = Locked(Shared(remotePeerId: nil, remoteAddress: remote, creditThreshold: threshold))
        (pathEvents, pathQueue) = AsyncStream.makeStream(
            of: PathEvent.self,
            bufferingPolicy: .bufferingNewest(Self.pathEventLimit)
        )
    }

    var creditThreshold: Int { shared.withLock { $0.creditThreshold } }

    /// Whether the user can do anything with it.
    var isEnded: Bool { ended.value != nil }

    /// Accepts or refuses the key that the peer shows; called while the handshake runs.
    func accepts(key: [UInt8]) -> Bool {
        let publicKey: Ed25519PublicKey
        do {
            publicKey = try Ed25519PublicKey(rawRepresentation: key)
        } catch {
            refusal = .connectionFailed("the peer's key is no valid Ed25519 key")
            return false
        }
        let found = PeerId(publicKey: publicKey)
        if let expected, expected != found {
            refusal = .wrongPeer(expected: expected, found: found)
            return false
        }
        shared.withLock { $0.remotePeerId = found }
        return true
    }
}

extension QUICLimits {
    /// Bytes of one stream that are credited together.
    var creditThreshold: Int { max(streamWindow / 4, min(256 << 10, streamWindow / 2)) }
}

/// The three probe timeouts after a close, in which late packets are answered with the same words (RFC 9000, section
/// 10.2) or, when the peer closed, with silence.
struct ClosingPeriod {
    /// CONNECTION_CLOSE; empty while draining.
    let packet: [UInt8]
    let local: rq_addr
    let remote: rq_addr
    /// Packets that came since.
    var received = 0

    /// Whether the packet that just came is answered: the first, second, fourth, eighth and so on.
    mutating func mustAnswer() -> Bool {
        received += 1
        return !packet.isEmpty && received & (received - 1) == 0
    }
}
