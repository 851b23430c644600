internal import Bytes
internal import Identity
internal import Testing

@testable internal import Discovery

/// One device key under two boot ids: a restart, or a key that runs on two machines.
@Suite("One key, two boots") struct TwinTests {
    private let network: CheapNetwork
    private var lan = Lan(Lan.Quality(loss: 0.05), seed: 1)

    init() throws {
        network = try CheapNetwork()
        lan.isRecording = true
    }

    private mutating func add(_ seed: UInt64, start: UInt64 = 0, at time: Duration) throws -> Int {
        let index = lan.add(.cheap(seed, start: start))
        lan.input(.networkAdded(try network.token(for: lan.nodes[index].peerId), network.secrets), to: index)
        lan.start(index, at: time)
        return index
    }

    private func reports(of index: Int) -> Int {
        lan.nodes[index].effects.count { effect in
            if case .deviceKeyUsedTwice = effect { true } else { false }
        }
    }

    @Test mutating func `a key on two machines is reported once, to its owners and to the others`() throws {
        let watcher = try add(1, at: .zero)
        let twins = try [add(2, start: 1, at: .seconds(1)), add(2, start: 2, at: .seconds(3))]
        lan.run(until: .seconds(120))
        let twin = lan.nodes[twins[0]].peerId
        #expect(lan.nodes[twins[1]].peerId == twin)
        for index in [watcher] + twins { #expect(reports(of: index) == 1, "node \(index)") }
        // Both are listed, and neither is reported lost.
        let addresses = lan.nodes[watcher].discovery.peers(in: network.id).first?.addresses
        #expect(Set(addresses ?? []) == Set(twins.map { lan.nodes[$0].address }))
        #expect(lan.nodes[watcher].lost.isEmpty)
        for index in twins {
            #expect(lan.nodes[index].firstHeard[twin] == nil)
            #expect(lan.nodes[index].discovery.peers(in: network.id).map(\.peer) == [lan.nodes[watcher].peerId])
        }
    }

    @Test mutating func `a key on two machines is reported again, with both addresses, while both run`() throws {
        let watcher = try add(1, at: .zero)
        let twins = try [add(2, start: 1, at: .seconds(1)), add(2, start: 2, at: .seconds(3))]
        lan.run(until: .seconds(800))
        for index in [watcher] + twins { #expect(reports(of: index) == 3, "node \(index)") }
        let addresses = lan.nodes[watcher].effects.compactMap { effect -> [SocketAddress]? in
            if case .deviceKeyUsedTwice(_, _, let addresses) = effect { addresses } else { nil }
        }
        #expect(addresses.allSatisfy { Set($0) == Set(twins.map { lan.nodes[$0].address }) })
        for twin in twins { lan.crash(twin) }
        lan.run(until: .seconds(1600))
        #expect(reports(of: watcher) == 3)
    }

    @Test mutating func `when one of two leaves the peer stays, until the other leaves too`() throws {
        let watcher = try add(1, at: .zero)
        let twins = try [add(2, start: 1, at: .seconds(1)), add(2, start: 2, at: .seconds(3))]
        lan.run(until: .seconds(40))
        let twin = lan.nodes[twins[0]].peerId
        lan.input(.stopping, to: twins[0])
        lan.crash(twins[0])
        lan.run(until: .seconds(41))
        #expect(lan.nodes[watcher].lost[twin] == nil)
        #expect(lan.nodes[watcher].addresses[twin]?.isEmpty == false)
        lan.run(until: .seconds(80))
        #expect(lan.nodes[watcher].addresses[twin] == [lan.nodes[twins[1]].address])
        lan.crash(twins[1])
        lan.run(until: .seconds(130))
        #expect(lan.nodes[watcher].lost[twin] != nil)
    }

    @Test mutating func `a crash and a restart is no second machine`() throws {
        let watcher = try add(1, at: .zero)
        let first = try add(2, start: 1, at: .seconds(1))
        lan.run(until: .seconds(25))
        lan.crash(first)
        let second = try add(2, start: 2, at: .seconds(26))
        lan.nodes[second].address = lan.nodes[first].address
        lan.run(until: .seconds(120))
        for index in [watcher, second] { #expect(reports(of: index) == 0) }
        #expect(lan.nodes[watcher].lost.isEmpty)
        #expect(lan.nodes[watcher].discovery.peers(in: network.id).count == 1)
    }

    @Test mutating func `two machines with one key are reported at half an hour of clock difference`() throws {
        let watcher = try add(1, at: .zero)
        let twins = try [add(2, start: 1, at: .seconds(1)), add(2, start: 2, at: .seconds(3))]
        lan.nodes[twins[1]].clockOffset = -1800
        lan.run(until: .seconds(120))
        for index in [watcher] + twins { #expect(reports(of: index) == 1, "node \(index)") }
    }
}
