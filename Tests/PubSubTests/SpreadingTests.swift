internal import Identity
internal import PubSub
internal import TestSupport
internal import Testing

@Suite("How events spread") struct SpreadingTests {
    @Test func `every member gets every event once and in order`() throws {
        let party = try Party(30)
        for first in party.members.indices {
            for step in 1...5 { party.connect(first, (first + step * step) % 30) }
        }
        party.run(for: .seconds(1))
        let sent = (0..<40).map { "event \($0)" }
        for (number, event) in sent.enumerated() {
            party.publish(event, by: number % 2 == 0 ? 3 : 17)
            party.run(for: .milliseconds(number % 7 == 0 ? 400 : 3))
        }
        party.run(for: .seconds(5))
        for member in party.members.indices {
            for publisher in [3, 17] {
                let own = party.members[member].delivered.filter {
                    $0.batch.stream.publisher == party.members[publisher].peerId
                }
                #expect(own.map(\.batch.first) == Array(1...20))
            }
            #expect(party.members[member].missed == 0)
            #expect(party.members[member].violations.isEmpty)
        }
    }

    @Test func `the tree sends few events twice`() throws {
        let party = try Party(40)
        party.connectAll()
        party.run(for: .seconds(1))
        for number in 0..<20 {
            party.publish("warm \(number)", by: 0)
            party.run(for: .seconds(1))
        }
        party.messageCounts = [:]
        for number in 0..<20 {
            party.publish("event \(number)", by: 0)
            party.run(for: .seconds(1))
        }
        let copies = party.messageCounts[4, default: 0] + party.messageCounts[5, default: 0]
        #expect(copies >= 20 * 39)
        #expect(Double(copies) / (20 * 39) - 1 < 0.05)
        #expect(party.members.allSatisfy { $0.delivered.count == 40 })
    }

    @Test func `a publisher delivers its own events to itself`() throws {
        let party = try Party(1)
        party.publish("alone", by: 0)
        #expect(party.texts(of: 0) == ["alone"])
        #expect(party.members[0].isIsolated)
    }

    @Test func `isolation begins and ends with the last neighbour`() throws {
        let party = try Party(2)
        #expect(party.members.allSatisfy { $0.isIsolated })
        party.connect(0, 1)
        party.run(for: .seconds(1))
        #expect(party.members.allSatisfy { !$0.isIsolated })
        party.disconnect(0, 1)
        #expect(party.members.allSatisfy { $0.isIsolated })
    }

    @Test func `events published before a neighbourhood is agreed are delivered`() throws {
        var limits = PubSub.Limits()
        limits.windowBatches = 1
        let party = try Party(2, limits: limits)
        party.connect(0, 1)
        for number in 0..<50 { party.publish("\(number)", by: 0) }
        party.run(for: .seconds(1))
        #expect(party.texts(of: 1) == (0..<50).map(String.init))
        #expect(party.members[1].missed == 0)
        // Of two, neither is a way around the other.
        #expect(party.messageCounts[8] == nil)
    }

    @Test func `a member without other neighbours is accepted, and no neighbour is dropped for it`() throws {
        let party = try Party(60)
        for leaf in 1..<60 { party.connect(0, leaf) }
        party.run(for: .seconds(5))
        party.messageCounts = [:]
        party.run(for: .seconds(60))
        #expect(party.messageCounts.isEmpty)
        party.publish("from the centre", by: 0)
        party.publish("from a leaf", by: 59)
        party.run(for: .seconds(1))
        for leaf in 1..<60 { #expect(Set(party.texts(of: leaf)) == ["from the centre", "from a leaf"]) }
    }

    @Test func `events published in isolation are sent to a later peer`() throws {
        let party = try Party(2)
        party.publish("first", by: 0)
        party.publish("second", by: 0)
        party.run(for: .seconds(60))
        party.connect(0, 1)
        party.run(for: .seconds(2))
        #expect(party.texts(of: 1) == ["first", "second"])
        let delay = party.members[1].delivered.map { party.now - $0.publishedAt }
        #expect(delay.allSatisfy { $0 > .seconds(61) && $0 <= .seconds(62) })
    }

    @Test func `a returning member receives missed events before new ones`() throws {
        let party = try Party(3)
        party.connect(0, 1)
        party.connect(1, 2)
        party.run(for: .seconds(1))
        party.publish("one", by: 0)
        party.run(for: .seconds(1))
        party.disconnect(1, 2)
        for event in ["two", "three", "four"] {
            party.publish(event, by: 0)
            party.run(for: .seconds(1))
        }
        party.connect(1, 2)
        party.publish("five", by: 0)
        party.run(for: .seconds(3))
        #expect(party.texts(of: 2) == ["one", "two", "three", "four", "five"])
        #expect(party.members[2].missed == 0)
    }

    @Test func `events beyond the window are lost and counted`() throws {
        var limits = PubSub.Limits()
        limits.windowBatches = 4
        let party = try Party(2, limits: limits)
        party.connect(0, 1)
        party.run(for: .seconds(1))
        party.publish("one", by: 0)
        party.run(for: .seconds(1))
        party.disconnect(0, 1)
        for number in 2...10 { party.publish("\(number)", by: 0) }
        party.connect(0, 1)
        party.run(for: .seconds(20))
        #expect(party.texts(of: 1) == ["one", "7", "8", "9", "10"])
        #expect(party.members[1].missed == 5)
        party.publish("11", by: 0)
        party.run(for: .seconds(1))
        #expect(party.texts(of: 1).last == "11")
    }

    @Test func `a member with only silent neighbours gets an event from another peer`() throws {
        var limits = PubSub.Limits()
        limits.neighbours = 2
        limits.neighbourLimit = 3
        let party = try Party(12, limits: limits)
        party.connectAll()
        party.run(for: .seconds(1))
        party.publish("before", by: 0)
        party.run(for: .seconds(1))
        let victim = 11
        let peers = party.members.indices.filter {
            $0 != 0 && party.members[victim].exchange.isNeighbour(party.members[$0].peerId)
        }
        #expect(!peers.isEmpty)
        for peer in peers { party.members[peer].isSilent = true }
        if party.members[victim].exchange.isNeighbour(party.members[0].peerId) { party.disconnect(0, victim) }
        party.publish("after", by: 0)
        party.run(for: .seconds(15))
        #expect(party.texts(of: victim) == ["before", "after"])
    }

    @Test func `a slow neighbour gets an IHave first and the event after it caught up`() throws {
        let party = try Party(2)
        party.connect(0, 1)
        party.run(for: .seconds(1))
        party.feed(0, .congestionChanged(party.members[1].peerId, true))
        party.messageCounts = [:]
        party.publish("slowly", by: 0)
        party.run(for: .milliseconds(100))
        #expect(party.messageCounts[4] == nil)
        #expect(party.messageCounts[6] == 1)
        party.feed(0, .congestionChanged(party.members[1].peerId, false))
        party.run(for: .seconds(1))
        #expect(party.texts(of: 1) == ["slowly"])
    }

    @Test func `a restarted publisher starts a new stream`() throws {
        let party = try Party(2)
        party.connect(0, 1)
        party.run(for: .seconds(1))
        party.publish("old", by: 0)
        party.run(for: .seconds(1))
        party.disconnect(0, 1)
        let again = try party.add(as: party.members[0].signer)
        party.members.swapAt(0, again)
        party.members[again].links = []
        party.connect(0, 1)
        party.run(for: .seconds(1))
        party.publish("new", by: 0)
        party.run(for: .seconds(1))
        #expect(party.texts(of: 1) == ["old", "new"])
        #expect(Set(party.members[1].delivered.map(\.batch.stream)).count == 2)
    }

    @Test func `the state of publishers expires with the window, and old events do not return`() throws {
        let party = try Party(2)
        party.connect(0, 1)
        party.run(for: .seconds(1))
        party.publish("once", by: 0)
        party.run(for: .seconds(1))
        let batch = try #require(party.members[1].delivered.first?.batch)
        for hours in [1, 2] {
            party.run(for: .seconds(3600 * hours))
            party.inject(.gossip(batch, hops: 1, age: 0), from: 0, to: 1)
            #expect(party.texts(of: 1) == ["once"])
        }
        #expect(party.members[1].exchange.window.isEmpty)
    }
}
