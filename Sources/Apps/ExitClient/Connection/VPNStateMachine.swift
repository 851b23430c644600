/// The connection sequence of document 003, without I/O: a gateway, a token, its redemption, a temporary configuration, the
/// tunnel, and the first handshake.
///
/// An operation of the driver has a number, and the outcome of an earlier one changes nothing. A gateway that refuses, or
/// that does not answer, is followed by the next one in the order of the directory. The configuration of a lease is kept
/// until the tunnel is removed, and renewed before the lease ends. A renewal reads the directory first, as a connection
/// does, and stays at its gateway if the directory lists it. If that one no longer is listed, or refuses, the renewal is a
/// lease at another gateway, with a tunnel of its own; the former lease continues if that one completes no handshake.
package struct VPNStateMachine<
    Gateway: Identifiable & Sendable,
    Configuration: Sendable
>: Sendable where Gateway.ID: Sendable {
    /// The number of an operation of the driver.
    package typealias Operation = UInt64

    /// An event that the machine handles.
    package enum Input: Sendable {
        /// A person connects, to a location or to any.
        case connect(location: String?)
        /// A person confirms that a token may be used right after its issuance.
        case confirm
        /// A person disconnects.
        case disconnect
        /// The gateways that may be used, in the order of preference.
        case found(Operation, [Gateway])
        /// A token, which no longer is in the wallet.
        case token(Operation, [UInt8])
        /// A token follows when one is issued and old enough: at this monotonic time, if it is known.
        case waits(Operation, until: Duration?)
        /// The wallet has no token that is old enough, and a person must confirm the use of a new one.
        case needsConfirmation(Operation)
        /// The configuration of a lease, and the time for which the lease lasts.
        case redeemed(Operation, Configuration, lasts: Duration)
        /// The interface, its addresses and its routes exist.
        case started(Operation)
        /// The time of the last handshake with the gateway, or nil before the first.
        case handshake(at: Duration?)
        /// An operation failed.
        case failed(Operation, VPNFailure)
        case timeReached
    }

    /// An action for the driver, in order.
    package enum Effect: Sendable {
        case findGateways(Operation, location: String?)
        case takeToken(Operation, isConfirmed: Bool)
        case redeem(Operation, token: [UInt8], Gateway)
        /// Stores the configuration until it is removed.
        case keep(Configuration)
        case removeConfiguration
        case startTunnel(Operation, Configuration)
        /// Replaces the configuration of the tunnel that exists.
        case updateTunnel(Operation, Configuration)
        case stopTunnel
        case wake(at: Duration)
        case report(VPNState)
    }

    /// The time for the first handshake.
    package static var handshakeLimit: Duration { .seconds(15) }
    /// The age at which a handshake no longer proves that the gateway answers: REJECT_AFTER_TIME of WireGuard.
    package static var handshakeLife: Duration { .seconds(180) }
    /// The time before the end of a lease at which it is renewed.
    package static var renewalMargin: Duration { .seconds(300) }
    /// The pause before a renewal that failed is tried again.
    package static var renewalPause: Duration { .seconds(60) }
    /// The most gateways that one connection, or one move to another gateway, tries, each for one token.
    package static var gatewayLimit: Int { 3 }

    private static var noTokenReason: String { "no token in the wallet was old enough" }

    package private(set) var state = VPNState.disconnected
    private var location: String?
    private var gateways: [Gateway] = []
    /// The gateways that were tried since the person connected, or since the move to another one.
    private var triedCount = 0
    private var operation: Operation = 0
    private var isConfirmed = false
    /// Whether there was a handshake since the person connected.
    private var wasConnected = false
    private var lease: Lease?
    /// The lease at another gateway, until the tunnel of the present one has had a handshake.
    private var former: Lease?
    /// The tunnel's deadlines: of the first handshake, and of the proof that the gateway answers.
    private var deadline: Duration?
    private var lastHandshake: Duration?
    private var renewal = Renewal()

    package init() {}

    /// Applies `input` at the monotonic time `now`.
    package mutating func handle(_ input: Input, at now: Duration) -> [Effect] {
        switch input {
        case .connect(let location): connect(to: location)
        case .confirm: confirm()
        case .disconnect: disconnect()
        case .found(let number, let found): isPending(number) ? use(found, at: now) : []
        case .token(let number, let token): isPending(number) ? redeem(token) : []
        case .waits(let number, let time): isPending(number) ? wait(until: time) : []
        case .needsConfirmation(let number): isPending(number) ? ask(at: now) : []
        case .redeemed(let number, let configuration, let lasts):
            isPending(number) ? take(configuration, lasts: lasts, at: now) : []
        case .started(let number): isPending(number) ? awaitHandshake(at: now) : []
        case .handshake(let time): note(handshake: time, at: now)
        case .failed(let number, let failure): isPending(number) ? fail(failure, at: now) : []
        case .timeReached: timeReached(at: now)
        }
    }

    /// The monotonic time of the next ``Input/timeReached``; nil if only other inputs change the state.
    package var wakeTime: Duration? {
        switch state {
        case .connecting(.shakingHands): deadline
        case .connected, .reconnecting: [deadline, renewal.time, lease?.end].compactMap { $0 }.min()
        case .connecting, .disconnected, .disconnecting, .failed: nil
        }
    }

    /// Whether a token that is taken renews a connection, so that no person is asked, and the token is old enough.
    package var isRenewing: Bool { wasConnected || hasTunnel }

    private var hasTunnel: Bool { lease != nil }

    /// The reason for which the last attempt to renew the lease failed, or did without the directory.
    package var renewalFailure: VPNFailure? { renewal.attemptFailure ?? renewal.directoryFailure }

    // MARK: Persons

    private mutating func connect(to location: String?) -> [Effect] {
        switch state {
        case .disconnected, .failed: break
        case .connecting, .connected, .reconnecting, .disconnecting: return []
        }
        self.location = location
        gateways = []
        triedCount = 0
        (isConfirmed, wasConnected) = (false, false)
        // A process that died left the configuration of its lease.
        return [.removeConfiguration] + move(to: .connecting(.findingGateway))
            + [.findGateways(begin(), location: location)]
    }

    private mutating func confirm() -> [Effect] {
        switch state {
        case .connecting(.confirming), .connecting(.waiting):
            isConfirmed = true
            return takeToken()
        case .connecting, .disconnected, .connected, .reconnecting, .disconnecting, .failed: return []
        }
    }

    private mutating func disconnect() -> [Effect] {
        guard state != .disconnected else { return [] }
        return end(in: .disconnected)
    }

    // MARK: The sequence

    private mutating func use(_ found: [Gateway], at now: Duration) -> [Effect] {
        guard hasTunnel else {
            guard !found.isEmpty else { return end(in: .failed(.noGateway(location: location))) }
            gateways = found
            return takeToken()
        }
        renewal.directoryFailure = nil
        guard !found.isEmpty else { return postponeRenewal(after: .noGateway(location: location), at: now) }
        gateways = found
        return takeRenewalToken(at: now)
    }

    private mutating func takeToken() -> [Effect] {
        deadline = nil
        return move(to: .connecting(.takingToken)) + [.takeToken(begin(), isConfirmed: isConfirmed)]
    }

    /// Takes a token for the gateways in the order in which a renewal tries them: the present one first, and those that
    /// refused it last.
    private mutating func takeRenewalToken(at now: Duration) -> [Effect] {
        func rank(_ gateway: Gateway) -> Int {
            if renewal.refusing.contains(gateway.id) { return 2 }
            return gateway.id == lease?.gateway ? 0 : 1
        }
        let wanted = gateways.filter { !renewal.silent.contains($0.id) }
        guard !wanted.isEmpty else { return postponeRenewal(after: renewal.attemptFailure, at: now) }
        gateways = (0...2).flatMap { number in wanted.filter { rank($0) == number } }
        renewal.step = .taking
        // Not confirmed: a token of the renewal, too, is not used in the moment of its issuance.
        return [.takeToken(begin(), isConfirmed: false)]
    }

    private mutating func wait(until time: Duration?) -> [Effect] {
        hasTunnel ? [] : move(to: .connecting(.waiting(until: time)))
    }

    private mutating func ask(at now: Duration) -> [Effect] {
        operation += 1
        return hasTunnel ? postponeRenewal(after: renewal.attemptFailure, at: now) : move(to: .connecting(.confirming))
    }

    private mutating func redeem(_ token: [UInt8]) -> [Effect] {
        guard let gateway = gateways.first else { return end(in: .failed(.noGateway(location: location))) }
        if hasTunnel { renewal.step = .redeeming }
        let effects = hasTunnel ? [] : move(to: .connecting(.redeeming))
        return effects + [.redeem(begin(), token: token, gateway)]
    }

    private mutating func take(_ configuration: Configuration, lasts: Duration, at now: Duration) -> [Effect] {
        guard let gateway = gateways.first?.id else { return end(in: .failed(.noGateway(location: location))) }
        let taken = Lease(gateway: gateway, configuration: configuration, end: now + lasts)
        let present = lease
        lease = taken
        renewal.time = now + max(lasts - Self.renewalMargin, lasts / 2)
        guard present?.gateway == gateway else {
            (former, triedCount) = (present, present == nil ? triedCount : 0)
            return startTunnel(of: taken)
        }
        (renewal.refusing, renewal.silent, renewal.attemptFailure) = ([], [], nil)
        renewal.step = .updating
        return [.keep(configuration), .updateTunnel(begin(), configuration)]
    }

    private mutating func startTunnel(of lease: Lease) -> [Effect] {
        (renewal.step, deadline) = (nil, nil)
        let number = begin()
        return move(to: .connecting(.startingTunnel))
            + [.keep(lease.configuration), .startTunnel(number, lease.configuration)]
    }

    /// Makes the tunnel of the former lease again after a move to another gateway has failed; nil if there is none.
    private mutating func goBack(after failure: VPNFailure, at now: Duration) -> [Effect]? {
        guard let former, former.end > now, let gateway = lease?.gateway else { return nil }
        renewal.silent.insert(gateway)
        (lease, self.former) = (former, nil)
        renewal.attemptFailure = failure
        renewal.time = now + Self.renewalPause
        return startTunnel(of: former)
    }

    private mutating func awaitHandshake(at now: Duration) -> [Effect] {
        operation += 1
        guard state == .connecting(.startingTunnel) else {
            renewal.step = nil
            return wake()
        }
        deadline = now + Self.handshakeLimit
        lastHandshake = nil
        return move(to: .connecting(.shakingHands)) + wake()
    }

    private mutating func note(handshake time: Duration?, at now: Duration) -> [Effect] {
        guard hasTunnel, let time, now - time < Self.handshakeLife else { return [] }
        switch state {
        case .connecting(.shakingHands), .connected, .reconnecting: break
        case .connecting, .disconnected, .disconnecting, .failed: return []
        }
        guard lastHandshake.map({ $0 < time }) ?? true else { return [] }
        lastHandshake = time
        (wasConnected, isConfirmed) = (true, false)
        if former != nil {
            former = nil
            (renewal.refusing, renewal.silent, renewal.attemptFailure) = ([], [], nil)
        }
        deadline = time + Self.handshakeLife
        return (state == .connected ? [] : move(to: .connected)) + wake()
    }

    // MARK: Failures and time

    private mutating func fail(_ failure: VPNFailure, at now: Duration) -> [Effect] {
        operation += 1
        switch state {
        case .connected, .reconnecting: return failRenewal(failure, at: now)
        case .connecting(let step):
            guard step == .redeeming || step == .startingTunnel, failure.isOfGateway else {
                return goBack(after: failure, at: now) ?? end(in: .failed(failure))
            }
            return goBack(after: failure, at: now) ?? tryNext(after: failure)
        case .disconnected, .disconnecting, .failed: return []
        }
    }

    private mutating func tryNext(after failure: VPNFailure) -> [Effect] {
        triedCount += 1
        gateways.removeFirst()
        guard !gateways.isEmpty, triedCount < Self.gatewayLimit else { return end(in: .failed(failure)) }
        return removeTunnel() + takeToken()
    }

    private mutating func failRenewal(_ failure: VPNFailure, at now: Duration) -> [Effect] {
        switch renewal.step {
        case .finding:
            // The gateways and the keys that were verified before stay in use.
            renewal.directoryFailure = failure
            return takeRenewalToken(at: now)
        case .redeeming:
            if let gateway = gateways.first, isRefusal(failure) { renewal.refusing.insert(gateway.id) }
            return postponeRenewal(after: failure, at: now)
        case .taking, nil: return postponeRenewal(after: failure, at: now)
        // Nothing remains of the tunnel.
        case .updating: return end(in: .failed(failure))
        }
    }

    /// Whether the next attempt prefers another gateway: after a refusal, or two requests without an answer.
    private func isRefusal(_ failure: VPNFailure) -> Bool {
        guard failure.isOfGateway else { return false }
        guard case .gatewayUnreachable = failure else { return true }
        guard case .gatewayUnreachable = renewal.attemptFailure else { return false }
        return true
    }

    private mutating func postponeRenewal(after failure: VPNFailure?, at now: Duration) -> [Effect] {
        renewal.attemptFailure = failure
        renewal.step = nil
        renewal.time = now + Self.renewalPause
        return wake()
    }

    private mutating func timeReached(at now: Duration) -> [Effect] {
        switch state {
        case .connecting(.shakingHands):
            guard let deadline, deadline <= now else { return wake() }
            return goBack(after: .silentGateway, at: now) ?? tryNext(after: .silentGateway)
        case .connected, .reconnecting: return watch(at: now)
        case .connecting, .disconnected, .disconnecting, .failed: return []
        }
    }

    private mutating func watch(at now: Duration) -> [Effect] {
        if let lease, lease.end <= now {
            let reason = renewalFailure.map { "\($0)" } ?? (renewal.step == .taking ? Self.noTokenReason : nil)
            return end(in: .failed(.leaseEnded(reason: reason)))
        }
        var effects: [Effect] = []
        if state == .connected, let deadline, deadline <= now {
            self.deadline = nil
            effects += move(to: .reconnecting)
        }
        if let time = renewal.time, time <= now {
            (renewal.time, renewal.step) = (nil, .finding)
            effects.append(.findGateways(begin(), location: location))
        }
        return effects + wake()
    }

    // MARK: Parts

    private mutating func begin() -> Operation {
        operation += 1
        return operation
    }

    private func isPending(_ number: Operation) -> Bool { number == operation }

    private mutating func move(to new: VPNState) -> [Effect] {
        state = new
        return [.report(new)]
    }

    private func wake() -> [Effect] { wakeTime.map { [.wake(at: $0)] } ?? [] }

    private mutating func removeTunnel() -> [Effect] {
        let hadTunnel = hasTunnel
        (deadline, lastHandshake, renewal, lease, former) = (nil, nil, Renewal(), nil, nil)
        guard hadTunnel else { return [] }
        return [.stopTunnel, .removeConfiguration]
    }

    private mutating func end(in new: VPNState) -> [Effect] {
        operation += 1
        let hadTunnel = hasTunnel
        let effects = hadTunnel ? move(to: .disconnecting) : []
        return effects + removeTunnel() + move(to: new)
    }
}

extension VPNStateMachine.Effect: Equatable where Gateway: Equatable, Configuration: Equatable {}
