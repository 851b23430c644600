internal import Bytes
internal import Concurrency
public import Identity

/// A network inside the process: endpoints with the guarantees of the QUIC transport, and links with configurable faults.
///
/// Frames arrive without delay unless a ``LinkModel`` adds one, measured by the network's clock, so that a test with a clock
/// of its own never sleeps. Random numbers are derived from the seed for each direction between two addresses separately:
/// traffic on one link does not change the faults of another.
///
/// Not modelled: bandwidth and congestion, the size of datagrams, the port numbers and mappings of NATs. Bytes of one
/// connection share one order, so a loss delays all its streams and not only one.
public final class InMemoryNetwork: Sendable {
    /// The bounds that hold for every endpoint.
    public let limits: InMemoryLimits

    let agenda: Agenda
    private let seed: UInt64
    private let state: Locked<State>

    private struct State {
        var defaultLink = LinkModel()
        var links: [Route: Link] = [:]
        var endpoints: [SocketAddress: Binding] = [:]
        var wires: [ObjectIdentifier: Wire] = [:]
        var secrets: SeededGenerator
        var lastPort: UInt16 = 40_000
    }

    /// One direction between two addresses.
    private struct Route: Hashable {
        let source: SocketAddress
        let target: SocketAddress
    }

    private struct Link {
        /// Nil follows the network's default.
        var model: LinkModel?
        /// Counts the cuts, so that an old timeout does not act on a new cut.
        var cutCount = 0
        var isCut = false
        var connectionChance: SeededGenerator
        var datagramChance: SeededGenerator
    }

    /// The owner of an address; reached only under the network's lock.
    private final class Binding: @unchecked Sendable {
        weak var endpoint: InMemoryEndpoint?
        /// Survives the endpoint, which leaves by this name.
        let identity: ObjectIdentifier

        init(_ endpoint: InMemoryEndpoint) {
            self.endpoint = endpoint
            identity = ObjectIdentifier(endpoint)
        }
    }

    /// Creates an empty network.
    ///
    /// - Parameters:
    ///   - seed: decides every loss, jitter, doubling and overtaking.
    ///   - clock: measures latencies and timeouts.
    ///   - limits: bounds what endpoints and connections hold.
    public init(seed: UInt64 = 0, clock: any Clock<Duration> = ContinuousClock(), limits: InMemoryLimits = .init()) {
        self.limits = limits
        self.seed = seed
        agenda = Agenda(timebase: Self.timebase(of: clock))
        state = Locked(State(secrets: SeededGenerator(seed: seed, name: "secrets")))
    }

    private static func timebase(of clock: some Clock<Duration>) -> Timebase { Timebase(clock) }

    /// The age of the network, by its clock.
    package var age: Duration { agenda.timebase.now }

    /// Returns when the network is `age` old, or throws when cancelled.
    package func sleep(untilAge age: Duration) async throws {
        try await agenda.timebase.sleep(until: age)
    }

    // MARK: Endpoints

    /// Makes an endpoint for `peerId`, at `address` or at a free one of the network.
    ///
    /// - Throws: ``TransportError/initializationFailed(_:)`` when the address is taken.
    public func makeEndpoint(
        peerId: PeerId,
        at address: SocketAddress? = nil
    ) throws(TransportError) -> InMemoryEndpoint {
        let chosen = address ?? freeAddress()
        let endpoint = InMemoryEndpoint(network: self, peerId: peerId, address: chosen)
        let isBound = state.withLock { state in
            guard state.endpoints[chosen] == nil else { return false }
            state.endpoints[chosen] = Binding(endpoint)
            return true
        }
        guard isBound else { throw .initializationFailed("the address \(chosen) is in use; choose another one") }
        return endpoint
    }

    private func freeAddress() -> SocketAddress {
        state.withLock { state in
            while true {
                state.lastPort = state.lastPort == .max ? 1024 : state.lastPort + 1
                let address = SocketAddress(.v4(0x7F00_0001), port: state.lastPort)
                if state.endpoints[address] == nil { return address }
            }
        }
    }

    func endpoint(at address: SocketAddress) -> InMemoryEndpoint? {
        state.withLock { $0.endpoints[address]?.endpoint }
    }

    func unbind(_ address: SocketAddress, from identity: ObjectIdentifier) {
        state.withLock { state in
            if state.endpoints[address]?.identity == identity { state.endpoints[address] = nil }
        }
    }

    // MARK: Connections

    func makeWire(from dialler: InMemoryEndpoint, to acceptor: InMemoryEndpoint) -> Wire {
        let secret = state.withLock { $0.secrets.bytes(32) }
        let wire = Wire(network: self, dialler: dialler, acceptor: acceptor, secret: secret)
        state.withLock { $0.wires[ObjectIdentifier(wire)] = wire }
        return wire
    }

    /// Removes a connection that has ended at both ends.
    func forget(_ wire: Wire) {
        let endpoints = state.withLock { state in
            state.wires[ObjectIdentifier(wire)] = nil
            return wire.addresses.compactMap { state.endpoints[$0]?.endpoint }
        }
        for endpoint in endpoints {
            endpoint.forget(wire)
        }
    }

    private func wires(between first: SocketAddress, and second: SocketAddress) -> [Wire] {
        let wires = state.withLock { Array($0.wires.values) }
        return wires.filter { $0.addresses == [first, second] || $0.addresses == [second, first] }
    }

    // MARK: Transmission

    /// Draws the delay of the next frame of a connection; nil while the link is cut.
    func connectionDelay(from source: SocketAddress, to target: SocketAddress) -> Duration? {
        withLink(from: source, to: target) { link, model in
            link.isCut ? nil : model.connectionDelay(using: &link.connectionChance)
        }
    }

    /// Performs `action` when a packet of a handshake arrives, or never if the link is cut.
    func travel(
        from source: SocketAddress,
        to target: SocketAddress,
        then action: @escaping @Sendable () -> Void
    ) {
        guard let delay = connectionDelay(from: source, to: target) else { return }
        perform(action, after: delay)
    }

    /// Sends a datagram that is not QUIC: it may get lost, be late or arrive twice.
    func sendDatagram(_ datagram: ForeignDatagram, to target: SocketAddress) {
        guard ForeignDatagram.isForeign(datagram.bytes) else { return }
        let delays = withLink(from: datagram.source, to: target) { link, model in
            link.isCut ? [] : model.datagramDelays(using: &link.datagramChance)
        }
        for delay in delays {
            perform({ [weak self] in self?.endpoint(at: target)?.receive(datagram) }, after: delay)
        }
    }

    private func perform(_ action: @escaping @Sendable () -> Void, after delay: Duration) {
        guard delay > .zero else { return action() }
        agenda.schedule(at: agenda.timebase.now + delay, action)
    }

    private func withLink<Outcome>(
        from source: SocketAddress,
        to target: SocketAddress,
        _ body: (inout Link, LinkModel) -> Outcome
    ) -> Outcome {
        state.withLock { state in
            let route = Route(source: source, target: target)
            let name = "\(source) \(target)"
            var link =
                state.links[route]
                ?? Link(
                    connectionChance: SeededGenerator(seed: seed, name: name),
                    datagramChance: SeededGenerator(seed: ~seed, name: name)
                )
            defer { state.links[route] = link }
            return body(&link, link.model ?? state.defaultLink)
        }
    }

    // MARK: Faults

    /// The behaviour of links without a model of their own.
    public var defaultLink: LinkModel {
        get { state.withLock { $0.defaultLink } }
        set { state.withLock { $0.defaultLink = newValue } }
    }

    /// Sets a model for the direction from `source` to `target`; nil restores the default.
    public func setLink(_ model: LinkModel?, from source: SocketAddress, to target: SocketAddress) {
        withLink(from: source, to: target) { link, _ in link.model = model }
    }

    /// Cuts the direction from `source` to `target`: datagrams are lost, connections wait and, if the link is not
    /// mended within the idle timeout, end with ``TransportError/timedOut``.
    public func cut(from source: SocketAddress, to target: SocketAddress) {
        let count = withLink(from: source, to: target) { link, _ in
            link.isCut = true
            link.cutCount += 1
            return link.cutCount
        }
        if let suspicionTime = limits.suspicionTime {
            agenda.schedule(at: agenda.timebase.now + suspicionTime) { [weak self] in
                self?.suspect(from: source, to: target, cutCount: count)
            }
        }
        agenda.schedule(at: agenda.timebase.now + limits.idleTimeout) { [weak self] in
            self?.giveUp(from: source, to: target, cutCount: count)
        }
    }

    /// Restores the direction from `source` to `target`, and first delivers the frames that connections held back.
    public func mend(from source: SocketAddress, to target: SocketAddress) {
        withLink(from: source, to: target) { link, _ in link.isCut = false }
        for wire in wires(between: source, and: target) {
            if wire.addresses == [source, target] { wire.release(to: .acceptor) }
            if wire.addresses == [target, source] { wire.release(to: .dialler) }
            if !withLink(from: target, to: source, { link, _ in link.isCut }) { wire.setSuspect(false) }
        }
    }

    /// Cuts both directions between two addresses.
    public func partition(_ first: SocketAddress, from second: SocketAddress) {
        cut(from: first, to: second)
        cut(from: second, to: first)
    }

    /// Mends both directions between two addresses.
    public func heal(_ first: SocketAddress, with second: SocketAddress) {
        mend(from: first, to: second)
        mend(from: second, to: first)
    }

    /// Ends every connection between two addresses at both ends, as if each had fallen silent for the other.
    public func breakConnections(between first: SocketAddress, and second: SocketAddress) {
        for wire in wires(between: first, and: second) {
            wire.fail(with: .timedOut)
        }
    }

    private func suspect(from source: SocketAddress, to target: SocketAddress, cutCount: Int) {
        let isStillCut = withLink(from: source, to: target) { link, _ in link.isCut && link.cutCount == cutCount }
        guard isStillCut else { return }
        for wire in wires(between: source, and: target) { wire.setSuspect(true) }
    }

    private func giveUp(from source: SocketAddress, to target: SocketAddress, cutCount: Int) {
        let isStillCut = withLink(from: source, to: target) { link, _ in link.isCut && link.cutCount == cutCount }
        if isStillCut { breakConnections(between: source, and: target) }
    }
}
