internal import Bytes
internal import Concurrency
internal import Identity
internal import Logging
package import NodeCore
internal import Services
internal import Transport

// Inputs go in, effects are carried out at once and in order, under the lock.
extension NodeDriver {
    /// Applies an input to the core.
    package func apply(_ input: Input) {
        self.state.withLock { self.apply(input, to: &$0) }
    }

    func apply(_ input: Input, to state: inout State) {
        var effects: [Effect] = []
        state.core.handle(input, at: self.configuration.clock.now(), into: &effects)
        if let metrics = self.configuration.metrics {
            let isDiscovering = state.localNetwork.discoveryLink != nil
            state.observations.measure(input, effects, in: state.core, isDiscovering: isDiscovering, with: metrics)
        }
        self.carryOut(effects, in: &state)
    }

    func carryOut(_ effects: [Effect], in state: inout State) {
        for effect in effects { self.carryOut(effect, in: &state) }
    }

    private func carryOut(_ effect: Effect, in state: inout State) {
        switch effect {
        case .connection(let effect): self.carryOut(effect, in: &state)
        case .peer(let effect): self.carryOut(effect, in: &state)
        case .membership(let effect): self.carryOut(effect, in: &state)
        case .join(let effect): self.carryOut(effect, in: &state)
        case .paths(let effect): self.carryOut(effect, in: &state)
        case .discovery(let effect): self.carryOut(effect, in: &state)
        case .table(let network, let effect): self.carryOut(effect, of: network, in: &state)
        case .events(let network, let effect): self.carryOut(effect, of: network)
        case .services(let network, .changed(let peer)): self.events.send(.servicesChanged(peer, network))
        case .wake(let time):
            state.wakeGeneration += 1
            self.jobs.add(.wake(at: time, generation: state.wakeGeneration))
        }
    }

    private func carryOut(_ effect: ConnectionEffect, in state: inout State) {
        switch effect {
        case .send(let id, let frame): self.send(frame, on: id, in: &state)
        case .close(let id, let code, let lingers): self.close(id, code, lingers: lingers, in: &state)
        case .admitted(let id): state.connections[id]?.connection.extendLimits()
        case .drain(let id): self.jobs.add(.drain(id))
        case .moveRequests(let id): self.moveRequests(from: id, in: &state)
        case .resetStreams(let id, let network, let code):
            state.connections.resetStreams(of: network, on: id, code: code)
        case .migrate(let id, let address, let port): state.connections[id]?.connection.migrate(to: address, from: port)
        case .openChannel(let channel, let relay):
            guard let connection = state.connections[relay]?.connection else { return }
            self.endpoint.openChannel(channel, over: connection)
        case .relay(let first, let second): self.relay(first, second, in: &state)
        }
    }

    private func carryOut(_ effect: PeerEffect, in state: inout State) {
        switch effect {
        case .dial(let peer, let addresses): self.jobs.add(.dial(peer, addresses))
        case .dialPath(let peer, let address, let port): self.jobs.add(.dialPath(peer, address, port: port))
        case .unreachable(let peer, let reason): state.pending.admissions.fail(peer, unreachable: reason)
        case .joined(let peer, let network):
            self.configuration.logs[.membership].info("peer \(peer.short) joined network \(network.short)")
            self.note(.admitted(network), of: peer, in: &state)
            self.events.send(.peerJoined(peer, network))
            state.pending.admissions.admit(peer, in: network)
        case .left(let peer, let network, let code):
            self.configuration.logs[.membership].info("peer \(peer.short) left network \(network.short)")
            self.events.send(.peerLeft(peer, network, reason: code?.explanation))
        case .refused(let peer, let network, let refusal): self.noteRefusal(refusal, of: peer, network, in: &state)
        case .refusedByPeer(let peer, let network, let code):
            self.configuration.logs[.membership].notice("peer \(peer.short) refused this node: \(code.explanation)")
            self.note(.refused(byPeer: true, reason: code.explanation), of: peer, in: &state)
            self.events.send(.refusedByPeer(peer, network, reason: code.explanation))
            state.pending.admissions.refuse(peer, in: network, .refusedByPeer(peer, code.explanation))
        case .persist(let peer, let network, let address): self.persistence.add(.peer(peer, network, address))
        case .discovered(let peer, let network, let addresses):
            self.events.send(.peerDiscovered(peer, network, addresses))
        case .lost(let peer, let network): self.events.send(.peerLost(peer, network))
        }
    }

    private func noteRefusal(_ refusal: Refusal, of peer: PeerId, _ network: NetworkId?, in state: inout State) {
        if let leftOut = state.observations.noteRefusal(at: self.configuration.clock.now().monotonic) {
            let others = leftOut > 0 ? " (\(leftOut) more since the last such line)" : ""
            self.configuration.logs[.membership].notice("refused peer \(peer.short): \(refusal)\(others)")
        }
        self.note(.refused(byPeer: false, reason: "\(refusal)"), of: peer, in: &state)
        self.events.send(.refused(peer, network, reason: "\(refusal)"))
        // Not final: the peer is dialled again, and its waiters time out on their own.
        guard refusal != .helloTimeout else { return }
        state.pending.admissions.refuse(peer, in: network, .refused(peer, "\(refusal)"))
    }

    private func carryOut(_ effect: MembershipEffect, in state: inout State) {
        switch effect {
        case .persistRevocations(let entries):
            self.persistence.add(.revocations(entries))
            for entry in entries { self.events.send(.revoked(entry.peerId, entry.networkId)) }
        case .persistSecrets(let secrets): self.persistence.add(.memberSecrets(secrets))
        case .tokenRenewed(let token):
            self.persistence.add(.tokenRenewed(token))
            self.configuration.logs[.membership].info("the token of network \(token.networkId.short) was renewed")
            self.events.send(.tokenRenewed(token.networkId, expirationSeconds: token.expirationSeconds))
        case .tokenExpiring(let network, let seconds):
            self.configuration.logs[.membership].warning("the token of network \(network.short) ends in \(seconds) s")
            self.events.send(.tokenExpiring(network, seconds: seconds))
        case .renewalRequested(let id, let peer, let network, let token):
            let request = RenewalRequest(peer: peer, network: network, token: token, connection: id)
            self.persistence.add(.renewalRequested(request))
        case .ended(let network, let code):
            if code == .revoked { self.persistence.add(.revokedHere(network)) }
            self.events.send(.membershipEnded(network, reason: code.explanation))
        case .deviceKeyUsedTwice(let peer):
            self.configuration.logs[.membership].warning("the key of peer \(peer.short) is used in two places")
            self.events.send(.deviceKeyUsedTwice(peer))
        case .clockBehind(let network, let seconds):
            self.configuration.logs[.membership].warning(
                "the clock is \(seconds) s behind what the owner of a network signed"
            )
            self.events.send(.clockBehind(network, seconds: seconds))
        }
    }

    private func send(_ frame: Frame, on id: ConnectionId, in state: inout State) {
        guard let entry = state.connections[id] else { return }
        if entry.outbox.offer(frame.prefixedBytes) { return self.noteBacklog(on: id, of: frame, in: &state) }
        // The peer reads nothing any more. The end of the connection tells the core.
        entry.connection.close(code: .tooLarge)
    }

    /// Closes a connection; if it lingers, the frames sent just before get a moment to arrive.
    ///
    /// Nothing is accepted on it meanwhile: the core has forgotten it. When the node stops, that moment is the same for
    /// all connections, and it is ``stop()`` that ends it.
    private func close(_ id: ConnectionId, _ code: CloseCode, lingers: Bool, in state: inout State) {
        guard let entry = self.forget(id, in: &state) else { return }
        entry.outbox.finish()
        // Without a control stream no frame can arrive.
        guard lingers || state.lifecycle.isStopped, entry.controlStreamEnded != nil else {
            return entry.connection.close(code: code)
        }
        state.connections.linger(entry, as: id, closingWith: code)
        // When the node stops, bytes that are on the way on other streams may still arrive.
        guard !state.lifecycle.isStopped else { return }
        for stream in entry.streams.values { stream.stream.reset(code: code.rawValue) }
        self.jobs.add(.linger(id))
    }

    /// Takes a connection out of the table; nil when it is there no more.
    func forget(_ id: ConnectionId, in state: inout State) -> ConnectionTable.Entry? {
        guard let entry = state.connections.remove(id) else { return nil }
        self.configuration.metrics?.p2p.recordDisconnection()
        return entry
    }

    /// Closes a connection whose last frames had time to arrive.
    func endLinger(of id: ConnectionId) {
        self.state.withLock { $0.connections.endLinger(of: id) }?.close()
    }
}

extension Refusal: CustomStringConvertible {
    package var description: String {
        switch self {
        case .noToken: "it showed no access token"
        case .token(let problem): "\(problem)"
        case .helloTimeout: "it said nothing within the time limit"
        case .protocolViolation(let what): "it broke the protocol: \(what)"
        case .invitation(let what): what
        case .tooManyPeers: "this node holds as many connections as it may"
        case .parted: "a person disconnected this node from it"
        }
    }
}
