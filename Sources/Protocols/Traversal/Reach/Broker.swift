internal import Bytes
internal import Identity
internal import OrderedCollections

/// The calls of others that this node helps with, as their coordinator and as a relay.
///
/// It only ever serves two peers that are both connected to it in the same network, and never an address.
struct Broker: Sendable {
    /// Calls that are helped with at once, answered ones without a channel not counted.
    private static let callLimit = 256

    private(set) var calls: OrderedDictionary<CallId, BrokeredCall> = [:]
    private let limits: Reach.Limits

    init(_ limits: Reach.Limits) {
        self.limits = limits
    }

    /// The time at which the first of the calls that wait for an answer expires.
    var due: Duration? { self.calls.values.lazy.compactMap(\.expiry).min() }

    /// Announces a call to its target, with a channel if this node can relay it.
    mutating func called(
        _ request: CallRequest,
        _ peers: inout AdmittedPeers,
        _ secrets: inout SecretSource,
        _ held: OrderedDictionary<ChannelId, HeldChannel>,
        _ now: Duration,
        _ effects: inout [Reach.Effect]
    ) {
        let (id, caller, target, network) = (request.id, request.caller, request.target, request.network)
        guard let link = peers[caller]?.link else { return }
        guard peers[caller]?.calls.take(under: self.limits.callRate, at: now) == true, self.calls[id] == nil,
            self.calls.count < Self.callLimit
        else { return effects.append(.send(caller, network, Reach.Message.failed(id, .refused).bytes)) }
        guard let callee = peers[target], target != caller, callee.networks.contains(network) else {
            return effects.append(.send(caller, network, Reach.Message.failed(id, .notConnected).bytes))
        }
        var call = BrokeredCall(
            caller: caller,
            callee: target,
            network: network,
            expiry: now + self.limits.callPatience
        )
        if self.canRelay(caller, target, peers) {
            call.channels = (self.freeChannel(&secrets, held), self.freeChannel(&secrets, held))
        }
        self.calls[id] = call
        let introduction = Reach.Introduction(
            observed: ChannelId(address: link.remote) == nil ? link.remote : nil,
            channel: call.channels?.callee
        )
        let message = Reach.Message.ring(id, from: caller, request.key, request.offer, introduction)
        effects.append(.send(target, network, message.bytes))
    }

    /// Whether both are here without a relay, and have room for one more channel.
    private func canRelay(_ first: PeerId, _ second: PeerId, _ peers: AdmittedPeers) -> Bool {
        var counts = (first: 0, second: 0, all: 0)
        for call in self.calls.values where call.channels != nil {
            counts.all += 2
            if call.other(than: first) != nil { counts.first += 1 }
            if call.other(than: second) != nil { counts.second += 1 }
        }
        return peers[first]?.channel == nil && peers[second]?.channel == nil
            && max(counts.first, counts.second) < self.limits.channelsPeer && counts.all + 2 <= self.limits.channels
    }

    private func freeChannel(
        _ secrets: inout SecretSource,
        _ held: OrderedDictionary<ChannelId, HeldChannel>
    ) -> ChannelId {
        while true {
            let channel = secrets.channel()
            let isTaken = self.calls.values.contains { call in
                call.channels.map { $0.caller == channel || $0.callee == channel } ?? false
            }
            if !isTaken, held[channel] == nil { return channel }
        }
    }

    mutating func calleeAnswered(
        _ id: CallId,
        _ offer: Reach.Offer,
        _ callee: PeerId,
        _ network: NetworkId,
        _ peers: AdmittedPeers,
        _ effects: inout [Reach.Effect]
    ) {
        guard let call = self.calls[id], call.callee == callee, call.network == network, call.expiry != nil,
            let link = peers[callee]?.link
        else { return }
        if let channels = call.channels {
            self.calls[id]?.expiry = nil
            let callerEnd = Reach.RelayEnd(channel: channels.caller, peer: call.caller)
            let calleeEnd = Reach.RelayEnd(channel: channels.callee, peer: callee)
            effects.append(.relay(callerEnd, calleeEnd, network))
        } else {
            self.calls[id] = nil
        }
        let introduction = Reach.Introduction(
            observed: ChannelId(address: link.remote) == nil ? link.remote : nil,
            channel: call.channels?.caller
        )
        effects.append(.send(call.caller, network, Reach.Message.answered(id, offer, introduction).bytes))
    }

    mutating func calleeDeclined(
        _ id: CallId,
        _ refusal: Reach.Refusal,
        _ callee: PeerId,
        _ network: NetworkId,
        _ effects: inout [Reach.Effect]
    ) {
        guard let call = self.calls[id], call.callee == callee, call.network == network, call.expiry != nil else {
            return
        }
        self.calls[id] = nil
        effects.append(.send(call.caller, network, Reach.Message.failed(id, refusal).bytes))
    }

    /// Ends the calls that were not answered in time.
    mutating func expire(_ now: Duration, _ effects: inout [Reach.Effect]) {
        for (id, call) in self.calls {
            guard let due = call.expiry, due <= now else { continue }
            self.calls[id] = nil
            effects.append(.send(call.callee, call.network, Reach.Message.hangUp(id).bytes))
            effects.append(.send(call.caller, call.network, Reach.Message.failed(id, .notConnected).bytes))
        }
    }

    /// Whether the peer is a side of the call.
    func isSide(_ peer: PeerId, of id: CallId) -> Bool { self.calls[id]?.other(than: peer) != nil }

    /// Ends a call that one side left, and notifies the other.
    mutating func end(_ id: CallId, hungUpBy peer: PeerId, _ peers: AdmittedPeers, _ effects: inout [Reach.Effect]) {
        guard let other = self.calls[id]?.other(than: peer), let call = self.calls.removeValue(forKey: id) else {
            return
        }
        if let channels = call.channels, call.expiry == nil { effects.append(.host(.stopRelaying(channels.caller))) }
        guard peers[other]?.networks.contains(call.network) == true else { return }
        let isUnanswered = call.expiry != nil && other == call.caller
        let message = isUnanswered ? Reach.Message.failed(id, .notConnected) : Reach.Message.hangUp(id)
        effects.append(.send(other, call.network, message.bytes))
    }

    /// Ends what a peer had here in a network.
    mutating func endAll(
        of peer: PeerId,
        in network: NetworkId,
        _ peers: AdmittedPeers,
        _ effects: inout [Reach.Effect]
    ) {
        for (id, call) in self.calls where call.network == network && call.other(than: peer) != nil {
            self.end(id, hungUpBy: peer, peers, &effects)
        }
    }

    // MARK: Filtering

    /// Finds a member that the asker does not know, and asks it to send the asker a probe.
    func askedToTry(
        _ id: CallId,
        _ key: CallKey,
        _ known: [PeerId],
        by asker: PeerId,
        _ network: NetworkId,
        _ peers: inout AdmittedPeers,
        _ now: Duration,
        _ effects: inout [Reach.Effect]
    ) {
        guard let link = peers[asker]?.link,
            peers[asker]?.calls.take(under: self.limits.callRate, at: now) == true,
            ChannelId(address: link.remote) == nil
        else { return effects.append(.send(asker, network, Reach.Message.tried(id, by: nil).bytes)) }
        let stranger = peers.states.first { peer, state in
            peer != asker && !known.contains(peer) && state.channel == nil && state.networks.contains(network)
                && state.link.remote.ip != link.remote.ip
        }
        if let stranger = stranger?.key {
            effects.append(.send(stranger, network, Reach.Message.tryThat(id, key, link.remote).bytes))
        }
        effects.append(.send(asker, network, Reach.Message.tried(id, by: stranger?.key).bytes))
    }
}

/// A caller's request to its coordinator.
struct CallRequest: Sendable {
    let id: CallId
    let caller: PeerId
    let target: PeerId
    let network: NetworkId
    let key: CallKey
    let offer: Reach.Offer
}

/// A call between two others.
struct BrokeredCall: Sendable {
    let caller: PeerId
    let callee: PeerId
    let network: NetworkId
    /// The caller's end of a channel, and the callee's.
    var channels: (caller: ChannelId, callee: ChannelId)?
    /// The time at which it expires unless it is answered; nil once it was.
    var expiry: Duration?

    /// The other side of the call; nil for a peer that is no side of it.
    func other(than peer: PeerId) -> PeerId? {
        switch peer {
        case self.caller: self.callee
        case self.callee: self.caller
        default: nil
        }
    }
}
