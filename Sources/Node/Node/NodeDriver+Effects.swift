internal import Bytes
internal import Concurrency
internal import Discovery
internal import Identity
internal import Kademlia
internal import Logging
internal import Mailbox
package import NodeCore
internal import PubSub
internal import Services
internal import Transport
internal import Traversal

// Inputs are applied to the core, and its effects are performed at once and in order, under the lock.
extension NodeDriver {
    /// Applies an input to the core.
    package func apply(_ input: Input) {
        state.withLock { apply(input, to: &$0) }
    }

    func apply(_ input: Input, to state: inout State) {
        var effects: [Effect] = []
        state.core.handle(input, at: configuration.clock.now(), into: &effects)
        if let metrics = configuration.metrics {
            let isDiscovering = state.localNetwork.discoveryLink != nil
            state.observations.measure(input, effects, in: state.core, isDiscovering: isDiscovering, with: metrics)
        }
        perform(effects, in: &state)
    }

    func perform(_ effects: [Effect], in state: inout State) {
        for effect in effects { perform(effect, in: &state) }
    }

    private func perform(_ effect: Effect, in state: inout State) {
        switch effect {
        case .connection(let effect): perform(effect, in: &state)
        case .peer(let effect): perform(effect, in: &state)
        case .membership(let effect): perform(effect, in: &state)
        case .join(let effect): perform(effect, in: &state)
        case .paths(let effect): perform(effect, in: &state)
        case .discovery(let effect): perform(effect, in: &state)
        case .table(let network, let effect): perform(effect, of: network, in: &state)
        case .events(let network, let effect): perform(effect, of: network)
        case .mailbox(let network, let effect): persistence.add(.mail(network, effect))
        case .keys(let peer, let effect): state.keyExchangeHost?.perform(effect, of: peer)
        case .services(let network, .changed(let peer)): events.send(.servicesChanged(peer, network))
        case .wake(let time):
            state.wakeGeneration += 1
            jobs.add(.wake(at: time, generation: state.wakeGeneration))
        }
    }

    // MARK: Connections

    private func perform(_ effect: ConnectionEffect, in state: inout State) {
        switch effect {
        case .send(let id, let frame): send(frame, on: id, in: &state)
        case .close(let id, let code, let lingers): close(id, code, lingers: lingers, in: &state)
        case .admitted(let id): state.connections[id]?.connection.extendLimits()
        case .drain(let id): jobs.add(.drain(id))
        case .moveRequests(let id): moveRequests(from: id, in: &state)
        case .resetStreams(let id, let network, let code):
            state.connections.resetStreams(of: network, on: id, code: code)
        case .migrate(let id, let address, let port): state.connections[id]?.connection.migrate(to: address, from: port)
        case .openChannel(let channel, let relay):
            guard let connection = state.connections[relay]?.connection else { return }
            endpoint.openChannel(channel, over: connection)
        case .relay(let first, let second): relay(first, second, in: &state)
        }
    }

    private func send(_ frame: Frame, on id: ConnectionId, in state: inout State) {
        guard let entry = state.connections[id] else { return }
        if entry.sendQueue.offer(frame.prefixedBytes) { return noteBacklog(on: id, of: frame, in: &state) }
        // The peer no longer reads. The core is notified when the connection ends.
        entry.connection.close(code: .tooLarge)
    }

    /// Closes a connection; one that lingers is closed a little later, so that the last frames arrive.
    ///
    /// The core has forgotten a connection that lingers, so its frames are ignored. When the node stops, ``stop()`` ends
    /// all lingers together.
    private func close(_ id: ConnectionId, _ code: CloseCode, lingers: Bool, in state: inout State) {
        guard let entry = forget(id, in: &state) else { return }
        entry.sendQueue.finish()
        // Without a control stream no frame can arrive.
        guard lingers || state.lifecycle.isStopped, entry.controlStreamEnded != nil else {
            return entry.connection.close(code: code)
        }
        state.connections.linger(entry, as: id, closingWith: code)
        // When the node stops, bytes that are on the way on other streams may still arrive.
        guard !state.lifecycle.isStopped else { return }
        for stream in entry.streams.values { stream.stream.reset(code: code.rawValue) }
        jobs.add(.linger(id))
    }

    /// Forwards between two channels of different connections.
    private func relay(_ first: RelaySide, _ second: RelaySide, in state: inout State) {
        guard let one = state.connections[first.connection]?.connection,
            let other = state.connections[second.connection]?.connection
        else { return }
        endpoint.relay(
            RelayEnd(channel: first.channel, connection: one),
            RelayEnd(channel: second.channel, connection: other),
            bytesPerSecond: configuration.limits.relayBytesPerSecond
        )
    }

    // MARK: Peers

    private func perform(_ effect: PeerEffect, in state: inout State) {
        switch effect {
        case .dial(let peer, let addresses): jobs.add(.dial(peer, addresses))
        case .dialPath(let peer, let address, let port): jobs.add(.dialPath(peer, address, port: port))
        case .unreachable(let peer, let reason): state.pending.admissions.fail(peer, unreachable: reason)
        case .banned(let peer): state.pending.admissions.refuse(peer, in: nil, .banned(peer))
        case .joined(let peer, let network):
            configuration.logs[.membership].info("peer \(peer.short) joined network \(network.short)")
            note(.admitted(network), of: peer, in: &state)
            events.send(.peerJoined(peer, network))
            state.pending.admissions.admit(peer, in: network)
        case .left(let peer, let network, let code):
            configuration.logs[.membership].info("peer \(peer.short) left network \(network.short)")
            events.send(.peerLeft(peer, network, reason: code?.explanation))
        case .refused(let peer, let network, let refusal): noteRefusal(refusal, of: peer, network, in: &state)
        case .refusedByPeer(let peer, let network, let code):
            configuration.logs[.membership].notice("peer \(peer.short) refused this node: \(code.explanation)")
            note(.refused(byPeer: true, reason: code.explanation), of: peer, in: &state)
            events.send(.refusedByPeer(peer, network, reason: code.explanation))
            state.pending.admissions.refuse(peer, in: network, .refusedByPeer(peer, code.explanation))
        case .persist(let peer, let network, let address): persistence.add(.peer(peer, network, address))
        case .persistFailure(let peer, let address, let isStale):
            persistence.add(.addressFailed(peer, address, isStale: isStale))
        case .persistSeen(let peers): persistence.add(.peersSeen(peers))
        case .discovered(let peer, let network, let addresses):
            events.send(.peerDiscovered(peer, network, addresses))
        case .lost(let peer, let network): events.send(.peerLost(peer, network))
        }
    }

    private func noteRefusal(_ refusal: Refusal, of peer: PeerId, _ network: NetworkId?, in state: inout State) {
        if let leftOut = state.observations.noteRefusal(at: now) {
            let others = leftOut > 0 ? " (\(leftOut) more since the last such line)" : ""
            configuration.logs[.membership].notice("refused peer \(peer.short): \(refusal)\(others)")
        }
        note(.refused(byPeer: false, reason: "\(refusal)"), of: peer, in: &state)
        events.send(.refused(peer, network, reason: "\(refusal)"))
        // Not final: the peer is dialled again, and the waits for it time out on their own.
        guard refusal != .helloTimeout, refusal != .deviceKeyUsedTwice else { return }
        state.pending.admissions.refuse(peer, in: network, .refused(peer, "\(refusal)"))
    }

    // MARK: Memberships

    private func perform(_ effect: MembershipEffect, in state: inout State) {
        switch effect {
        case .persistRevocations(let entries):
            persistence.add(.revocations(entries))
            for entry in entries { events.send(.revoked(entry.peerId, entry.networkId)) }
        case .persistSecrets(let secrets): persistence.add(.memberSecrets(secrets))
        case .tokenRenewed(let token):
            persistence.add(.tokenRenewed(token))
            configuration.logs[.membership].info("the token of network \(token.networkId.short) was renewed")
            events.send(.tokenRenewed(token.networkId, expirationSeconds: token.expirationSeconds))
        case .tokenExpiring(let network, let seconds):
            configuration.logs[.membership].warning("the token of network \(network.short) ends in \(seconds) s")
            events.send(.tokenExpiring(network, seconds: seconds))
        case .renewalRequested(let id, let peer, let network, let token):
            let request = RenewalRequest(peer: peer, network: network, token: token, connection: id)
            persistence.add(.renewalRequested(request))
        case .ended(let network, let code):
            if code == .revoked { persistence.add(.revokedHere(network)) }
            events.send(.membershipEnded(network, reason: code.explanation))
        case .deviceKeyUsedTwice(let peer):
            configuration.logs[.membership].warning("the key of peer \(peer.short) is used in two places")
            events.send(.deviceKeyUsedTwice(peer))
        case .clockBehind(let network, let seconds):
            configuration.logs[.membership].warning(
                "the clock is \(seconds) s behind what the owner of a network signed"
            )
            events.send(.clockBehind(network, seconds: seconds))
        }
    }

    // MARK: Joins

    private func perform(_ effect: JoinEffect, in state: inout State) {
        switch effect {
        case .requested(let id, let question):
            let request = JoinRequest(
                invitation: question.invitation,
                peer: question.peer,
                network: question.network,
                digits: question.digits,
                isPreallowed: question.isPreallowed,
                connection: id.number
            )
            events.send(.joinRequested(request))
            if question.isPreallowed { persistence.add(.joinAllowed(request)) }
        case .requestEnded(_, let peer, let network, let failure):
            events.send(.joinRequestEnded(peer, network, reason: failure))
        case .invitationEnded(let invitation, let network, let failure):
            events.send(.invitationEnded(invitation, network, reason: failure))
        case .pending(let inviter, let network, let digits):
            state.pending.noteJoinPending(through: inviter, digits: digits)
            events.send(.joinPending(inviter, network, digits: digits))
        case .granted(let inviter, let grant):
            persistence.add(.joinGranted(grant, inviter: inviter))
        case .failed(let inviter, let network, let failure):
            configuration.logs[.membership].info("the join through \(inviter.short) failed: \(failure)")
            events.send(.joinFailed(inviter, network, reason: failure))
            state.pending.endJoin(through: inviter, .failure(failure))
        }
    }

    // MARK: Paths

    private func perform(_ effect: Reach.HostEffect, in state: inout State) {
        switch effect {
        case .sendDatagram(let bytes, let address, let port):
            endpoint.sendForeignDatagram(bytes, to: address, from: port)
        case .openPorts(let count): jobs.add(.openPorts(count))
        case .closePorts(let ports): endpoint.closePorts(ports)
        case .stopRelaying(let channel): endpoint.stopRelaying(channel)
        case .closeChannel(let channel): endpoint.closeChannel(channel)
        case .filteringFound(let behaviour): state.pending.endFilteringTest(behaviour)
        case .record(let peer, let event):
            configuration.logs[.connections].debug("connecting to peer \(peer.short): \(event)")
            note(.traversal(event), of: peer, in: &state)
        }
    }

    /// Records an attempt to reach a peer.
    func note(_ event: PathHistory.Event, of peer: PeerId, in state: inout State) {
        state.observations.note(event, of: peer, at: configuration.clock.now())
    }

    /// Records an attempt to reach a peer, without the lock.
    func note(_ event: PathHistory.Event, of peer: PeerId) {
        state.withLock { note(event, of: peer, in: &$0) }
    }

    // MARK: Discovery, hash tables and events

    private func perform(_ effect: Discovery.HostEffect, in state: inout State) {
        switch effect {
        case .multicast(let bytes): state.localNetwork.discoveryLink?.send(bytes)
        case .ignored(let reason, let source, let count):
            configuration.logs[.discovery].debug("\(count) datagrams from \(source) ignored: \(reason)")
        }
    }

    private func perform(_ effect: Kademlia.HostEffect, of network: NetworkId, in state: inout State) {
        switch effect {
        case .finished(let id, let outcome, let effort):
            state.pending.endTableRequest(id, TableAnswer(outcome: outcome, effort: effort))
        case .persist(let record): persistence.add(.record(network, record))
        case .forget(let id): persistence.add(.recordForgotten(network, id))
        }
    }

    private func perform(_ effect: PubSub.HostEffect, of network: NetworkId) {
        switch effect {
        case .deliver(let batch, let publishedAt, _):
            eventSink?.receive(batch, in: network, publishedAt: publishedAt)
        case .missed(_, let count): eventSink?.noteMissed(count, in: network)
        case .isolated(let isIsolated): events.send(.eventsIsolated(network, isIsolated))
        }
    }
}

extension Refusal: CustomStringConvertible {
    package var description: String {
        switch self {
        case .noToken: "it showed no access token"
        case .token(let problem): "\(problem)"
        case .helloTimeout: "it sent no hello within the time limit"
        case .protocolViolation(let what): "it violated the protocol: \(what)"
        case .unsupportedVersion(let found, let supported):
            "it has version \(found) of the protocol, this node version \(supported): update the older one"
        case .invitation(let what): what
        case .tooManyPeers: "this node has reached its limit of connections"
        case .manuallyDisconnected: "a person disconnected this node from it"
        case .banned: "a person banned it"
        case .deviceKeyUsedTwice: "its key is used in two places, and the other node is connected"
        }
    }
}
