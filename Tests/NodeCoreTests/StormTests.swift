internal import Identity
internal import OrderedCollections
internal import TestSupport
internal import Testing

@testable internal import NodeCore

@Suite("Storms") struct StormTests {
    @Test(arguments: [UInt64(1), 2, 3, 4, 5, 6, 7, 8]) func `everybody is admitted after a storm`(seed: UInt64) throws {
        var storm = try Storm(seed: seed, count: 5 + Int(seed % 5))
        for _ in 0..<3_000 { try storm.step() }
        try storm.calm()
        let net = storm.net
        for (node, other) in storm.pairs {
            #expect(net.areAdmitted(node, other), "seed \(seed): \(node) and \(other)")
            #expect(storm.liveLinks(node, other) == 1, "seed \(seed): links of \(node) and \(other)")
        }
        for node in storm.living {
            let core = net.nodes[node].core
            #expect(core.peers.dialCount == 0)
            #expect(core.connections.states.values.allSatisfy { $0.isAdmitted })
        }
    }

    @Test func `two runs of one seed give the same effects`() throws {
        let owner = generateMasterKey()
        let keys = (0..<40).map { _ in generatePeerKey() }
        var effects: [[[Effect]]] = []
        for _ in 0..<2 {
            var storm = try Storm(seed: 99, count: 6, owner: owner, keys: keys)
            for _ in 0..<1_500 { try storm.step() }
            try storm.calm()
            effects.append(storm.net.nodes.map(\.effects))
        }
        #expect(effects[0] == effects[1])
        #expect(effects[0].joined().count > 1_000)
    }
}

/// Nodes that dial each other while connections break, frames of different connections overtake each other and nodes
/// restart.
struct Storm {
    var net: CoreNetwork
    private var random: TestSupport.SplitMix64
    private var keys: [Ed25519KeyPair]
    /// The nodes that live.
    private(set) var living: [Int] = []
    private var restarts: UInt8 = 1

    init(seed: UInt64, count: Int, owner: Ed25519KeyPair = generateMasterKey(), keys: [Ed25519KeyPair]? = nil) throws {
        self.net = CoreNetwork(owner: owner)
        self.random = TestSupport.SplitMix64(seed: seed)
        self.keys = keys ?? (0..<count).map { _ in generatePeerKey() }
        self.net.isHolding = true
        self.net.isHoldingDials = true
        for index in 0..<count { self.living.append(try self.net.addMember(key: self.keys[index])) }
        for (node, other) in self.pairs {
            self.connect(node, other)
            self.connect(other, node)
        }
    }

    var pairs: [(Int, Int)] {
        self.living.indices.flatMap { first in
            self.living.indices.dropFirst(first + 1).map { (self.living[first], self.living[$0]) }
        }
    }

    private mutating func connect(_ node: Int, _ other: Int) {
        self.net.introduce(other, to: node)
        self.net.feed(node, .peer(.wanted(self.net.nodes[other].peerId)))
    }

    func liveLinks(_ node: Int, _ other: Int) -> Int {
        self.net.nodes[node].links.values.count { $0.node == other }
    }

    mutating func step() throws {
        switch Int.random(in: 0..<100, using: &self.random) {
        case 0..<60: self.deliverOne()
        case 60..<80: self.finishOneDial()
        case 80..<90: self.net.advance(by: .milliseconds(Int64.random(in: 1...2_000, using: &self.random)))
        case 90..<96: self.breakOne()
        case 96: try self.restartOne()
        default: self.wantOne()
        }
        self.check()
    }

    /// Frames of one connection keep their order, those of different ones do not.
    private mutating func deliverOne() {
        guard let flight = self.net.inFlight.randomElement(using: &self.random),
            let first = self.net.inFlight.firstIndex(where: { $0.id == flight.id && $0.node == flight.node })
        else { return }
        self.net.deliver(at: first)
    }

    private mutating func finishOneDial() {
        guard !self.net.pendingDials.isEmpty else { return }
        let position = Int.random(in: 0..<self.net.pendingDials.count, using: &self.random)
        self.net.finishDial(at: position, succeeds: Int.random(in: 0..<5, using: &self.random) > 0)
    }

    private mutating func breakOne() {
        let node = self.living[Int.random(in: 0..<self.living.count, using: &self.random)]
        guard let id = self.net.nodes[node].links.keys.sorted().randomElement(using: &self.random) else { return }
        self.net.breakLink(id, of: node)
    }

    private mutating func wantOne() {
        let order = self.living.shuffled(using: &self.random)
        self.net.feed(order[0], .peer(.wanted(self.net.nodes[order[1]].peerId)))
    }

    /// Kills one process, and restarts it with the same key at another address.
    private mutating func restartOne() throws {
        let index = Int.random(in: 0..<self.living.count, using: &self.random)
        let old = self.living[index]
        self.net.breakAll(of: old)
        self.net.nodes[old].wake = nil
        self.net.nodes[old].isRunning = false
        self.net.pendingDials.removeAll { $0.node == old }
        self.restarts += 1
        let new = try self.net.addMember(instance: self.restarts, key: self.net.nodes[old].key)
        self.living[index] = new
        for other in self.living where other != new {
            self.connect(new, other)
            self.connect(other, new)
        }
    }

    /// Delivers everything without further faults until all nodes settle, and checks the invariants.
    mutating func calm() throws {
        for _ in 0..<2_000 {
            while !self.net.inFlight.isEmpty { self.deliverOne() }
            while !self.net.pendingDials.isEmpty { self.net.finishDial(at: 0) }
            self.net.advance(by: .milliseconds(500))
        }
        self.check()
    }

    /// Never an admission without two tokens that are good at this moment.
    private func check() {
        for node in self.living {
            let core = self.net.nodes[node].core
            for state in core.connections.states.values {
                for (network, peering) in state.peerings where peering.state == .admitted {
                    #expect(peering.token?.peerId == state.link.peer)
                    #expect(core.memberships.isGood(peering, in: network, self.net.now))
                }
            }
        }
    }
}
