internal import Concurrency
package import Identity
internal import Logging
internal import NodeCore
internal import Transport
package import Traversal

// Where packets go: through relays, from further ports, to other addresses.
extension NodeDriver {
    /// Dials one address, which others brought this node to.
    func dial(_ peer: PeerId, at address: SocketAddress, from port: UInt16?) async {
        do {
            let connection = try await self.endpoint.connect(to: address, expecting: peer, from: port)
            self.note(.reached(address), of: peer)
            if self.register(connection) { return }
        } catch {
            self.note(.notReached(address, reason: "\(error)"), of: peer)
            self.configuration.logs[.connections].debug("peer \(peer.short) does not answer at \(address): \(error)")
        }
        self.configuration.metrics?.p2p.recordConnection(success: false)
        self.apply(.paths(.dialFailed(peer)))
    }

    /// Tells the core what happens to a connection's path, until it ends.
    func followPath(of id: ConnectionId, _ connection: any Connection) async {
        for await event in connection.pathEvents {
            switch event {
            case .moved(let address):
                self.apply(.connection(.pathChanged(id, address)))
                if let path = self.path(to: connection.remotePeerId) {
                    self.events.send(.pathChanged(connection.remotePeerId, path))
                }
            case .refused(let address): self.apply(.connection(.pathRefused(id, address)))
            case .suspect: self.apply(.connection(.pathSuspected(id)))
            case .answered: self.apply(.connection(.pathAnswered(id)))
            }
        }
    }

    func carryOut(_ effect: Reach.HostEffect, in state: inout State) {
        switch effect {
        case .sendDatagram(let bytes, let address, let port):
            self.endpoint.sendForeignDatagram(bytes, to: address, from: port)
        case .openPorts(let count): self.jobs.add(.openPorts(count))
        case .closePorts(let ports): self.endpoint.closePorts(ports)
        case .stopRelaying(let channel): self.endpoint.stopRelaying(channel)
        case .closeChannel(let channel): self.endpoint.closeChannel(channel)
        case .filteringFound(let behaviour):
            state.pending.endFilteringTest(behaviour)
        case .record(let peer, let event):
            self.configuration.logs[.connections].debug("on the way to peer \(peer.short): \(event)")
            self.note(.traversal(event), of: peer, in: &state)
        }
    }

    /// Forwards between two channels, each of a connection of its own.
    func relay(_ first: RelaySide, _ second: RelaySide, in state: inout State) {
        guard let one = state.connections[first.connection]?.connection,
            let other = state.connections[second.connection]?.connection
        else { return }
        self.endpoint.relay(
            RelayEnd(channel: first.channel, connection: one),
            RelayEnd(channel: second.channel, connection: other),
            bytesPerSecond: self.configuration.relayBytesPerSecond
        )
    }

    /// Remembers what happened on the way to a peer.
    func note(_ event: PathHistory.Event, of peer: PeerId, in state: inout State) {
        state.observations.note(event, of: peer, at: self.configuration.clock.now())
    }

    /// The same for whoever does not hold the lock.
    func note(_ event: PathHistory.Event, of peer: PeerId) {
        self.state.withLock { self.note(event, of: peer, in: &$0) }
    }

    /// How this device's NAT chooses ports, whether that is more than a guess, and where peers see this device.
    package var natObservations: (mapping: MappingBehaviour, isProven: Bool, addresses: [SocketAddress]) {
        self.state.withLock { state in
            let mapping = state.core.natMapping
            return (mapping.behaviour, mapping.isProven, state.core.observedAddresses)
        }
    }

    /// Finds out whom this device's NAT lets in, by a second member; it takes two seconds at most.
    package func askFiltering() async -> FilteringBehaviour {
        let answer = self.state.withLock { state -> Promise<FilteringBehaviour>? in
            guard !state.lifecycle.isStopped else { return nil }
            let answer = state.pending.addFilteringTest()
            self.apply(.paths(.filteringAsked), to: &state)
            return answer
        }
        return await answer?.waitIgnoringCancellation() ?? .unknown(.noAnswer)
    }

    /// What was tried lately to reach a peer, the newest last.
    package func pathHistory(of peer: PeerId) -> [PathHistory.Entry] {
        self.state.withLock { $0.observations.paths[peer] }
    }

    /// Whether a peer was admitted in `network` at `start` or later, by the monotonic clock; it may be gone again.
    package func wasAdmitted(_ peer: PeerId, in network: NetworkId, since start: Duration) -> Bool {
        self.pathHistory(of: peer).contains { $0.time.monotonic >= start && $0.event == .admitted(network) }
    }

    /// How long packets to a peer and their answers take; nil when it is not connected, or before it was measured.
    package func roundTrip(to peer: PeerId) -> Duration? {
        self.state.withLock { state in
            state.core.route(to: peer).flatMap { state.connections[$0.connection]?.connection.roundTrip }
        }
    }

    /// How a peer's packets travel at the moment; nil when it is not connected.
    package func path(to peer: PeerId) -> PeerPath? {
        self.state.withLock { state in
            guard let route = state.core.route(to: peer),
                let address = state.connections[route.connection]?.connection.remoteAddress
            else { return nil }
            guard ChannelId(address: address) != nil else { return .direct(address) }
            return .relayed(over: state.core.relay(at: address))
        }
    }
}
