internal import Concurrency
public import Identity

/// An endpoint of an ``InMemoryNetwork``, with the guarantees of the QUIC transport but without sockets.
///
/// Its peer id is the one that it was created with; no keys are involved. An endpoint without references lives as long as
/// its connections.
public final class InMemoryEndpoint: Endpoint {
    private struct State {
        var isClosed = false
        var wires: [ObjectIdentifier: (wire: Wire, side: WireSide)] = [:]
        var dials: [ObjectIdentifier: Dial] = [:]
    }

    /// The identity that this endpoint was made with.
    public let localPeerId: PeerId
    /// The address at which others reach this endpoint.
    public let address: SocketAddress
    /// The datagrams that others sent with ``sendForeignDatagram(_:to:)``.
    public let foreignDatagrams: AsyncStream<ForeignDatagram>

    private let network: InMemoryNetwork
    private let foreign: AsyncStream<ForeignDatagram>.Continuation
    private let backlog: BoundedChannel<Wire>
    private let state = Locked(State())

    init(network: InMemoryNetwork, peerId: PeerId, address: SocketAddress) {
        self.network = network
        localPeerId = peerId
        self.address = address
        backlog = BoundedChannel(limit: network.limits.acceptBacklog)
        (foreignDatagrams, foreign) = AsyncStream.makeStream(
            bufferingPolicy: .bufferingOldest(network.limits.foreignBacklog)
        )
    }

    deinit {
        closeNow(code: 0)
    }

    /// The one address of this endpoint.
    public var localAddresses: [SocketAddress] { [address] }

    /// Dials another endpoint of the network; see ``Endpoint/connect(to:expecting:)``.
    public func connect(to address: SocketAddress, expecting peer: PeerId) async throws -> any Connection {
        try Task.checkCancellation()
        let dial = Dial(network: network, dialler: self, address: address, expected: peer)
        try state.withLock { state in
            if state.isClosed { throw TransportError.endpointClosed }
            state.dials[ObjectIdentifier(dial)] = dial
        }
        defer { state.withLock { $0.dials[ObjectIdentifier(dial)] = nil } }
        return InMemoryConnection(wire: try await dial.run(), side: .dialler, endpoint: self)
    }

    /// Returns the next connection; see ``Endpoint/accept()``.
    public func accept() async throws -> (any Connection)? {
        try await backlog.next().map { InMemoryConnection(wire: $0, side: .acceptor, endpoint: self) }
    }

    /// Sends a datagram that is not QUIC; one that looks like QUIC is dropped, as over a socket.
    public func sendForeignDatagram(_ bytes: [UInt8], to address: SocketAddress) {
        guard !state.withLock({ $0.isClosed }) else { return }
        network.sendDatagram(ForeignDatagram(bytes: bytes, source: self.address), to: address)
    }

    /// Does nothing: paths inside a process do not change.
    public func networkChanged() {}

    /// Closes every connection with `code` and frees the address.
    public func close(code: UInt64) async {
        closeNow(code: code)
    }

    private func closeNow(code: UInt64) {
        let (wires, dials) = state.withLock { state in
            state.isClosed = true
            defer { (state.wires, state.dials) = ([:], [:]) }
            return (Array(state.wires.values), Array(state.dials.values))
        }
        network.unbind(address, from: ObjectIdentifier(self))
        for dial in dials {
            dial.fail(.endpointClosed)
        }
        for (wire, side) in wires {
            wire.close(.closed(code: code, reason: ""), at: side)
        }
        backlog.finish(discarding: true)
        foreign.finish()
    }

    // MARK: Events of the network

    /// Receives a datagram from the network; it is dropped if the reader's buffer is full.
    func receive(_ datagram: ForeignDatagram) {
        foreign.yield(datagram)
    }

    /// Takes a connection that this endpoint dialled, unless the endpoint is closed.
    func adopt(_ wire: Wire) -> Bool {
        register(wire, as: .dialler)
    }

    /// Takes a connection that another endpoint dialled, unless the endpoint is closed or has no room.
    func admit(_ wire: Wire) -> Bool {
        guard register(wire, as: .acceptor) else { return false }
        if backlog.offer(wire) { return true }
        forget(wire)
        return false
    }

    /// Removes a connection that has ended.
    func forget(_ wire: Wire) {
        state.withLock { $0.wires[ObjectIdentifier(wire)] = nil }
    }

    private func register(_ wire: Wire, as side: WireSide) -> Bool {
        state.withLock { state in
            guard !state.isClosed else { return false }
            state.wires[ObjectIdentifier(wire)] = (wire, side)
            return true
        }
    }
}
