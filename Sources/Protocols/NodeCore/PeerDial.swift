internal import Identity

/// The dials of a peer, and their failures in a row.
struct PeerDial: Sendable {
    /// The progress of the dials of a peer.
    enum State: Hashable, Sendable {
        /// Nothing under way. May become `dialling`, `queued` or `waiting`.
        case idle
        /// The transport dials. May become `idle` (connected, or the attempt was abandoned) or `waiting`.
        case dialling
        /// The limit of concurrent dials is reached. Becomes `idle` when one of them has ended.
        case queued
        /// Dials again at this time. May become `dialling`, `queued` or `idle`.
        case waiting(until: Duration)
    }

    /// The number of failures from which on more make no difference.
    static let mostFailures = 16

    /// ``KnownPeers`` counts the peers that are being dialled, and alone changes it.
    var state = State.idle
    /// The addresses of the last dial.
    private(set) var addresses: [SocketAddress] = []
    /// The number of dials under way, each to addresses that the others do not try.
    private(set) var underWay = 0
    /// Consecutive failures, which lengthen the pauses; ``mostFailures`` after a permanent refusal by either side.
    private(set) var failures = 0
    /// The time of the last failed dial, or of the end of a connection before it was stable.
    private(set) var lastFailure: Duration?
    /// The last failure of a dial, in words.
    var failureReason = "no address of it is known"
    /// Whether the last connection ended with a permanent refusal by either side.
    private(set) var isRefused = false
    /// The time before which the peer is not dialled, because it reported that this device's key is used in two places.
    private(set) var heldUntil: Duration?
    /// Such reports, which make the pauses longer.
    private var keyReports = 0

    /// Whether the peer is being dialled, or waits for its turn.
    var isPending: Bool { state == .dialling || state == .queued }

    mutating func begin(at addresses: [SocketAddress]) {
        self.addresses = addresses
        underWay += 1
    }

    mutating func beginFurther(at addresses: [SocketAddress]) {
        self.addresses += addresses
        underWay += 1
    }

    mutating func end() { underWay = max(0, underWay - 1) }

    // MARK: Failures

    mutating func noteFailure(at now: Duration) {
        lastFailure = now
        failures = min(failures + 1, Self.mostFailures)
    }

    /// Notes the end of the last connection.
    mutating func noteEnd(_ reason: CloseCode?, wasStable: Bool, at now: Duration) {
        isRefused = reason?.isFinal == true
        if reason == .surplus { return }
        if reason == .manuallyDisconnected {
            failures = 0
        } else if isRefused {
            failures = Self.mostFailures
        } else if wasStable {
            failures = 0
        } else {
            noteFailure(at: now)
        }
    }

    /// Notes that the peer reported that this device's key is used in two places.
    mutating func noteKeyReport(at now: Duration, _ limits: Limits, using random: inout some RandomNumberGenerator) {
        if let end = heldUntil, now - end >= limits.keyQuietTime { keyReports = 0 }
        keyReports += 1
        heldUntil = now + limits.keyPause(after: keyReports).jittered(using: &random)
    }

    /// Whether the pause after such a report lasts.
    func isHeld(at now: Duration) -> Bool { heldUntil.map { $0 > now } ?? false }

    /// Resets the next pause to the shortest one.
    mutating func forgetFailures() { failures = 0 }

    /// Forgets all failures, since they do not apply to the present network.
    mutating func startAfresh() {
        failures = 0
        lastFailure = nil
    }

    /// Forgets that one of the two refused the other.
    mutating func forgetRefusal() {
        failures = 0
        isRefused = false
    }
}

/// The reasons to dial a peer.
struct DialReasons: Sendable {
    /// Whether a lasting connection was requested.
    var isWanted = false
    /// Whether a connection is sought as long as there is room: the peer was announced nearby or is remembered.
    var isSought = false
    /// The time before which the peer is not sought: one of the two had no room for an idle connection.
    var notSoughtBefore = Duration.zero
    /// Whether this device wants to join a network through the peer.
    var isInviter = false
    /// Whether messages wait for its admission.
    var isAwaited = false

    /// Whether there is any.
    var isAny: Bool { isRequested || isSought }
    /// Whether a connection was requested, for which there is always room.
    var isRequested: Bool { isWanted || isInviter || isAwaited }
    /// Whether there is a reason that outlasts a failed dial.
    var isLasting: Bool { isWanted || isSought || isInviter }
}
