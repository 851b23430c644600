internal import Bytes
internal import Foundation
internal import Identity
internal import Kademlia
internal import TestSupport
internal import Testing

/// A fifth of the members, or most of those at one place, work against the others.
///
/// `SWARM=1000 swift test --filter HostileTests` measures in a network of a thousand.
@Suite("Hostile members") struct HostileTests {
    private static let size = ProcessInfo.processInfo.environment["SWARM"].flatMap { Int($0) }

    /// A network in which every fifth is hostile, and the others.
    private func besetSwarm(_ count: Int, by hostility: Hostility, seed: UInt64) throws -> (Swarm, honest: [Int]) {
        let swarm = try Swarm.settled(Self.size ?? count, seed: seed)
        swarm.corrupt(swarm.running.filter { $0 % 5 == 4 }, as: hostility)
        swarm.run(for: .seconds(400))
        return (swarm, swarm.running.filter { $0 % 5 != 4 })
    }

    @Test(arguments: Hostility.allCases)
    func `lookups find the nearest honest members among a fifth of liars`(hostility: Hostility) throws {
        let (swarm, honest) = try self.besetSwarm(150, by: hostility, seed: 3)
        let count = Self.size == nil ? 40 : 300
        var first = 0
        var ten = 0
        var took: [Duration] = []
        for _ in 0..<count {
            let asker = try #require(honest.randomElement(using: &swarm.random))
            let target = try #require(Bytes32(swarm.random.bytes(32)))
            guard let result = swarm.query(.nearest(to: target), at: asker), case .peers(let peers) = result.outcome
            else {
                continue
            }
            let found = Set(peers.map(\.peerId))
            let truth = swarm.nearest(to: target, count: 10, excluding: asker, among: honest)
            if found.contains(swarm.nodes[truth[0]].peerId) { first += 1 }
            if truth.allSatisfy({ found.contains(swarm.nodes[$0].peerId) }) { ten += 1 }
            took.append(result.took)
        }
        print(
            "\(hostility): of \(count) lookups \(first) have the nearest honest member, \(ten) the ten nearest,",
            percentiles(took)
        )
        #expect(first * 100 >= count * 99)
        // A lookup does not wait for every late member; where all addresses are forged, one of the ten may be late.
        #expect(ten * 100 >= count * (hostility == .forgingContacts ? 92 : 97))
    }

    @Test(arguments: Hostility.allCases)
    func `records written and read among a fifth of liars are the newest`(hostility: Hostility) throws {
        let (swarm, honest) = try self.besetSwarm(100, by: hostility, seed: 4)
        let count = Self.size == nil ? 20 : 200
        var right = 0
        for index in 0..<count {
            let key = Array("key \(index)".utf8)
            let writer = try #require(honest.randomElement(using: &swarm.random))
            let reader = try #require(honest.randomElement(using: &swarm.random))
            for value: UInt8 in 1...2 {
                let put = swarm.query(.put(key: key, value: [value], lifetimeSeconds: 3600), at: writer)
                guard case .stored(_, let replicas)? = put?.outcome, replicas >= 10 else {
                    Issue.record("\(hostility), key \(index): \(String(describing: put?.outcome))")
                    continue
                }
            }
            let get = swarm.query(.get(key: key), at: reader)
            if case .found(let records)? = get?.outcome, records.map(\.value) == [[2]] { right += 1 }
        }
        print("\(hostility): \(right) of \(count) reads are the newest")
        #expect(right * 100 >= count * 99)
    }

    @Test func `sixteen of the twenty nearest cannot hide the newest record`() throws {
        let readings = [Kademlia.RequestPolicy().reading, .everyone]
        var right = [0, 0]
        for seed in 1...4 as ClosedRange<UInt64> {
            let swarm = try Swarm.settled(120, seed: 10 + seed)
            let key = Array("wanted".utf8)
            let location = Record.location(of: key, in: swarm.network.id)
            let sybils = try swarm.addSybils(16, near: location, bits: 9)
            swarm.run(for: .seconds(60))
            let nearest = swarm.nearest(to: location, count: 20)
            #expect(nearest.prefix(16).allSatisfy { sybils.contains($0) })
            let writer = 0
            _ = swarm.query(.put(key: key, value: [1], lifetimeSeconds: 86_400), at: writer)
            let id = RecordId(location: location, writer: swarm.nodes[writer].peerId)
            let old = try #require(swarm.nodes[sybils[0]].disk[id])
            swarm.corrupt(sybils, toShow: old)
            _ = swarm.query(.put(key: key, value: [2], lifetimeSeconds: 86_400), at: writer)
            swarm.run(for: .seconds(30))
            for (policy, reading) in readings.enumerated() {
                for _ in 0..<10 {
                    let honest = swarm.running.filter { !sybils.contains($0) && $0 != writer }
                    let reader = try #require(honest.randomElement(using: &swarm.random))
                    let get = swarm.query(.get(key: key), at: reader, policy: Kademlia.RequestPolicy(reading: reading))
                    if case .found(let records)? = get?.outcome, records.map(\.value) == [[2]] { right[policy] += 1 }
                }
            }
        }
        print("\(right) of 40 reads each are right with 16 of the 20 nearest hostile, \(readings)")
        for count in right { #expect(count >= 39) }
    }

    @Test func `invented contacts enter no table, and few of them are dialled`() throws {
        var dialogue = try Dialogue()
        let liar = dialogue.peers[1]
        dialogue.connect(1)
        var random = SeededGenerator(seed: 7)
        for round in 0..<20 {
            var dialled = 0
            dialogue.advance(by: 400) { dialogue in
                let inventions = (0..<20).compactMap { index in
                    Bytes32(dialogue.peers[0].bytes.prefix(4) + random.bytes(28)).map {
                        let address = Swarm.address(of: 1000 + round * 20 + index)
                        return Contact(peerId: PeerId(words: $0), addresses: [address])
                    }
                }
                dialogue.answerAll(as: 1, naming: inventions)
                let invented = dialogue.effects.compactMap { effect in
                    if case .send(let peer, _, _) = effect, peer != liar { peer } else { nil }
                }
                dialled += invented.count
                dialogue.forget()
                for peer in invented { dialogue.feed(.unreachable(peer)) }
                return false
            }
            #expect(dialled <= 20)
        }
        #expect(dialogue.table.contacts.map(\.peerId) == [liar])
        #expect(dialogue.table.health.buckets == 1)
    }

    @Test func `a forged record is ignored, and its sender is reported and dropped`() throws {
        let swarm = try Swarm.settled(30, seed: 5)
        let key = Array("key".utf8)
        _ = swarm.query(.put(key: key, value: [1], lifetimeSeconds: 3600), at: 0)
        let location = Record.location(of: key, in: swarm.network.id)
        let liar = swarm.nearest(to: location, count: 1, excluding: 1)[0]
        let genuine = try #require(swarm.nodes[liar].disk.values.first)
        var bytes = genuine.binary
        bytes[4 + key.count + 32 + 8 + 64 + 7] ^= 1  // another version under the same signature
        let forged = try Record(binary: bytes)
        swarm.nodes[liar].hostile = { rpc, _ in
            guard rpc.isAboutRecords else { return nil }
            return .answer(.records([Message.Found(head: forged.head, value: forged.value)], []))
        }
        let get = swarm.query(.get(key: key), at: 1, policy: Kademlia.RequestPolicy(reading: .everyone))
        guard case .found(let records)? = get?.outcome else {
            Issue.record("\(String(describing: get?.outcome))")
            return
        }
        #expect(records.map(\.value) == [[1]])
        #expect(swarm.violations.map(\.named) == [swarm.nodes[liar].peerId])
        #expect(swarm.violations.first?.reason.hasPrefix("a forged record") == true)
    }

    @Test func `a flood of requests is cut off and costs no other member an answer`() throws {
        var dialogue = try Dialogue()
        dialogue.connect(1, 2)
        dialogue.forget()
        let rpc = Message.RPC.findPeers(target: dialogue.peers[3].words)
        var answered = 0
        for _ in 0..<12_500 where dialogue.query(rpc, as: 1) != nil {
            answered += 1
            dialogue.forget()
        }
        #expect(answered == Kademlia.Limits().requestBurst)
        #expect(dialogue.violators == [dialogue.peers[1]])
        #expect(dialogue.query(rpc, as: 2) != nil)
        dialogue.advance(by: 10)
        #expect(dialogue.query(rpc, as: 1) != nil)
    }

    @Test func `a member that reconnects gets no new request budget`() throws {
        var dialogue = try Dialogue()
        dialogue.connect(1, 2)
        dialogue.forget()
        let rpc = Message.RPC.findPeers(target: dialogue.peers[3].words)
        for _ in 0..<Kademlia.Limits().requestBurst {
            #expect(dialogue.query(rpc, as: 1) != nil)
            dialogue.forget()
        }
        for _ in 0..<3 {
            dialogue.feed(.memberDown(dialogue.peers[1]))
            dialogue.connect(1)
            dialogue.forget()
            #expect(dialogue.query(rpc, as: 1) == nil)
        }
        dialogue.feed(.memberDown(dialogue.peers[1]))
        dialogue.advance(by: 10)
        dialogue.connect(1)
        dialogue.forget()
        #expect(dialogue.query(rpc, as: 1) != nil)
    }

    @Test func `an invalid message or an answer to another request is a protocol violation`() throws {
        var dialogue = try Dialogue()
        dialogue.connect(1)
        let greeting = try #require(dialogue.queries(to: 1).first)
        for bytes in [[1, 2, 3], [UInt8](repeating: 1, count: Message.byteLimit + 1)] {
            dialogue.feed(.messageReceived(from: dialogue.peers[1], bytes))
            #expect(dialogue.violators == [dialogue.peers[1]])
            dialogue.forget()
        }
        dialogue.answer(greeting.number, .wanted([]), as: 1)
        #expect(dialogue.violators == [dialogue.peers[1]])
        dialogue.forget()
        // A response without a request may be late, an RPC of an unknown kind may be honest, non-members are ignored.
        dialogue.answer(greeting.number, .peers([]), as: 1)
        dialogue.feed(.messageReceived(from: dialogue.peers[1], [99, 0, 0, 0, 1]))
        dialogue.feed(.messageReceived(from: dialogue.peers[2], [1, 2, 3]))
        #expect(dialogue.effects.isEmpty)
    }
}
