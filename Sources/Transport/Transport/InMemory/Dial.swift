internal import Concurrency
internal import Identity

/// One attempt to connect: two round trips, of which the first identifies the acceptor.
final class Dial: Sendable {
    private struct State {
        /// The connection, which the acceptor has before the dialler.
        var wire: Wire?
        var timeout: Agenda.Entry?
    }

    private let network: InMemoryNetwork
    private let dialler: InMemoryEndpoint
    private let address: SocketAddress
    private let expected: PeerId
    private let state = Locked(State())
    private let outcome = Promise<Result<Wire, TransportError>>()

    init(network: InMemoryNetwork, dialler: InMemoryEndpoint, address: SocketAddress, expected: PeerId) {
        self.network = network
        self.dialler = dialler
        self.address = address
        self.expected = expected
    }

    /// Dials and returns the connection that both ends have.
    func run() async throws -> Wire {
        let deadline = network.agenda.timebase.now + network.limits.handshakeTimeout
        sendHello()
        if outcome.value == nil {
            let timeout = network.agenda.schedule(at: deadline) { [weak self] in
                self?.fail(.connectionFailed("no answer; check the address and the network"))
            }
            state.withLock { $0.timeout = timeout }
        }
        defer { state.withLock { $0.timeout }.map(network.agenda.cancel) }
        do {
            return try await outcome.wait().get()
        } catch {
            abandon()
            throw error
        }
    }

    /// Ends the attempt, unless it has succeeded.
    func fail(_ error: TransportError) {
        outcome.fulfil(.failure(error))
    }

    /// Ends a cancelled attempt, and closes the acceptor's connection.
    private func abandon() {
        outcome.fulfil(.failure(.connectionFailed("the dial was cancelled")))
        state.withLock { $0.wire }?.close(.closed(code: 0, reason: "the dial was cancelled"), at: .dialler)
    }

    // MARK: The handshake, one flight after the other

    private func sendHello() {
        network.travel(from: dialler.address, to: address) { [self] in
            let acceptor = network.endpoint(at: address)
            network.travel(from: address, to: dialler.address) { self.receiveProof(from: acceptor) }
        }
    }

    private func receiveProof(from acceptor: InMemoryEndpoint?) {
        guard let acceptor else { return fail(.connectionFailed("nothing listens at \(address)")) }
        guard acceptor.localPeerId == expected else {
            return fail(.wrongPeer(expected: expected, found: acceptor.localPeerId))
        }
        network.travel(from: dialler.address, to: address) { [self] in
            let wire = network.makeWire(from: dialler, to: acceptor)
            // In this order: an abandoned dial sets the outcome before it reads the wire.
            state.withLock { $0.wire = wire }
            guard outcome.value == nil else { return network.forget(wire) }
            let isAdmitted = acceptor.admit(wire)
            network.travel(from: address, to: dialler.address) { self.confirm(wire, isAdmitted: isAdmitted) }
        }
    }

    private func confirm(_ wire: Wire, isAdmitted: Bool) {
        guard isAdmitted else {
            network.forget(wire)
            return fail(.connectionFailed("refused: too many connections wait there already"))
        }
        if !dialler.adopt(wire) || !outcome.fulfil(.success(wire)) { abandon() }
    }
}
