internal import Identity
internal import Kademlia
internal import Testing

@testable internal import NodeCore

/// Hash tables inside of nodes: their messages are sent to members only, dial when they must, and cost liars the connection.
@Suite("Hash tables of nodes") struct HashTableTests {
    private let key = Array("key".utf8)

    /// Members each of which has only the address of the first one.
    private func net(_ count: Int) throws -> CoreNetwork {
        var net = CoreNetwork()
        for _ in 0..<count { try net.addMember() }
        for node in 1..<count { net.connect(node, 0) }
        net.advance(by: .seconds(5))
        return net
    }

    /// Performs a request, advances the time, and returns its result.
    private func performRequest(
        _ request: Kademlia.Request,
        of node: Int,
        network: NetworkId? = nil,
        in net: inout CoreNetwork
    ) -> Kademlia.Outcome? {
        let id = Kademlia.RequestId(UInt64(net.nodes[node].effects.count))
        net.feed(node, .table(.requested(id, network ?? net.network(), request, Kademlia.RequestPolicy())))
        net.deliver()
        net.advance(by: .seconds(11))
        for case .table(_, .finished(id, let outcome, _)) in net.nodes[node].effects { return outcome }
        return nil
    }

    private func put(_ value: UInt8) -> Kademlia.Request {
        .put(key: self.key, value: [value], lifetimeSeconds: 3600)
    }

    @Test func `a member that knows one other connects to all and finds every stored record`() throws {
        var net = try self.net(6)
        for node in 0..<6 { #expect(net.nodes[node].core.admittedPeers(in: net.network()).count == 5) }
        guard case .stored(_, let replicas) = self.performRequest(self.put(7), of: 2, in: &net) else {
            Issue.record("nothing was stored")
            return
        }
        #expect(replicas == 5)
        for node in 0..<6 {
            guard case .found(let records) = self.performRequest(.get(key: self.key), of: node, in: &net) else {
                Issue.record("node \(node) found nothing")
                continue
            }
            #expect(records.map(\.value) == [[7]])
        }
    }

    @Test func `a member without a hash table is in no table and in no answer`() throws {
        var net = try self.net(3)
        net.hasTables = false
        let watch = try net.addMember()
        net.connect(watch, 0)
        net.advance(by: .seconds(5))
        #expect(net.nodes[0].core.admittedPeers(in: net.network()).contains(net.nodes[watch].peerId))
        guard case .stored(_, let replicas) = self.performRequest(self.put(7), of: 0, in: &net) else {
            Issue.record("nothing was stored")
            return
        }
        #expect(replicas == 2)
        for node in 1..<3 {
            #expect(self.performRequest(.nearest(to: net.nodes[watch].peerId.words), of: node, in: &net) != nil)
            let contacts = net.nodes[node].core.contacts(in: net.network())
            #expect(!contacts.contains { $0.peerId == net.nodes[watch].peerId })
        }
        #expect(net.nodes[watch].core.admittedPeers(in: net.network()) == [net.nodes[0].peerId])
    }

    @Test func `a request outside a membership fails immediately`() throws {
        var net = try self.net(2)
        #expect(
            self.performRequest(.get(key: self.key), of: 1, network: net.network(9), in: &net) == .failed(.notAMember)
        )
    }

    @Test func `a malformed message closes only its sender's connection, with the reason`() throws {
        var net = try self.net(3)
        let id = try #require(net.nodes[1].links.first { $0.value.node == 0 }?.key)
        net.forge(.dht(index: 0, [1, 0]), from: 1, on: id)
        #expect(net.closeCodes(by: 0) == [.protocolViolation])
        let reasons = net.refusals(by: 0).compactMap { refusal -> String? in
            guard case .protocolViolation(let what) = refusal else { return nil }
            return what
        }
        #expect(reasons.count == 1 && reasons[0].contains("message"))
        #expect(net.areAdmitted(0, 2))
    }

    @Test func `a message in a network without the sender's admission is ignored`() throws {
        var net = try self.net(2)
        let id = try #require(net.nodes[1].links.keys.first)
        net.forge(.dht(index: 5, [99, 1, 2]), from: 1, on: id)
        #expect(net.closeCodes(by: 0).isEmpty)
        #expect(net.areAdmitted(0, 1))
    }

    @Test func `a request fails with isolation or a timeout while no peer can be dialled`() throws {
        var net = CoreNetwork()
        for _ in 0..<2 { try net.addMember() }
        net.isOffline = true
        net.introduce(1, to: 0)
        let outcome = self.performRequest(.get(key: self.key), of: 0, in: &net)
        guard case .failed(let error)? = outcome else {
            Issue.record("\(String(describing: outcome))")
            return
        }
        #expect(error == .isolated || error == .timedOut(answered: 0))
    }

    @Test func `the records of a revoked member are deleted everywhere`() throws {
        var net = try self.net(4)
        _ = self.performRequest(self.put(7), of: 3, in: &net)
        let id = RecordId(location: Record.location(of: self.key, in: net.network()), writer: net.nodes[3].peerId)
        for node in 0..<3 { #expect(net.nodes[node].core.storedVersion(of: id, in: net.network()) != nil) }
        net.feed(0, .membership(.revocationsAdded([try net.revocation(of: net.nodes[3].peerId)])))
        net.deliver()
        for node in 0..<3 {
            #expect(net.nodes[node].core.storedVersion(of: id, in: net.network()) == nil)
            #expect(net.nodes[node].effects.contains(.table(net.network(), .forget(id))))
        }
        #expect(self.performRequest(.get(key: self.key), of: 1, in: &net) == .found([]))
    }

    @Test func `messages that wait for a dial are bounded`() throws {
        var limits = Limits()
        limits.pendingMessagesPerPeer = 2
        var net = CoreNetwork()
        try net.addMember(limits: limits)
        try net.addMember()
        net.isHoldingDials = true
        net.introduce(1, to: 0)
        for number in 0..<8 {
            let request = Kademlia.Request.get(key: [UInt8(number + 1)])
            net.feed(0, .table(.requested(.init(UInt64(number)), net.network(), request, Kademlia.RequestPolicy())))
        }
        #expect(net.nodes[0].core.pendingMessages.count(for: net.nodes[1].peerId) <= 2)
        #expect(net.pendingDials.count == 1)
    }
}
