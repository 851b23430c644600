internal import Crypto
internal import Identity
internal import OrderedCollections

/// Whom this node's NAT, or a firewall, lets in, in the words of RFC 4787, section 5.
package enum FilteringBehaviour: Hashable, Sendable {
    /// Everybody may send to a port from which something was sent once.
    case endpointIndependent
    /// Only those may to whose address, or to whose address and port, something was sent.
    case endpointDependent
    /// It could not be found out.
    case unknown(Reason)

    /// Why not.
    package enum Reason: Hashable, Sendable {
        /// No member is connected that could be asked.
        case nobodyToAsk
        /// No member that is not connected to this device could be found: to such a one something was sent already.
        case noStranger
        /// The member that was asked did not answer.
        case noAnswer
    }
}

/// A question under way: a member was asked to have another one, to which this node never sent anything, send a probe.
struct FilteringQuestion: Sendable {
    let id: CallId
    let key: CallKey
    /// Whom was asked.
    let helper: PeerId
    /// Who was found to send the probe.
    var stranger: PeerId?
    /// When it is over.
    var endsAt: Duration
}

// A STUN server with two addresses would answer from the other one; among members a second one does instead.
extension Reach {
    /// Probes that a stranger sends, in case one is lost.
    private static let strangerProbes = 3

    mutating func askFiltering(_ now: Duration, _ effects: inout [Effect]) {
        guard self.filteringQuestion == nil else { return }
        guard let (helper, peer) = self.peers.first(where: { $0.value.channel == nil && !$0.value.isSuspect }),
            let network = peer.networks.first
        else { return effects.append(.host(.filteringFound(.unknown(.nobodyToAsk)))) }
        let drawn = self.secrets.call()
        self.filteringQuestion = FilteringQuestion(
            id: drawn.id,
            key: drawn.key,
            helper: helper,
            endsAt: now + self.limits.filteringPatience
        )
        let known = Array(self.peers.keys.prefix(Message.knownLimit))
        effects.append(.send(helper, network, Message.tryMe(drawn.id, drawn.key, known: known).bytes))
    }

    /// A member wants to be sent a probe by somebody whom it does not know.
    mutating func askedToTry(
        _ id: CallId,
        _ key: CallKey,
        _ known: [PeerId],
        by asker: PeerId,
        _ network: NetworkId,
        _ now: Duration,
        _ effects: inout [Effect]
    ) {
        let rate = Rate(every: self.limits.callInterval, atOnce: self.limits.callsBurst)
        guard let link = self.peers[asker]?.link, self.peers[asker]?.calls.take(under: rate, at: now) == true,
            ChannelId(address: link.remote) == nil
        else { return effects.append(.send(asker, network, Message.tried(id, by: nil).bytes)) }
        let stranger = self.peers.first { peer, state in
            peer != asker && !known.contains(peer) && state.channel == nil && state.networks.contains(network)
                && state.link.remote.ip != link.remote.ip
        }
        if let stranger = stranger?.key {
            effects.append(.send(stranger, network, Message.tryThat(id, key, link.remote).bytes))
        }
        effects.append(.send(asker, network, Message.tried(id, by: stranger?.key).bytes))
    }

    /// This node is the stranger; the address is one that the member who asks sees the other one at.
    mutating func askedToProbe(
        _ id: CallId,
        _ key: CallKey,
        _ address: SocketAddress,
        by helper: PeerId,
        _ now: Duration,
        _ effects: inout [Effect]
    ) {
        let rate = Rate(every: self.limits.callInterval, atOnce: self.limits.callsBurst)
        let place = address.unmapped
        guard self.peers[helper]?.rings.take(under: rate, at: now) == true,
            self.implausibility(of: place, isObserved: true) == nil
        else { return }
        for _ in 0..<Self.strangerProbes {
            let permission = self.ledger.takeProbe(to: place, isUnobserved: true, of: helper, over: helper, at: now)
            guard permission == .granted else { return }
            let request = STUNMessage(
                .request,
                transaction: STUNTransactionId(using: &self.random),
                attributes: [.username(Self.username(id, isFirst: true))]
            )
            let bytes = STUNPacket.encode(request, key: SymmetricKey(data: key.bytes))
            effects.append(.host(.sendDatagram(bytes, to: place, port: nil)))
        }
    }

    /// The member that was asked says who sends the probe.
    mutating func strangerNamed(_ id: CallId, _ stranger: PeerId?, by helper: PeerId, _ effects: inout [Effect]) {
        guard let question = self.filteringQuestion, question.id == id, question.helper == helper else { return }
        guard let stranger, self.peers[stranger] == nil else {
            return self.endFilteringQuestion(.unknown(.noStranger), &effects)
        }
        self.filteringQuestion?.stranger = stranger
    }

    /// Whether a probe is the stranger's; it came through, and nothing was ever sent to where it comes from.
    mutating func takeStrangersProbe(
        _ packet: STUNPacket,
        _ id: CallId,
        from address: SocketAddress,
        _ effects: inout [Effect]
    ) -> Bool {
        guard let question = self.filteringQuestion, question.id == id,
            packet.isAuthentic(under: SymmetricKey(data: question.key.bytes), by: .sha256)
        else { return false }
        let isStranger = !self.peers.values.contains { $0.link.remote.ip == address.ip }
        self.endFilteringQuestion(isStranger ? .endpointIndependent : .unknown(.noStranger), &effects)
        return true
    }

    mutating func filteringDue(_ now: Duration, _ effects: inout [Effect]) {
        guard let question = self.filteringQuestion, question.endsAt <= now else { return }
        self.endFilteringQuestion(question.stranger == nil ? .unknown(.noAnswer) : .endpointDependent, &effects)
    }

    private mutating func endFilteringQuestion(_ answer: FilteringBehaviour, _ effects: inout [Effect]) {
        self.filteringQuestion = nil
        effects.append(.host(.filteringFound(answer)))
    }
}
