internal import CQUICShim
internal import Concurrency
internal import Identity
internal import Transport

/// One connection, between its users' handles and the I/O thread.
///
/// Locked members hold the shared state; the rest belongs to the I/O thread alone, hence `@unchecked Sendable`.
@safe
final class ConnectionCore: TimerHeapElement, @unchecked Sendable {
    /// The phase of a connection's life, for the I/O thread.
    enum Phase {
        /// Can become `open` or `closing`.
        case handshaking
        /// Can become `closing`.
        case open
        /// Only late packets are answered. Can become `gone`.
        case closing(ClosingPeriod)
        /// No packet is routed to it.
        case gone
    }

    /// The state of a connection's sending in a pass of the I/O thread.
    enum SendState {
        /// Nothing to send. Can become `due`.
        case none
        /// On the list of connections that may have something to send. Can become `deferrable` or `none`.
        case due
        /// On that list only because of one small packet. Can become `due` or `none`.
        case deferrable
    }

    let submissions: SubmissionQueue
    /// The peer that we dialled; nil for a connection that we accepted.
    let expected: PeerId?
    let sendBudget: SendBudget
    let output: ConnectionOutput

    // The I/O thread's.
    var raw: OpaquePointer?
    var phase = Phase.handshaking
    var reports = EngineReports()
    var timer = TimerEntry()
    var sendState = SendState.none
    var path: PathReporter
    /// The handshake of an accepted connection, until the peer is admitted.
    var handshake: AdmissionGate.Handshake?
    unowned let loop: IOLoop

    /// Creates a connection that we dial, if a peer is expected, or one that we accept.
    init(loop: IOLoop, remote: SocketAddress, expected: PeerId?) {
        self.loop = loop
        submissions = loop.submissions
        self.expected = expected
        let limits = loop.limits
        sendBudget = SendBudget(limits: limits)
        // Small windows are full before anything else wakes the I/O thread, so there every byte counts at once.
        let threshold = limits.unadmitted == nil ? limits.creditThreshold : 1
        let (pathEvents, path) = PathReporter.makeStream()
        self.path = path
        output = ConnectionOutput(
            shared: ConnectionOutput.Shared(remotePeerId: nil, remoteAddress: remote, creditThreshold: threshold),
            pathEvents: pathEvents
        )
    }

    var isDialler: Bool { expected != nil }

    var creditThreshold: Int { output.shared.withLock { $0.creditThreshold } }

    /// Whether the user can do anything with it.
    var isEnded: Bool { output.ended.value != nil }

    /// Accepts or refuses the key that the peer shows; called while the handshake runs.
    func accepts(key: [UInt8]) -> Bool {
        let publicKey: Ed25519PublicKey
        do {
            publicKey = try Ed25519PublicKey(rawRepresentation: key)
        } catch {
            reports.refuse(.connectionFailed("the peer's key is no valid Ed25519 key"))
            return false
        }
        let found = PeerId(publicKey: publicKey)
        if let expected, expected != found {
            reports.refuse(.wrongPeer(expected: expected, found: found))
            return false
        }
        output.shared.withLock { $0.remotePeerId = found }
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
    let local: ru_addr
    let remote: ru_addr
    /// The packets received since then.
    var received = 0

    /// Returns whether the received packet is answered: the first, second, fourth, eighth and so on.
    mutating func mustAnswer() -> Bool {
        received += 1
        return !packet.isEmpty && received & (received - 1) == 0
    }
}
