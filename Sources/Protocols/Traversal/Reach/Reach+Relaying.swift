internal import Bytes
internal import Identity
internal import OrderedCollections

// Helping others: this node as the coordinator of calls, and as a relay. It only ever serves two peers that are both
// connected to it in the same network, and never an address.
extension Reach {
    /// Calls that are helped with at once, answered ones without a channel not counted.
    private static let brokeredLimit = 256

    mutating func called(
        _ id: CallId,
        _ target: PeerId,
        _ key: CallKey,
        _ offer: Offer,
        by caller: PeerId,
        _ network: NetworkId,
        _ now: Duration,
        _ effects: inout [Effect]
    ) {
        guard let link = self.peers[caller]?.link else { return }
        let rate = Rate(every: self.limits.callInterval, atOnce: self.limits.callsBurst)
        guard self.peers[caller]?.calls.take(under: rate, at: now) == true, self.brokered[id] == nil,
            self.brokered.count < Self.brokeredLimit
        else { return effects.append(.send(caller, network, Message.failed(id, .refused).bytes)) }
        guard let callee = self.peers[target], target != caller, callee.networks.contains(network) else {
            return effects.append(.send(caller, network, Message.failed(id, .notConnected).bytes))
        }
        var call = BrokeredCall(
            caller: caller,
            callee: target,
            network: network,
            expiry: now + self.limits.callPatience
        )
        if self.canRelay(caller, target) {
            call.channels = (self.freeChannel(), self.freeChannel())
        }
        self.brokered[id] = call
        let introduction = Introduction(
            observed: ChannelId(address: link.remote) == nil ? link.remote : nil,
            channel: call.channels?.callee
        )
        let message = Message.ring(id, from: caller, key, offer, introduction)
        effects.append(.send(target, network, message.bytes))
    }

    /// Whether both are here without a relay, and have room for one more channel.
    private func canRelay(_ first: PeerId, _ second: PeerId) -> Bool {
        var counts = (first: 0, second: 0, all: 0)
        for call in self.brokered.values where call.channels != nil {
            counts.all += 2
            if call.other(than: first) != nil { counts.first += 1 }
            if call.other(than: second) != nil { counts.second += 1 }
        }
        return self.peers[first]?.channel == nil && self.peers[second]?.channel == nil
            && max(counts.first, counts.second) < self.limits.channelsPeer && counts.all + 2 <= self.limits.channels
    }

    private mutating func freeChannel() -> ChannelId {
        while true {
            let channel = self.secrets.channel()
            let isTaken = self.brokered.values.contains { call in
                call.channels.map { $0.caller == channel || $0.callee == channel } ?? false
            }
            if !isTaken, self.channels[channel] == nil { return channel }
        }
    }

    mutating func calleeAnswered(
        _ id: CallId,
        _ offer: Offer,
        _ callee: PeerId,
        _ network: NetworkId,
        _ now: Duration,
        _ effects: inout [Effect]
    ) {
        guard let call = self.brokered[id], call.callee == callee, call.network == network, call.expiry != nil,
            let link = self.peers[callee]?.link
        else { return }
        if let channels = call.channels {
            self.brokered[id]?.expiry = nil
            let ends = (
                RelayEnd(channel: channels.caller, peer: call.caller), RelayEnd(channel: channels.callee, peer: callee)
            )
            effects.append(.relay(ends.0, ends.1, network))
        } else {
            self.brokered[id] = nil
        }
        let introduction = Introduction(
            observed: ChannelId(address: link.remote) == nil ? link.remote : nil,
            channel: call.channels?.caller
        )
        effects.append(.send(call.caller, network, Message.answered(id, offer, introduction).bytes))
    }

    mutating func calleeDeclined(
        _ id: CallId,
        _ refusal: Refusal,
        _ callee: PeerId,
        _ network: NetworkId,
        _ effects: inout [Effect]
    ) {
        guard let call = self.brokered[id], call.callee == callee, call.network == network, call.expiry != nil else {
            return
        }
        self.brokered[id] = nil
        effects.append(.send(call.caller, network, Message.failed(id, refusal).bytes))
    }

    mutating func brokeredCallExpired(_ id: CallId, _ effects: inout [Effect]) {
        guard let call = self.brokered.removeValue(forKey: id) else { return }
        effects.append(.send(call.callee, call.network, Message.hangUp(id).bytes))
        effects.append(.send(call.caller, call.network, Message.failed(id, .notConnected).bytes))
    }

    /// One side hung up, or is gone: the other is told.
    mutating func endBrokered(_ id: CallId, hungUpBy peer: PeerId, _ effects: inout [Effect]) {
        guard let other = self.brokered[id]?.other(than: peer),
            let call = self.brokered.removeValue(forKey: id)
        else { return }
        if let channels = call.channels, call.expiry == nil { effects.append(.host(.stopRelaying(channels.caller))) }
        guard self.peers[other]?.networks.contains(call.network) == true else { return }
        let isUnanswered = call.expiry != nil && other == call.caller
        let message = isUnanswered ? Message.failed(id, .notConnected) : Message.hangUp(id)
        effects.append(.send(other, call.network, message.bytes))
    }

    /// Ends what a peer had here in a network.
    mutating func endBrokered(of peer: PeerId, in network: NetworkId, _ effects: inout [Effect]) {
        for (id, call) in self.brokered where call.network == network && call.other(than: peer) != nil {
            self.endBrokered(id, hungUpBy: peer, &effects)
        }
    }
}
