internal import Identity

// The shape of frames about admission, which is checked before any signature, and the tokens in them.
extension ConnectionState {
    /// Returns the rule that a hello breaks, or nil.
    func violation(by hello: Frame.Hello) -> String? {
        guard self.hello.isFrom(hello.instance) else {
            return "another instance on the same connection"
        }
        guard Set(hello.tokens.map(\.index)).count == hello.tokens.count else { return "an index used twice" }
        // One token per network: an unadmitted peer must not have one signature checked repeatedly, nor measure its time.
        guard Set(hello.tokens.map(\.token.networkId)).count == hello.tokens.count else {
            return "a network named twice"
        }
        guard hello.tokens.allSatisfy({ indexes.mayPeerUse($0.index, for: $0.token.networkId) }) else {
            return "an index of the other half, or one assigned to another network"
        }
        return nil
    }

    /// Returns the rule that an answer to a hello breaks, or nil.
    func violation(by reply: Frame.HelloReply) -> String? {
        guard hello.awaitsReply else { return "an answer to no hello" }
        let indexes = reply.proofs.map(\.index) + reply.refusals.map(\.index)
        guard indexes.allSatisfy({ self.indexes.isOurs($0) && self.indexes[$0] != nil }) else {
            return "an answer for an index that was not offered"
        }
        guard hello.isFrom(reply.instance) else {
            return "another instance on the same connection"
        }
        return nil
    }

    /// Returns the rule that an acknowledgement breaks, or nil.
    func violation(by verdicts: [Frame.Verdict]) -> String? {
        guard hello.isReceived,
            verdicts.allSatisfy({ !indexes.isOurs($0.index) && indexes[$0.index] != nil })
        else { return "an acknowledgement of nothing" }
        return nil
    }

    /// Whether another network may be admitted; at most `limit` networks are, and one that is admitted counts once.
    func hasRoom(for network: NetworkId, limit: Int) -> Bool {
        peerings[network] != nil || peerings.count < limit
    }

    /// Notes that this node showed its token of a network; returns whether nothing was agreed on the network before.
    mutating func noteOffer(of network: NetworkId, under index: UInt8) -> Bool {
        guard peerings[network] == nil else { return false }
        peerings[network] = Peering(state: .offered, index: index)
        return true
    }

    /// Notes a good token that the peer showed.
    ///
    /// If this node's own token is still under way, the peer's already answers it.
    mutating func noteProof(_ offer: Frame.Offer) {
        let network = offer.token.networkId
        indexes.note(offer.index, of: network)
        var peering = peerings[network] ?? Peering(state: .proved, index: offer.index)
        if peering.state == .offered { peering.state = .proved }
        peering.token = offer.token
        peerings[network] = peering
    }
}
