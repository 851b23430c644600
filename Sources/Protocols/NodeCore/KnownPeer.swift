internal import Identity

/// What this node knows of another.
struct KnownPeer: Sendable {
    /// Whether the peer is being reached for.
    enum Dialling: Hashable, Sendable {
        /// Nothing under way. May become `dialling`, `queued` or `waiting`.
        case idle
        /// The transport is at it. May become `idle` (connected, given up) or `waiting`.
        case dialling
        /// As many dials as may be are under way. Becomes `idle` when one of them has ended.
        case queued
        /// Dials again at this time. May become `dialling`, `queued` or `idle`.
        case waiting(until: Duration)
    }

    /// The order in which peers became known.
    let number: UInt64
    /// Networks of which there is evidence that the peer is a member.
    var networks: [NetworkId] = []
    var addresses: [SocketAddress] = []
    /// Whether somebody asked for a connection that lasts.
    var isWanted = false
    /// Whether a connection is to be had as long as there is room: the peer was heard nearby or is remembered.
    var isSought = false
    /// It is not sought before this time: one of the two had no room for an idle connection.
    var notSoughtBefore = Duration.zero
    /// Whether it stays known without a connection.
    var isRemembered = false
    /// Whether this device wants to join a network through the peer.
    var isInviter = false
    /// Whether frames wait for its admission.
    var isAwaited = false
    var dialling = Dialling.idle
    /// Whether others are asked to bring the two together.
    var isCalled = false
    /// When they are asked unless the dial under way succeeds before.
    var callAt: Duration?
    /// Why the last dial failed.
    var dialFailure = "no address of it is known"
    /// Where it was dialled the last time.
    var dialledAddresses: [SocketAddress] = []
    /// The number of dials under way, each to addresses that the others do not try.
    var dialsUnderWay = 0
    /// Failures in a row, which make the pauses longer; ``mostFailures`` when one of the two refused the other for good.
    var failures = 0
    /// When the last dial failed, or the last connection ended before it was stable.
    var lastFailure: Duration?
    /// Whether the last connection ended because one of the two refused the other for good.
    var isRefused = false
    /// That a person disconnected from it, until that is over.
    var parting: Parting?
    /// More make no difference.
    static let mostFailures = 16
    /// Connections to it, the newest last.
    var connections: [ConnectionId] = []
    /// Instances that a newer one replaced, the newest last.
    var pastInstances: [InstanceId] = []

    init(number: UInt64) {
        self.number = number
    }

    /// Whether there is a reason to dial.
    var isReachedFor: Bool { self.isWanted || self.isSought || self.isInviter || self.isAwaited }

    /// Whether nothing is lost when the peer is forgotten.
    var isDispensable: Bool {
        self.connections.isEmpty && self.dialling == .idle && !self.isCalled && !self.isReachedFor
            && self.parting == nil && (!self.isRemembered || (self.networks.isEmpty && self.addresses.isEmpty))
    }

    /// The addresses that became known since the last dial began.
    var untriedAddresses: [SocketAddress] { self.addresses.filter { !self.dialledAddresses.contains($0) } }

    /// Notes that a lasting connection was asked for, which ends a manual disconnect.
    mutating func want() {
        self.parting = nil
        self.isWanted = true
    }

    /// Notes that no connection is asked for any longer.
    mutating func unwant() {
        self.isWanted = false
        self.isSought = false
    }

    /// Adds evidence of a membership; false if it was known.
    @discardableResult
    mutating func note(_ network: NetworkId) -> Bool {
        guard !self.networks.contains(network) else { return false }
        self.networks.append(network)
        return true
    }

    /// Puts addresses before those already known.
    mutating func prefer(_ addresses: [SocketAddress], limit: Int) {
        guard addresses.count != 1 || self.addresses.first != addresses.first else { return }
        var all: [SocketAddress] = []
        for address in addresses + self.addresses where address.isDialable && !all.contains(address) {
            all.append(address)
        }
        self.addresses = Array(all.prefix(limit))
    }

    /// Whether a dial failed so recently that another one, to the same addresses, would hardly do better.
    func hasJustFailed(_ addresses: [SocketAddress], _ now: NodeTime, within pause: Duration) -> Bool {
        guard self.connections.isEmpty, let failure = self.lastFailure,
            addresses.allSatisfy({ self.addresses.contains($0) || !$0.isDialable })
        else { return false }
        return now.monotonic - failure < pause
    }

    mutating func noteFailure(at now: Duration) {
        self.lastFailure = now
        self.failures = min(self.failures + 1, Self.mostFailures)
    }

    /// Notes the end of the last connection, on which the time of the next dial depends.
    mutating func noteEnd(_ reason: CloseCode?, wasStable: Bool, at now: Duration, _ limits: Limits) {
        self.isRefused = reason?.isFinal == true
        if reason == .surplus {
            self.isSought = false
            self.notSoughtBefore = now + limits.surplusPause
        } else if reason == .parted {
            self.failures = 0
        } else if self.isRefused {
            self.failures = Self.mostFailures
        } else if wasStable {
            self.failures = 0
        } else {
            self.noteFailure(at: now)
        }
    }

    /// Forgets that one of the two refused the other.
    mutating func forgetRefusal() {
        self.failures = 0
        self.isRefused = false
    }

    /// The pause before the next dial, without jitter: it doubles with every failure.
    func retryPause(_ limits: Limits) -> Duration {
        let longest = self.isWanted || self.isInviter ? limits.longestRetry : limits.longestSearch
        return min(longest, limits.firstRetry * (1 << min(self.failures, Self.mostFailures)))
    }

    /// Remembers an instance that was replaced.
    mutating func notePast(_ instance: InstanceId) {
        self.pastInstances.removeAll { $0 == instance }
        self.pastInstances.append(instance)
        if self.pastInstances.count > 4 { self.pastInstances.removeFirst() }
    }
}
