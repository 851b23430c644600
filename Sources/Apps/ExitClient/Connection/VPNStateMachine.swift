/// The connection sequence of document 003, without I/O: a gateway, a token, its redemption, a temporary configuration, the
/// tunnel, and the first handshake.
///
/// An operation of the driver has a number, and the outcome of an earlier one changes nothing. A gateway that refuses, or
/// that does not answer, is followed by the next one in the order of the directory. The configuration of a lease is kept
/// until the tunnel is removed, and renewed before the lease ends.
package struct VPNStateMachine<Gateway: Hashable & Sendable, Configuration: Sendable>: Sendable {
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
    /// The most gateways that one connection tries, each for one token.
    package static var gatewayLimit: Int { 3 }

    package private(set) var state = VPNState.disconnected
    private var location: String?
    private var gateways: [Gateway] = []
    /// The gateways that were tried since the person connected.
    private var triedCount = 0
    private var operation: Operation = 0
    private var isConfirmed = false
    private var hasTunnel = false
    /// The tunnel's deadlines: of the first handshake, of the proof that the gateway answers, and of the renewal.
    private var deadline: Duration?
    private var lastHandshake: Duration?
    private var renewal: Duration?
    private var leaseEnd: Duration?

    package init() {}

    /// Applies `input` at the monotonic time `now`.
    package mutating func handle(_ input: Input, at now: Duration) -> [Effect] {
        switch input {
        case .connect(let location): connect(to: location)
        case .confirm: confirm()
        case .disconnect: disconnect()
        case .found(let number, let found): isPending(number) ? use(found) : []
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
        case .connected, .reconnecting: [deadline, renewal, leaseEnd].compactMap { $0 }.min()
        case .connecting, .disconnected, .disconnecting, .failed: nil
        }
    }

    /// Whether a tunnel exists, so that a token that is taken renews its lease.
    package var isRenewing: Bool { hasTunnel }

    // MARK: Persons

    private mutating func connect(to location: String?) -> [Effect] {
        switch state {
        case .disconnected, .failed: break
        case .connecting, .connected, .reconnecting, .disconnecting: return []
        }
        self.location = location
        gateways = []
        triedCount = 0
        isConfirmed = false
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

    private mutating func use(_ found: [Gateway]) -> [Effect] {
        guard !found.isEmpty else { return end(in: .failed(.noGateway(location: location))) }
        gateways = found
        return takeToken()
    }

    private mutating func takeToken() -> [Effect] {
        deadline = nil
        return move(to: .connecting(.takingToken)) + [.takeToken(begin(), isConfirmed: isConfirmed)]
    }

    private mutating func wait(until time: Duration?) -> [Effect] {
        hasTunnel ? [] : move(to: .connecting(.waiting(until: time)))
    }

    private mutating func ask(at now: Duration) -> [Effect] {
        operation += 1
        return hasTunnel ? postponeRenewal(at: now) : move(to: .connecting(.confirming))
    }

    private mutating func redeem(_ token: [UInt8]) -> [Effect] {
        guard let gateway = gateways.first else { return end(in: .failed(.noGateway(location: location))) }
        let effects = hasTunnel ? [] : move(to: .connecting(.redeeming))
        return effects + [.redeem(begin(), token: token, gateway)]
    }

    private mutating func take(_ configuration: Configuration, lasts: Duration, at now: Duration) -> [Effect] {
        leaseEnd = now + lasts
        renewal = now + max(lasts - Self.renewalMargin, lasts / 2)
        let number = begin()
        if hasTunnel { return [.keep(configuration), .updateTunnel(number, configuration)] }
        hasTunnel = true
        return move(to: .connecting(.startingTunnel)) + [.keep(configuration), .startTunnel(number, configuration)]
    }

    private mutating func awaitHandshake(at now: Duration) -> [Effect] {
        operation += 1
        guard state == .connecting(.startingTunnel) else { return wake() }
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
        deadline = time + Self.handshakeLife
        return (state == .connected ? [] : move(to: .connected)) + wake()
    }

    // MARK: Failures and time

    private mutating func fail(_ failure: VPNFailure, at now: Duration) -> [Effect] {
        operation += 1
        switch state {
        case .connected, .reconnecting: return postponeRenewal(at: now)
        case .connecting(let step):
            guard step == .redeeming || step == .startingTunnel, failure.isOfGateway else {
                return end(in: .failed(failure))
            }
            return tryNext(after: failure)
        case .disconnected, .disconnecting, .failed: return []
        }
    }

    private mutating func tryNext(after failure: VPNFailure) -> [Effect] {
        triedCount += 1
        gateways.removeFirst()
        guard !gateways.isEmpty, triedCount < Self.gatewayLimit else { return end(in: .failed(failure)) }
        return removeTunnel() + takeToken()
    }

    private mutating func postponeRenewal(at now: Duration) -> [Effect] {
        renewal = now + Self.renewalPause
        return wake()
    }

    private mutating func timeReached(at now: Duration) -> [Effect] {
        switch state {
        case .connecting(.shakingHands):
            guard let deadline, deadline <= now else { return wake() }
            return tryNext(after: .silentGateway)
        case .connected, .reconnecting: return watch(at: now)
        case .connecting, .disconnected, .disconnecting, .failed: return []
        }
    }

    private mutating func watch(at now: Duration) -> [Effect] {
        if let leaseEnd, leaseEnd <= now { return end(in: .failed(.leaseEnded)) }
        var effects: [Effect] = []
        if state == .connected, let deadline, deadline <= now {
            self.deadline = nil
            effects += move(to: .reconnecting)
        }
        if let renewal, renewal <= now {
            self.renewal = nil
            // Not confirmed: a token of the renewal, too, is not used in the moment of its issuance.
            effects.append(.takeToken(begin(), isConfirmed: false))
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
        (deadline, lastHandshake, renewal, leaseEnd) = (nil, nil, nil, nil)
        guard hasTunnel else { return [] }
        hasTunnel = false
        return [.stopTunnel, .removeConfiguration]
    }

    private mutating func end(in new: VPNState) -> [Effect] {
        operation += 1
        let hadTunnel = hasTunnel
        let effects = hadTunnel ? move(to: .disconnecting) : []
        return effects + removeTunnel() + move(to: new)
    }
}

extension VPNStateMachine.Effect: Equatable where Configuration: Equatable {}
