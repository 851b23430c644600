internal import Identity

@testable internal import NodeCore

// The outcome of the exchange.
extension CoreNetwork {
    func isAdmitted(_ node: Int, _ other: Int, network index: UInt32 = 0) -> Bool {
        self.nodes[node].core.admittedPeers(in: self.network(index)).contains(self.nodes[other].peerId)
    }

    func areAdmitted(_ node: Int, _ other: Int, network index: UInt32 = 0) -> Bool {
        self.isAdmitted(node, other, network: index) && self.isAdmitted(other, node, network: index)
    }

    func refusals(by node: Int) -> [Refusal] {
        self.nodes[node].effects.compactMap { effect in
            guard case .peer(.refused(_, _, let refusal)) = effect else { return nil }
            return refusal
        }
    }

    func refusals(of node: Int) -> [CloseCode] {
        self.nodes[node].effects.compactMap { effect in
            guard case .peer(.refusedByPeer(_, _, let code)) = effect else { return nil }
            return code
        }
    }

    func closeCodes(by node: Int) -> [CloseCode] {
        self.nodes[node].effects.compactMap { effect in
            guard case .connection(.close(_, let code, _)) = effect else { return nil }
            return code
        }
    }

    /// Frames that `node` sent.
    func frames(by node: Int) -> [Frame] {
        self.nodes[node].effects.compactMap { effect in
            guard case .connection(.send(_, let frame)) = effect else { return nil }
            return frame
        }
    }

    /// Returns the number of dials by `node`.
    func dials(by node: Int) -> Int {
        self.nodes[node].effects.count { if case .peer(.dial) = $0 { true } else { false } }
    }

    func count(by node: Int, where isMeant: (Effect) -> Bool) -> Int {
        self.nodes[node].effects.count(where: isMeant)
    }

    /// The dialler's id of the newest link.
    var lastLink: ConnectionId { ConnectionId(self.connectionCount) }

    /// The responder's id of the newest link.
    var lastFarLink: ConnectionId { ConnectionId(self.connectionCount + 1) }

    /// Shows one token in the name of `from`; returns the code with which `to` closed, or nil if it answered.
    mutating func show(_ token: AccessToken, from: Int, to: Int, index: UInt8 = 0) throws -> CloseCode? {
        let before = self.closeCodes(by: to).count
        self.bareLink(from, to)
        self.forge(try .showing([token], from: index), from: from, on: self.lastLink)
        return self.closeCodes(by: to).dropFirst(before).first
    }
}

extension Frame {
    /// A hello of instance 9 with these tokens under consecutive indexes of one half.
    static func showing(_ tokens: [AccessToken], from first: UInt8 = 0, instance: UInt8 = 9) throws -> Frame {
        let offers = tokens.enumerated().map { Offer(index: first + UInt8(2 * $0), token: $1) }
        return .hello(Hello(instance: try .filled(instance), tokens: offers))
    }
}

extension InstanceId {
    static func filled(_ byte: UInt8) throws -> InstanceId {
        try InstanceId(bytes: [UInt8](repeating: byte, count: InstanceId.byteCount))
    }
}
