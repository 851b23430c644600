internal import Algorithms
internal import Identity
internal import Kademlia

// MARK: - Frames

// Received frames are parsed, and passed on to their subsystem.
extension NodeCore {
    mutating func frameReceived(_ bytes: [UInt8], on id: ConnectionId, _ turn: inout Turn) {
        guard connections[id] != nil else { return }
        guard bytes.count <= Frame.helloByteLimit || bytes.count <= frameByteLimit(on: id) else {
            return disconnectViolator(id, "a frame of \(bytes.count) bytes", &turn)
        }
        let frame: Frame
        do throws(FrameError) {
            frame = try Frame(bytes)
        } catch .unsupportedVersion(let found, let supported) {
            return refuseVersion(found: found, supported: supported, on: id, &turn)
        } catch {
            return disconnectViolator(id, "\(error)", &turn)
        }
        guard connections[id]?.isForRenewal == false else { return handleOfBanned(frame, on: id, &turn) }
        guard mayReceive(frame, on: id) else { return disconnectViolator(id, "a frame before admission", &turn) }
        handle(frame, on: id, &turn)
    }

    /// Whether the peer may send the frame at this stage of the connection.
    ///
    /// An admission may have ended while a frame was under way; the subsystem then ignores the frame.
    private func mayReceive(_ frame: Frame, on id: ConnectionId) -> Bool {
        guard frame.requiresAdmission, let state = connections[id], state.standing.admittedSince == nil
        else { return true }
        // The end of an admission may arrive before this side has processed its beginning.
        if case .admissionEnd = frame { return !state.indexes.isEmpty }
        return false
    }

    private mutating func handle(_ frame: Frame, on id: ConnectionId, _ turn: inout Turn) {
        switch frame {
        case .hello(let hello): helloReceived(hello, on: id, &turn)
        case .helloReply(let reply): replyReceived(reply, on: id, &turn)
        case .helloAcknowledgement(let verdicts): acknowledgementReceived(verdicts, on: id, &turn)
        case .admissionEnd(let index, let code): admissionEndReceived(index, code, on: id, &turn)
        case .join(let proof): joinReceived(proof, on: id, &turn)
        case .joinGrant(let token, let metadata): grantReceived(token, metadata, on: id, &turn)
        case .joinRefusal(let code): joinRefusalReceived(code, on: id, &turn)
        case .revocation(let entry): ownRevocationReceived(entry, on: id, &turn)
        case .revocationDigest(let index, let count, let digest):
            revocationDigestReceived(index, count, digest, on: id, &turn)
        case .revocationsKnown(let index, let fingerprints):
            fingerprintsReceived(index, fingerprints, on: id, &turn)
        case .revocations(let index, let entries): revocationsReceived(index, entries, on: id, &turn)
        case .memberSecret(let index, let secret): secretReceived(index, secret, on: id, &turn)
        case .memberSecretKnown(let index, let stamp): secretStampReceived(index, stamp, on: id, &turn)
        case .renewalRequest(let index, let token): renewalRequestReceived(index, token, on: id, &turn)
        case .renewalGrant(let index, let token): renewalGrantReceived(index, token, on: id, &turn)
        case .dht(let index, let bytes): dhtReceived(index, bytes, on: id, &turn)
        case .events(let index, let bytes): eventsReceived(index, bytes, on: id, &turn)
        case .services(let index, let bytes): servicesReceived(index, bytes, on: id, &turn)
        case .mailbox(let index, let bytes): mailboxReceived(index, bytes, on: id, &turn)
        case .reach(let index, let bytes): reachReceived(index, bytes, on: id, &turn)
        }
    }

    // MARK: Frames of a network

    /// Sends a frame of a network, created with its index, to an admitted member; returns false if there is no route.
    mutating func send(to peer: PeerId, in network: NetworkId, _ turn: inout Turn, _ frame: (UInt8) -> Frame) -> Bool {
        guard let ids = peers[peer]?.connections,
            let route = connections.route(among: ids, in: network)
        else { return false }
        connections[route.connection]?.usage.note(at: turn.now.monotonic)
        connections.send(frame(route.index), on: route.connection, &turn)
        return true
    }

    /// Returns the sender and the network of a frame with this index, which counts as a use of the connection.
    ///
    /// Returns nil unless the two are admitted there.
    mutating func sender(
        of index: UInt8,
        on id: ConnectionId,
        _ now: NodeTime
    ) -> (peer: PeerId, network: NetworkId)? {
        guard let state = connections[id], let network = state.admittedNetwork(index) else { return nil }
        connections[id]?.usage.note(at: now.monotonic)
        return (state.link.peer, network)
    }
}

// MARK: - Tokens

// Tokens are shown, checked, answered and acknowledged.
extension NodeCore {
    // MARK: Showing

    /// Shows our tokens of every network of which there is evidence that the peer is in it; false if there is none.
    mutating func sendHello(on id: ConnectionId, _ turn: inout Turn) -> Bool {
        guard let link = connections[id]?.link, let known = peers[link.peer] else { return false }
        return sendHello(for: known.networks, on: id, &turn)
    }

    /// Shows the tokens of those networks that are not yet agreed on.
    mutating func offerFurther(on id: ConnectionId, _ turn: inout Turn) {
        guard let state = connections[id], let known = peers[state.link.peer] else { return }
        let missing = known.networks.filter { state.peerings[$0] == nil }
        _ = sendHello(for: missing, on: id, &turn)
    }

    mutating func sendHello(for networks: [NetworkId], on id: ConnectionId, _ turn: inout Turn) -> Bool {
        guard connections[id]?.isForRenewal == false else { return false }
        var offers: [Frame.Offer] = []
        for network in networks {
            guard let token = memberships.ownToken(in: network, turn.now),
                mayShare(network, on: id), let index = connections[id]?.indexes.choose(for: network)
            else { continue }
            offers.append(Frame.Offer(index: index, token: token))
            if connections[id]?.noteOffer(of: network, under: index) == true {
                memberships[network]?.connections.insert(id)
            }
        }
        for page in offers.chunks(ofCount: Frame.tokenLimit) {
            let hello = Frame.Hello(
                instance: configuration.instance,
                capabilities: configuration.capabilities,
                tokens: Array(page)
            )
            connections.send(.hello(hello), on: id, &turn)
            connections[id]?.hello.noteSent()
        }
        return !offers.isEmpty
    }

    /// Whether a connection has room for a network.
    private func mayShare(_ network: NetworkId, on id: ConnectionId) -> Bool {
        connections[id]?.hasRoom(for: network, limit: configuration.limits.networksPerConnection) ?? false
    }

    // MARK: Checking

    mutating func helloReceived(_ hello: Frame.Hello, on id: ConnectionId, _ turn: inout Turn) {
        guard let state = connections[id] else { return }
        connections[id]?.hello.noteReceived()
        let rate = RateLimit(every: .seconds(60), atOnce: configuration.limits.hellosPerConnection)
        guard connections[id]?.buckets.hellos.take(under: rate, at: turn.now.monotonic) == true else {
            return disconnectViolator(id, "too many hellos", &turn)
        }
        if let violation = state.violation(by: hello) { return disconnectViolator(id, violation, &turn) }
        if hello.tokens.isEmpty { turn.emit(.peer(.refused(state.link.peer, nil, .noToken))) }
        var reply = Frame.HelloReply(
            instance: configuration.instance,
            capabilities: configuration.capabilities,
            proofs: [],
            refusals: []
        )
        for offer in hello.tokens {
            if let refusal = evaluate(offer, of: state.link.peer, on: id, &turn) {
                if refusal == .revoked { sendRevocation(of: offer.token, on: id, &turn) }
                reply.refusals.append(Frame.Verdict(index: offer.index, refusal: refusal))
            } else if let own = memberships[offer.token.networkId]?.own.token {
                prove(offer, on: id, &turn)
                reply.proofs.append(Frame.Offer(index: offer.index, token: own))
            }
        }
        guard !reply.proofs.isEmpty || connections[id]?.standing.admittedSince != nil else {
            let told = reply.refusals.compactMap(\.refusal)
            return close(id, told.first { $0 != .notAdmitted } ?? .notAdmitted, &turn)
        }
        if !reply.proofs.isEmpty, refusesReturning(hello.instance, on: id, &turn) { return }
        connections.send(.helloReply(reply), on: id, &turn)
        if !reply.proofs.isEmpty { learnInstance(hello.instance, hello.capabilities, on: id, &turn) }
    }

    /// Returns the code that the peer receives if its token is invalid, or cannot be answered; see ``CloseCode``.
    private mutating func evaluate(
        _ offer: Frame.Offer,
        of peer: PeerId,
        on id: ConnectionId,
        _ turn: inout Turn
    ) -> CloseCode? {
        let token = offer.token
        if let problem = memberships.check(token, of: peer, turn.now) {
            let isKnown = memberships[token.networkId] != nil
            turn.emit(.peer(.refused(peer, isKnown ? token.networkId : nil, .token(problem))))
            // A token with another problem is refused without a reason, even if it is genuine.
            let isGenuine =
                isKnown && problem.isToldToHolder && token.peerId == peer && configuration.verifier.token(token)
            return CloseCode(telling: problem, toGenuineHolder: isGenuine)
        }
        guard !keepsApart(from: peer) else {
            turn.emit(.peer(.refused(peer, token.networkId, .manuallyDisconnected)))
            return .manuallyDisconnected
        }
        let hasToken = memberships.ownToken(in: token.networkId, turn.now) != nil
        return hasToken && mayShare(token.networkId, on: id) ? nil : .notAdmitted
    }

    mutating func prove(_ offer: Frame.Offer, on id: ConnectionId, _ turn: inout Turn) {
        let network = offer.token.networkId
        connections[id]?.noteProof(offer)
        memberships[network]?.connections.insert(id)
        memberships[network]?.tokenEnds.note(offer.token, on: id)
        armExpiry(of: offer.token, &turn)
    }

    // MARK: Answers

    mutating func replyReceived(_ reply: Frame.HelloReply, on id: ConnectionId, _ turn: inout Turn) {
        guard let state = connections[id] else { return }
        if let violation = state.violation(by: reply) { return disconnectViolator(id, violation, &turn) }
        connections[id]?.hello.noteReply()
        var verdicts: [Frame.Verdict] = []
        for proof in reply.proofs {
            let refusal = take(proof, on: id, &turn)
            verdicts.append(Frame.Verdict(index: proof.index, refusal: refusal))
        }
        let isAdmitting = verdicts.contains { $0.refusal == nil }
        if isAdmitting, refusesReturning(reply.instance, on: id, &turn) { return }
        connections.send(.helloAcknowledgement(verdicts), on: id, &turn)
        if isAdmitting {
            learnInstance(reply.instance, reply.capabilities, on: id, &turn)
        }
        for verdict in verdicts where verdict.refusal == nil {
            if let network = state.indexes[verdict.index] { admit(network, on: id, &turn) }
        }
        for verdict in verdicts where verdict.refusal != nil {
            guard let network = state.indexes[verdict.index] else { continue }
            endAdmission(of: network, on: id, .notAdmitted, &turn)
        }
        for verdict in reply.refusals {
            guard let network = state.indexes[verdict.index] else { continue }
            turn.emit(.peer(.refusedByPeer(state.link.peer, network, verdict.refusal ?? .notAdmitted)))
            endAdmission(of: network, on: id, verdict.refusal ?? .notAdmitted, &turn, isRequestedByPeer: true)
        }
    }

    /// Checks the responder's token; nil if it is valid.
    private mutating func take(_ proof: Frame.Offer, on id: ConnectionId, _ turn: inout Turn) -> CloseCode? {
        guard let state = connections[id], let network = state.indexes[proof.index] else { return .notAdmitted }
        let problem =
            proof.token.networkId == network
            ? memberships.check(proof.token, of: state.link.peer, turn.now) : .wrongNetwork
        if let problem {
            // This node may have left the network while the answer was under way; then no peer is to blame.
            if memberships[network] != nil { turn.emit(.peer(.refused(state.link.peer, network, .token(problem)))) }
            return .notAdmitted
        }
        guard state.peerings[network] != nil else { return .notAdmitted }
        connections[id]?.peerings[network]?.token = proof.token
        memberships[network]?.tokenEnds.note(proof.token, on: id)
        armExpiry(of: proof.token, &turn)
        return nil
    }

    mutating func acknowledgementReceived(_ verdicts: [Frame.Verdict], on id: ConnectionId, _ turn: inout Turn) {
        guard let state = connections[id] else { return }
        if let violation = state.violation(by: verdicts) { return disconnectViolator(id, violation, &turn) }
        for verdict in verdicts {
            guard let network = state.indexes[verdict.index], let peering = state.peerings[network] else { continue }
            if let refusal = verdict.refusal {
                turn.emit(.peer(.refusedByPeer(state.link.peer, network, refusal)))
                endAdmission(of: network, on: id, .notAdmitted, &turn, isRequestedByPeer: true)
            } else if peering.state == .proved {
                admit(network, on: id, &turn)
            }
        }
    }

    /// Both sides have proved themselves; does nothing unless the peer's token and ours are good at this moment.
    mutating func admit(_ network: NetworkId, on id: ConnectionId, _ turn: inout Turn) {
        guard let state = connections[id], let peering = state.peerings[network], peering.state != .admitted,
            !state.isForRenewal, memberships.isGood(peering, in: network, turn.now),
            hasRoomForPeer(on: id, &turn)
        else { return }
        let peer = state.link.peer
        // An admitted peer is wanted again, by this side or by the other.
        peers[peer]?.manualDisconnect = nil
        let isNew = connections.route(among: peers[peer]?.connections ?? [], in: network) == nil
        connections[id]?.peerings[network]?.state = .admitted
        connections[id]?.endHello()
        noteAdmission(on: id, &turn)
        peers[peer]?.note(network)
        if isNew {
            memberships[network]?.admitted.insert(peer)
            if !state.link.isDialler {
                peers.add(state.link.address, of: peer)
                noteAnswer(of: peer, at: state.link.address, &turn)
            }
            turn.emit(.peer(.persist(peer, network, ObservedAddress(of: state.link))))
            turn.emit(.peer(.joined(peer, network)))
            let addresses = state.hasTable ? self.addresses(of: state.link) : nil
            notify(.memberUp(peer, addresses: addresses), of: network, &turn)
        }
        sendPendingMessages(to: peer, in: network, &turn)
        sendRevocationDigest(of: network, on: id, &turn)
        sendSecretStamp(of: network, on: id, &turn)
        requestRenewal(of: network, on: id, &turn)
        // The dialler showed all it could; we may have evidence that it lacks.
        if state.standing.admittedSince == nil, !state.link.isDialler { offerFurther(on: id, &turn) }
        settle(id, &turn)
        tellOfSuspicion(of: peer, in: network, &turn)
        tellReachOfLink(to: peer, in: network, &turn)
    }

    /// Returns the addresses for dialling a peer, beginning with the source of its packets: a node has one socket for both.
    private func addresses(of link: Link) -> [SocketAddress] {
        var known = link.address.isDialable ? [link.address] : []
        known += (peers[link.peer]?.addresses ?? []).filter { $0 != link.address }
        return Array(known.prefix(Contact.addressLimit))
    }

    /// The first admission makes the peer a member.
    private mutating func noteAdmission(on id: ConnectionId, _ turn: inout Turn) {
        guard connections.noteAdmission(on: id, at: turn.now.monotonic) else { return }
        turn.emit(.connection(.admitted(id)))
        armBudget(&turn)
        if !timers.isSeenArmed { timers.armSeen(at: turn.now.monotonic + configuration.limits.seenPause, &turn) }
    }
}
