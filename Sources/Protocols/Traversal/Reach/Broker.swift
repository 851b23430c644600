internal import Bytes
internal import Identity
internal import OrderedCollections

/// The sessions of others that this node helps with, as their coordinator and as a relay.
///
/// It only ever serves two peers that are both connected to it in the same network, and never an address.
struct Broker: Sendable {
    /// Sessions that are helped with at once, answered ones without a channel not counted.
    private static let sessionLimit = 256

    private(set) var sessions: OrderedDictionary<SessionId, BrokeredSession> = [:]
    private let limits: Reach.Limits

    init(_ limits: Reach.Limits) {
        self.limits = limits
    }

    /// The time at which the first of the sessions that wait for an answer expires.
    var due: Duration? { sessions.values.lazy.compactMap(\.expiry).min() }

    /// Forwards an offer to its target, with a channel if this node can relay it.
    mutating func offerReceived(
        _ request: OfferRequest,
        _ peers: inout AdmittedPeers,
        _ secrets: inout SecretSource,
        _ held: OrderedDictionary<ChannelId, HeldChannel>,
        _ turn: inout Reach.Turn
    ) {
        let (id, caller, target, network) = (request.id, request.caller, request.target, request.network)
        guard let link = peers[caller]?.link else { return }
        guard peers[caller]?.offers.take(under: limits.offerRate, at: turn.now) == true, sessions[id] == nil,
            sessions.count < Self.sessionLimit
        else { return turn.emit(.send(caller, network, Reach.Message.failed(id, .refused).bytes)) }
        guard let callee = peers[target], target != caller, callee.networks.contains(network) else {
            return turn.emit(.send(caller, network, Reach.Message.failed(id, .notConnected).bytes))
        }
        var session = BrokeredSession(
            caller: caller,
            callee: target,
            network: network,
            expiry: turn.now + limits.sessionPatience
        )
        if canRelay(caller, target, peers) {
            session.channels = (freeChannel(&secrets, held), freeChannel(&secrets, held))
        }
        sessions[id] = session
        let introduction = Reach.Introduction(
            observed: ChannelId(address: link.remote) == nil ? link.remote : nil,
            channel: session.channels?.callee
        )
        let message = Reach.Message.forwardedOffer(id, from: caller, request.key, request.offer, introduction)
        turn.emit(.send(target, network, message.bytes))
    }

    /// Whether both are here without a relay, and have room for one more channel.
    private func canRelay(_ first: PeerId, _ second: PeerId, _ peers: AdmittedPeers) -> Bool {
        var counts = (first: 0, second: 0, all: 0)
        for session in sessions.values where session.channels != nil {
            counts.all += 2
            if session.other(than: first) != nil { counts.first += 1 }
            if session.other(than: second) != nil { counts.second += 1 }
        }
        return peers[first]?.channel == nil && peers[second]?.channel == nil
            && max(counts.first, counts.second) < limits.channelsPeer && counts.all + 2 <= limits.channels
    }

    private func freeChannel(
        _ secrets: inout SecretSource,
        _ held: OrderedDictionary<ChannelId, HeldChannel>
    ) -> ChannelId {
        while true {
            let channel = secrets.channel()
            let isTaken = sessions.values.contains { session in
                session.channels.map { $0.caller == channel || $0.callee == channel } ?? false
            }
            if !isTaken, held[channel] == nil { return channel }
        }
    }

    mutating func calleeAnswered(
        _ id: SessionId,
        _ offer: Reach.Offer,
        _ callee: PeerId,
        _ network: NetworkId,
        _ peers: AdmittedPeers,
        _ turn: inout Reach.Turn
    ) {
        guard let session = sessions[id], session.callee == callee, session.network == network,
            session.expiry != nil,
            let link = peers[callee]?.link
        else { return }
        if let channels = session.channels {
            sessions[id]?.expiry = nil
            let callerEnd = Reach.RelayEnd(channel: channels.caller, peer: session.caller)
            let calleeEnd = Reach.RelayEnd(channel: channels.callee, peer: callee)
            turn.emit(.relay(callerEnd, calleeEnd, network))
        } else {
            sessions[id] = nil
        }
        let introduction = Reach.Introduction(
            observed: ChannelId(address: link.remote) == nil ? link.remote : nil,
            channel: session.channels?.caller
        )
        turn.emit(.send(session.caller, network, Reach.Message.forwardedAnswer(id, offer, introduction).bytes))
    }

    mutating func calleeDeclined(
        _ id: SessionId,
        _ refusal: Reach.Refusal,
        _ callee: PeerId,
        _ network: NetworkId,
        _ turn: inout Reach.Turn
    ) {
        guard let session = sessions[id], session.callee == callee, session.network == network,
            session.expiry != nil
        else {
            return
        }
        sessions[id] = nil
        turn.emit(.send(session.caller, network, Reach.Message.failed(id, refusal).bytes))
    }

    /// Ends the sessions that were not answered in time.
    mutating func expire(_ turn: inout Reach.Turn) {
        for (id, session) in sessions {
            guard let due = session.expiry, due <= turn.now else { continue }
            sessions[id] = nil
            turn.emit(.send(session.callee, session.network, Reach.Message.cancel(id).bytes))
            turn.emit(.send(session.caller, session.network, Reach.Message.failed(id, .notConnected).bytes))
        }
    }

    /// Whether the peer is a side of the session.
    func isSide(_ peer: PeerId, of id: SessionId) -> Bool { sessions[id]?.other(than: peer) != nil }

    /// Ends a session that one side cancelled, and notifies the other.
    mutating func end(_ id: SessionId, cancelledBy peer: PeerId, _ peers: AdmittedPeers, _ turn: inout Reach.Turn) {
        guard let other = sessions[id]?.other(than: peer), let session = sessions.removeValue(forKey: id) else {
            return
        }
        if let channels = session.channels, session.expiry == nil {
            turn.emit(.host(.stopRelaying(channels.caller)))
        }
        guard peers[other]?.networks.contains(session.network) == true else { return }
        let isUnanswered = session.expiry != nil && other == session.caller
        let message = isUnanswered ? Reach.Message.failed(id, .notConnected) : Reach.Message.cancel(id)
        turn.emit(.send(other, session.network, message.bytes))
    }

    /// Ends the sessions and channels of a peer in a network.
    mutating func endAll(of peer: PeerId, in network: NetworkId, _ peers: AdmittedPeers, _ turn: inout Reach.Turn) {
        for (id, session) in sessions where session.network == network && session.other(than: peer) != nil {
            end(id, cancelledBy: peer, peers, &turn)
        }
    }

    // MARK: Filtering

    /// Finds a member that the requester does not know, and requests that it sends the requester a probe.
    func filteringRequestReceived(
        _ id: SessionId,
        _ key: SessionKey,
        _ known: [PeerId],
        by asker: PeerId,
        _ network: NetworkId,
        _ peers: inout AdmittedPeers,
        _ turn: inout Reach.Turn
    ) {
        guard let link = peers[asker]?.link,
            peers[asker]?.offers.take(under: limits.offerRate, at: turn.now) == true,
            ChannelId(address: link.remote) == nil
        else { return turn.emit(.send(asker, network, Reach.Message.filteringReply(id, by: nil).bytes)) }
        let alternate = peers.states.first { peer, state in
            peer != asker && !known.contains(peer) && state.channel == nil && state.networks.contains(network)
                && state.link.remote.ip != link.remote.ip
        }
        if let alternate = alternate?.key {
            turn.emit(.send(alternate, network, Reach.Message.probeRequest(id, key, link.remote).bytes))
        }
        turn.emit(.send(asker, network, Reach.Message.filteringReply(id, by: alternate?.key).bytes))
    }
}

/// A caller's request to its coordinator.
struct OfferRequest: Sendable {
    let id: SessionId
    let caller: PeerId
    let target: PeerId
    let network: NetworkId
    let key: SessionKey
    let offer: Reach.Offer
}

/// A session between two others.
struct BrokeredSession: Sendable {
    let caller: PeerId
    let callee: PeerId
    let network: NetworkId
    /// The caller's end of a channel, and the callee's.
    var channels: (caller: ChannelId, callee: ChannelId)?
    /// The time at which it expires unless it is answered; nil once it was.
    var expiry: Duration?

    /// The other side of the session; nil for a peer that is not a side of it.
    func other(than peer: PeerId) -> PeerId? {
        switch peer {
        case caller: callee
        case callee: caller
        default: nil
        }
    }
}
