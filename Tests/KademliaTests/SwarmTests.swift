internal import Bytes
internal import Identity
internal import Kademlia
internal import TestSupport
internal import Testing

/// Many tables together.
///
/// The printed figures are drawn from fixed seeds and are the same in every run.
@Suite("Swarms") struct SwarmTests {
    @Test(arguments: [2, 3, 20, 60]) func `every node of a small network knows its nearest`(count: Int) throws {
        let swarm = try Swarm.settled(count, seed: 1)
        print(swarm.summary)
        #expect(swarm.shareKnowingNeighbours(atLeast: 20) == 1)
    }

    @Test(arguments: [2, 3, 20]) func `in a small network everybody holds every record`(count: Int) throws {
        let swarm = try Swarm.settled(count, seed: 2)
        let key = Array("key".utf8)
        let put = swarm.query(.put(key: key, value: [1], lifetimeSeconds: 3600), at: 0)
        guard case .stored(_, let replicas)? = put?.outcome else {
            Issue.record("\(String(describing: put?.outcome))")
            return
        }
        #expect(replicas == min(15, count - 1))
        swarm.run(for: .seconds(5))
        for node in swarm.running {
            #expect(swarm.nodes[node].table.health.records == 1)
            let get = swarm.query(.get(key: key), at: node)
            guard case .found(let records)? = get?.outcome else { continue }
            #expect(records.map(\.value) == [[1]])
            let none = swarm.query(.get(key: [7]), at: node)
            #expect(none?.outcome == .found([]))
        }
    }

    @Test func `with lost messages, lookups of 300 nodes end at the true nearest within three hops`() throws {
        let swarm = try Swarm.settled(300, seed: 2, loss: 0.05)
        swarm.run(for: .seconds(400))
        print(swarm.summary)
        let figures = swarm.measureLookups(100)
        print(figures)
        #expect(swarm.shareKnowingNeighbours(atLeast: 20) >= 0.95)
        #expect(swarm.shareKnowingNeighbours(atLeast: 18) >= 0.99)
        #expect(figures.right >= 97 && figures.failed == 0)
        #expect(figures.hops.max() ?? 9 <= 5)
        print("puts:", swarm.measurePuts(50))
        for reading in [Kademlia.Reading.first, .agreeing(5), .everyone] {
            print("gets, \(reading):", swarm.measureGets(50, reading))
        }
        let idle = swarm.messageCount
        swarm.run(for: .seconds(600))
        let perSecond = Double(swarm.messageCount - idle) / 600 / 300
        print("idle: \(perSecond) messages per node and second")
        #expect(perSecond <= 0.2)
    }

    @Test func `of two conditional writes at once at most one succeeds`() throws {
        let swarm = try Swarm.settled(40, seed: 3)
        let key = Array("counter".utf8)
        var succeeded = 0
        var current: UInt64?
        for _ in 0..<12 {
            let condition = current.map { Kademlia.Condition.ifVersion($0) } ?? .ifAbsent
            let writers = [3, 17, 29]
            let ids = writers.map { node in
                let put = Kademlia.Request.put(
                    key: key,
                    value: [UInt8(node)],
                    condition: condition,
                    lifetimeSeconds: 3600
                )
                return swarm.request(put, at: node)
            }
            swarm.run(for: .seconds(15))
            let versions = zip(writers, ids).compactMap { writer, id -> UInt64? in
                guard case .stored(let record, _)? = swarm.results[writer]?[id]?.outcome else { return nil }
                return record.version
            }
            #expect(versions.count <= 1)
            succeeded += versions.count
            current = versions.first ?? current
            let get = swarm.query(.get(key: key), at: 8)
            guard case .found(let records)? = get?.outcome else { continue }
            #expect(records.first?.version == current)
        }
        print("\(succeeded) of 12 races had a winner")
        #expect(succeeded >= 3)
    }

    @Test func `what is deleted stays deleted, also where a replica was offline`() throws {
        let swarm = try Swarm.settled(30, seed: 6)
        let key = Array("key".utf8)
        _ = swarm.query(.put(key: key, value: [1], lifetimeSeconds: 86_400), at: 0)
        let location = Record.location(of: key, in: swarm.network.id)
        let sleeper = swarm.nearest(to: location, count: 2, excluding: 0)[0]
        swarm.stop(sleeper, isCrash: true)
        swarm.run(for: .seconds(30))
        let deletion = swarm.query(.delete(key: key), at: 0)
        guard case .stored? = deletion?.outcome else {
            Issue.record("\(String(describing: deletion?.outcome))")
            return
        }
        swarm.start(sleeper, knowing: [1, 2])
        for reading in [Kademlia.Reading.agreeing(5), .everyone] {
            let get = swarm.query(.get(key: key), at: 9, policy: Kademlia.RequestPolicy(reading: reading))
            #expect(get?.outcome == .found([]))
        }
        swarm.run(for: .seconds(60))
        let id = RecordId(location: location, writer: swarm.nodes[0].peerId)
        #expect(swarm.nodes[sleeper].disk[id]?.isTombstone == true)
    }

    @Test func `the same seed gives the same run, another one another`() throws {
        func figures(_ seed: UInt64) throws -> [Int] {
            let swarm = try Swarm.settled(25, seed: seed, loss: 0.05)
            _ = swarm.query(.put(key: [1], value: [1], lifetimeSeconds: 60), at: 3)
            return [swarm.messageCount, swarm.byteCount, swarm.dialCount, Int(swarm.order)]
        }
        let first = try figures(1)
        #expect(try figures(1) == first)
        #expect(try figures(2) != first)
    }

    @Test func `no record is lost while half of the nodes come and go`() throws {
        let swarm = try Swarm.settled(80, seed: 7, loss: 0.05)
        let records = try swarm.putMany(60)
        swarm.beginChurn()
        var knowing: [Double] = []
        for _ in 0..<24 {
            swarm.run(for: .seconds(900))
            knowing.append(swarm.shareKnowingNeighbours(atLeast: 20))
        }
        let replicas = swarm.replicas(of: records).sorted()
        print("after six hours of churn:", swarm.summary)
        print("holders among the 20 nearest: least \(replicas[0]), \(percentiles(replicas))")
        print("know all 20: \(knowing.reduce(0, +) / 24)")
        #expect(replicas[0] >= 10)
        #expect(replicas[replicas.count / 2] >= 18)
        #expect(knowing.reduce(0, +) / 24 >= 0.9)
    }

    /// Partitions the nodes for two minutes, after which one beacon arrives, or for an hour, after which none does.
    @Test(arguments: [(nodes: 40, seconds: 120, isHeard: true), (nodes: 70, seconds: 3600, isHeard: false)])
    func `two partitioned halves reconnect and agree on the newest record`(
        nodes: Int,
        seconds: Int,
        isHeard: Bool
    ) throws {
        let swarm = try Swarm.settled(nodes, seed: 8)
        let key = Array("key".utf8)
        _ = swarm.query(.put(key: key, value: [1], lifetimeSeconds: 86_400), at: 0)
        swarm.setPartition { $0 % 2 == 0 }
        swarm.run(for: .seconds(seconds))
        _ = swarm.query(.put(key: key, value: [2], lifetimeSeconds: 86_400), at: 0)
        let other = swarm.query(.get(key: key), at: 1)
        guard case .found(let old)? = other?.outcome else {
            Issue.record("\(String(describing: other?.outcome))")
            return
        }
        #expect(old.map(\.value) == [[1]])
        swarm.setPartition(nil)
        if isHeard { swarm.feed(0, .contactHeard(swarm.contact(1))) }
        swarm.run(for: .seconds(900))
        #expect(swarm.shareKnowingNeighbours(atLeast: 20) == 1)
        let get = swarm.query(.get(key: key), at: 1, policy: Kademlia.RequestPolicy(reading: .everyone))
        guard case .found(let records)? = get?.outcome else { return }
        #expect(records.map(\.value) == [[2]])
    }
}
