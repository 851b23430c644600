internal import Identity

/// The state of another node: its addresses, the reasons to dial it, and the outcome of dials.
struct PeerState: Sendable {
    /// The most replaced instances: a key is rarely used in more places, and a forgotten instance counts as a restart.
    private static let replacedInstanceLimit = 4

    /// The order in which peers became known.
    let number: UInt64
    /// Networks of which there is evidence that the peer is a member.
    var networks: [NetworkId] = []
    private(set) var addresses: [SocketAddress] = []
    /// The failed dials in a row at addresses of this list.
    private var failedDials: [SocketAddress: Int] = [:]
    /// The address at which the peer answered last, or from which it dialled.
    private var lastAnswer: SocketAddress?
    /// Whether it stays known without a connection.
    var isRemembered = false
    var reasons = DialReasons()
    var dial = PeerDial()
    /// Whether a traversal to the peer is under way.
    var isTraversing = false
    /// The time at which the traversal starts unless the dial under way succeeds before.
    var traversalAt: Duration?
    /// The manual disconnect, until it ends.
    var manualDisconnect: ManualDisconnect?
    /// Connections to it, the newest last.
    var connections: [ConnectionId] = []
    /// The instances that another one replaced, the newest last; one that returns has a copy.
    var replacedInstances: [InstanceId] = []

    init(number: UInt64) {
        self.number = number
    }

    /// Whether there is a reason to dial.
    var isReachedFor: Bool { reasons.isAny }

    /// Whether nothing is lost when the peer is forgotten.
    var isDispensable: Bool {
        connections.isEmpty && dial.state == .idle && !isTraversing && !isReachedFor
            && manualDisconnect == nil && replacedInstances.isEmpty
            && (!isRemembered || (networks.isEmpty && addresses.isEmpty))
    }

    /// The addresses that became known since the last dial began.
    var untriedAddresses: [SocketAddress] { addresses.filter { !dial.addresses.contains($0) } }

    /// Notes that a lasting connection was requested, which ends a manual disconnect.
    mutating func want() {
        manualDisconnect = nil
        reasons.isWanted = true
    }

    /// Notes that a connection is no longer requested.
    mutating func unwant() {
        reasons.isWanted = false
        reasons.isSought = false
    }

    /// Adds evidence of a membership; false if it was known.
    @discardableResult
    mutating func note(_ network: NetworkId) -> Bool {
        guard !networks.contains(network) else { return false }
        networks.append(network)
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
        failedDials = failedDials.filter { self.addresses.contains($0.key) }
    }

    /// Puts an address behind those already known, of which the last one makes room.
    mutating func add(_ address: SocketAddress, limit: Int) {
        guard address.isDialable, !addresses.contains(address) else { return }
        addresses = Array(addresses.prefix(limit - 1)) + [address]
        failedDials = failedDials.filter { addresses.contains($0.key) }
    }

    /// Counts a failed dial, and forgets the address if it is stale; returns whether it is.
    mutating func noteFailedDial(at address: SocketAddress, _ limits: Limits) -> Bool {
        guard addresses.contains(address) else { return false }
        failedDials[address] = min(failedDials[address, default: 0] + 1, limits.failuresPerAddress)
        return removeStaleAddresses(limits).contains(address)
    }

    /// Notes where the peer is, and returns the addresses that are stale for that reason, which are forgotten.
    mutating func noteAnswer(at address: SocketAddress, _ limits: Limits) -> [SocketAddress] {
        lastAnswer = address
        failedDials[address] = nil
        return removeStaleAddresses(limits)
    }

    /// Forgets the addresses at which too many dials failed while the peer has another port at the same IP address.
    ///
    /// Addresses of other IP addresses are kept, because they may lead to the peer from another network. A forgotten
    /// address returns when it is announced again.
    private mutating func removeStaleAddresses(_ limits: Limits) -> [SocketAddress] {
        guard let answer = lastAnswer else { return [] }
        let stale = addresses.filter {
            $0 != answer && $0.ip == answer.ip && failedDials[$0, default: 0] >= limits.failuresPerAddress
        }
        addresses.removeAll { stale.contains($0) }
        for address in stale { failedDials[address] = nil }
        return stale
    }

    /// Whether a dial failed so recently that another one, to the same addresses, would hardly do better.
    func hasJustFailed(_ addresses: [SocketAddress], _ now: NodeTime, within pause: Duration) -> Bool {
        if dial.isHeld(at: now.monotonic) { return true }
        guard connections.isEmpty, let failure = dial.lastFailure,
            addresses.allSatisfy({ self.addresses.contains($0) || !$0.isDialable })
        else { return false }
        return now.monotonic - failure < pause
    }

    /// Notes the end of the last connection, on which the time of the next dial depends.
    mutating func noteEnd(_ reason: CloseCode?, wasStable: Bool, at now: Duration, _ limits: Limits) {
        if reason == .surplus {
            reasons.isSought = false
            reasons.notSoughtBefore = now + limits.surplusPause
        }
        dial.noteEnd(reason, wasStable: wasStable, at: now)
    }

    /// The pause before the next dial, without jitter: it doubles with every failure.
    func retryPause(_ limits: Limits) -> Duration {
        let longest = reasons.isWanted || reasons.isInviter ? limits.longestRetry : limits.longestSearch
        return min(longest, limits.firstRetry * (1 << dial.failures))
    }

    /// Remembers an instance that was replaced.
    mutating func noteReplaced(_ instance: InstanceId) {
        replacedInstances.removeAll { $0 == instance }
        replacedInstances.append(instance)
        if replacedInstances.count > Self.replacedInstanceLimit { replacedInstances.removeFirst() }
    }
}
