internal import Identity

// Tokens of banned peers: a ban ends the trust of two people, but not the peer's membership of a network that this node
// owns.
extension NodeCore {
    /// The last seconds of a token in which a banned peer may renew it: a third of the usual life of 30 days.
    private static let renewalSeconds: UInt64 = 10 * 86_400

    /// Whether a connection of a banned peer is accepted, so that the peer can renew its token.
    func mayRenew(_ link: Link) -> Bool { !link.isDialler && !renewingNetworks.isEmpty }

    /// Handles a frame of a banned peer.
    ///
    /// The peer is not admitted: it shows its token and gets one in exchange. Everything else is dropped, because the peer
    /// takes itself for admitted once it has this node's token.
    mutating func handleOfBanned(_ frame: Frame, on id: ConnectionId, _ turn: inout Turn) {
        switch frame {
        case .hello(let hello): receiveOfBanned(hello, on: id, &turn)
        case .renewalRequest(let index, let token): receiveOfBanned(index, token, on: id, &turn)
        case .helloReply, .helloAcknowledgement, .admissionEnd, .join, .joinGrant, .joinRefusal, .revocation,
            .revocationDigest, .revocationsKnown, .revocations, .memberSecret, .memberSecretKnown, .renewalGrant, .dht,
            .events, .services, .mailbox, .reach:
            return
        }
    }

    private mutating func receiveOfBanned(_ hello: Frame.Hello, on id: ConnectionId, _ turn: inout Turn) {
        guard let state = connections[id] else { return }
        let peer = state.link.peer
        guard !state.hello.isReceived, state.violation(by: hello) == nil,
            let offer = hello.tokens.first(where: { isRenewable($0.token, of: peer, turn.now) }),
            let own = memberships.ownToken(in: offer.token.networkId, turn.now)
        else {
            turn.emit(.peer(.refused(peer, nil, .banned)))
            return close(id, .notAdmitted, &turn)
        }
        connections[id]?.hello.noteReceived()
        prove(offer, on: id, &turn)
        let refusals = hello.tokens.filter { $0.index != offer.index }.map { offer in
            Frame.Verdict(index: offer.index, refusal: .notAdmitted)
        }
        let reply = Frame.HelloReply(
            instance: configuration.instance,
            capabilities: configuration.capabilities,
            proofs: [Frame.Offer(index: offer.index, token: own)],
            refusals: refusals
        )
        connections.send(.helloReply(reply), on: id, &turn)
    }

    /// Whether a token is good, near its end, and of a network in which this node gives new ones.
    private mutating func isRenewable(_ token: AccessToken, of peer: PeerId, _ now: NodeTime) -> Bool {
        guard renewingNetworks.contains(token.networkId), let end = token.expirationSeconds,
            end <= now.wallSeconds + Self.renewalSeconds
        else { return false }
        return memberships.check(token, of: peer, now) == nil
    }

    private mutating func receiveOfBanned(
        _ index: UInt8,
        _ token: AccessToken,
        on id: ConnectionId,
        _ turn: inout Turn
    ) {
        guard let state = connections[id], let network = state.indexes[index],
            state.peerings[network]?.token == token
        else { return close(id, .notAdmitted, &turn) }
        let rate = RateLimit(every: .seconds(60), atOnce: configuration.limits.renewalsPerConnection)
        guard connections[id]?.buckets.renewals.take(under: rate, at: turn.now.monotonic) == true else { return }
        turn.emit(.membership(.renewalRequested(id, state.link.peer, network, token)))
    }

    /// Closes the connection of a banned peer once its request is decided.
    mutating func endRenewalOfBanned(on id: ConnectionId, _ turn: inout Turn) {
        guard connections[id]?.isForRenewal == true else { return }
        close(id, .notAdmitted, &turn)
    }
}
