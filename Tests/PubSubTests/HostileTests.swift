internal import Bytes
internal import Identity
internal import PubSub
internal import TestSupport
internal import Testing

@Suite("Members who lie about events") struct HostileTests {
    /// Three connected members: 0 publishes, 1 lies, 2 is honest.
    private func party(limits: PubSub.Limits = PubSub.Limits()) throws -> Party {
        let party = try Party(3, limits: limits)
        party.connectAll()
        party.run(for: .seconds(1))
        return party
    }

    @Test func `events with a forged signature are refused, and their sender is reported`() throws {
        let party = try party()
        let forged = try party.batch(by: 0)
        let bytes = Message.gossip(forged, hops: 1, age: 0).bytes
        for position in [bytes.count - 1, bytes.count - 66, 60, 90] {
            var changed = bytes
            changed[position] ^= 1
            party.members[2].violations = []
            party.feed(2, .messageReceived(from: party.members[1].peerId, changed[...]))
            #expect(party.texts(of: 2).isEmpty, "\(position)")
        }
        #expect(party.members[2].violations.map(\.peer) == [party.members[1].peerId])
        party.feed(2, .messageReceived(from: party.members[1].peerId, bytes[...]))
        #expect(party.texts(of: 2) == ["x"])
    }

    @Test func `events of non-members are refused`() throws {
        let party = try party()
        var random = SeededGenerator(seed: 99)
        let elsewhere = FakeNetwork(using: &random)
        let token = try elsewhere.token(for: party.members[1].peerId)
        let stray = EventBatch.create(
            topic: "news",
            content: EventBatch.content(of: [[1]]),
            count: 1,
            first: 1,
            instance: InstanceId(),
            publishedSeconds: Party.epoch,
            token: token,
            signer: party.members[1].signer
        )
        party.inject(.gossip(try #require(stray), hops: 1, age: 0), from: 1, to: 2)
        #expect(party.texts(of: 2).isEmpty)
        #expect(party.members[2].violations.map(\.reason) == ["events of a publisher that is no member"])
    }

    @Test func `events of revoked members and of members with an expired token are refused`() throws {
        let party = try party()
        let ended = try party.network.token(for: party.members[0].peerId, until: Party.epoch - 600)
        party.inject(.gossip(try party.batch(by: 0, token: ended), hops: 1, age: 0), from: 1, to: 2)
        #expect(party.texts(of: 2).isEmpty)
        let batch = try party.batch(by: 0)
        party.feed(2, .memberRevoked(party.members[0].peerId))
        party.inject(.gossip(batch, hops: 1, age: 0), from: 1, to: 2)
        #expect(party.texts(of: 2).isEmpty)
        #expect(party.members[2].violations.isEmpty)
    }

    @Test func `a revoked member's events leave the window`() throws {
        let party = try party()
        party.publish("mine", by: 0)
        party.run(for: .seconds(1))
        #expect(party.members[2].exchange.window.count == 1)
        party.feed(2, .memberRevoked(party.members[0].peerId))
        #expect(party.members[2].exchange.window.isEmpty)
    }

    @Test func `replays change nothing`() throws {
        let party = try party()
        party.publish("once", by: 0)
        party.run(for: .seconds(1))
        let batch = try #require(party.members[2].delivered.first?.batch)
        for hops in [UInt8(1), 2, 255] {
            party.inject(.gossip(batch, hops: hops, age: 0), from: 1, to: 2)
            party.inject(.answer(batch, hops: hops, age: .max), from: 1, to: 2)
        }
        #expect(party.texts(of: 2) == ["once"])
        #expect(party.members[2].violations.isEmpty)
    }

    @Test func `events from far ahead or long ago are refused`() throws {
        let party = try party()
        let now = party.time(of: 2).wallSeconds
        for seconds in [now + 1801, now - 3601, 0, UnixTime.maximum] {
            party.inject(.gossip(try party.batch(by: 0, seconds: seconds), hops: 1, age: 0), from: 1, to: 2)
        }
        #expect(party.texts(of: 2).isEmpty)
        for seconds in [now + 1800, now - 3600] {
            party.inject(.gossip(try party.batch(by: 0, seconds: seconds), hops: 1, age: 0), from: 1, to: 2)
        }
        #expect(party.texts(of: 2).count == 2)
    }

    @Test func `false IHave messages are bounded in cost and delay no other event`() throws {
        let party = try party()
        let stream = StreamId(publisher: party.members[0].peerId, instance: InstanceId())
        party.messageCounts = [:]
        for _ in 0..<100 {
            party.inject(.iHave([.init(stream: stream, end: .max, hops: 0)]), from: 1, to: 2)
        }
        party.publish("real", by: 0)
        party.run(for: .seconds(10))
        #expect(party.texts(of: 2) == ["real"])
        #expect(party.messageCounts[7, default: 0] <= 2)
    }

    @Test func `a flood of IHave messages is dropped, and other peers are served`() throws {
        var limits = PubSub.Limits()
        limits.announcementsPerSecond = 100
        limits.announcementsAtOnce = 300
        let party = try party(limits: limits)
        party.messageCounts = [:]
        func states(_ count: Int) -> [Message.StreamState] {
            (0..<count).map { _ in
                let publisher = PeerId(publicKey: generatePeerKey().publicKey)
                return .init(stream: StreamId(publisher: publisher, instance: InstanceId()), end: 2, hops: 0)
            }
        }
        for _ in 0..<5 { party.inject(.iHave(states(200)), from: 1, to: 2) }
        party.run(for: .seconds(1))
        // The second message begins within the token bucket and exceeds it; the others are dropped.
        #expect(party.messageCounts[7] == 400)
        // A new connection starts with the remaining tokens.
        party.disconnect(1, 2)
        party.connect(1, 2)
        party.inject(.iHave(states(200)), from: 1, to: 2)
        #expect(party.messageCounts[7] == 400)
        party.inject(.iHave(states(1)), from: 0, to: 2)
        party.run(for: .seconds(1))
        #expect(party.messageCounts[7] == 401)
        party.publish("real", by: 0)
        party.run(for: .seconds(1))
        #expect(party.texts(of: 2) == ["real"])
    }

    @Test func `invented streams take no room from real ones`() throws {
        var limits = PubSub.Limits()
        limits.streams = 20
        let party = try party(limits: limits)
        party.publish("before", by: 0)
        party.run(for: .seconds(1))
        for _ in 0..<50 {
            let states = (0..<200).map { _ in
                Message.StreamState(
                    stream: StreamId(publisher: party.members[1].peerId, instance: InstanceId()),
                    end: 5,
                    hops: 1
                )
            }
            party.inject(.iHave(states), from: 1, to: 2)
        }
        party.publish("after", by: 0)
        party.run(for: .seconds(1))
        #expect(party.texts(of: 2) == ["before", "after"])
    }

    @Test func `a gap that never closes is skipped after a timeout`() throws {
        let party = try party()
        let instance = InstanceId()
        for number in [UInt64(1), 5] {
            let batch = try party.batch(by: 0, first: number, event: "\(number)", instance: instance)
            party.inject(.gossip(batch, hops: 1, age: 0), from: 1, to: 2)
        }
        party.run(for: .seconds(4))
        #expect(party.texts(of: 2) == ["1"])
        party.run(for: .seconds(3))
        #expect(party.texts(of: 2) == ["1", "5"])
        #expect(party.members[2].missed == 3)
    }

    @Test func `the out-of-order buffer is bounded`() throws {
        let party = try party()
        let instance = InstanceId()
        party.inject(.gossip(try party.batch(by: 0, first: 1, instance: instance), hops: 1, age: 0), from: 1, to: 2)
        for number in 0..<200 {
            let batch = try party.batch(by: 0, first: UInt64(10 + 2 * number), instance: instance)
            party.inject(.gossip(batch, hops: 1, age: 0), from: 1, to: 2)
        }
        party.run(for: .seconds(600))
        #expect(party.members[2].delivered.count <= 1 + PubSub.Limits().outOfOrderBatches)
    }

    @Test(arguments: [(bytes: 10_000, inAll: 100_000), (bytes: 100_000, inAll: 10_000)])
    func `the out-of-order buffer is bounded in bytes`(bytes: Int, inAll: Int) throws {
        var limits = PubSub.Limits()
        (limits.outOfOrderBytes, limits.outOfOrderBytesInAll) = (bytes, inAll)
        let party = try party(limits: limits)
        let text = String(repeating: "x", count: 3_000)
        // In one stream, and in as many as there are batches.
        let common = InstanceId()
        for number in UInt64(0)..<20 {
            let instance = bytes < inAll ? common : InstanceId()
            let batch = try party.batch(by: 0, first: 10 + 2 * number, event: text, instance: instance)
            party.inject(.gossip(batch, hops: 1, age: 0), from: 1, to: 2)
        }
        party.run(for: .seconds(600))
        #expect(party.members[2].delivered.count == 3)
    }

    @Test func `a batch without room in the out-of-order buffer is requested when it is due`() throws {
        var limits = PubSub.Limits()
        limits.outOfOrderBytes = 0
        let party = try party(limits: limits)
        let instance = InstanceId()
        let batches = try (UInt64(1)...3).map {
            try party.batch(by: 0, first: $0, event: "\($0)", instance: instance)
        }
        party.disconnect(1, 2)
        for batch in batches { party.inject(.gossip(batch, hops: 1, age: 0), from: 0, to: 1) }
        party.inject(.gossip(batches[0], hops: 1, age: 0), from: 0, to: 2)
        party.connect(1, 2)
        party.inject(.gossip(batches[2], hops: 1, age: 0), from: 1, to: 2)
        #expect(party.texts(of: 2) == ["1"])
        party.run(for: .seconds(2))
        #expect(party.texts(of: 2) == ["1", "2", "3"])
    }

    @Test func `a publisher that restarts repeatedly takes only its own places`() throws {
        var limits = PubSub.Limits()
        (limits.streams, limits.streamsPerPublisher) = (20, 5)
        let party = try party(limits: limits)
        for _ in 0..<50 {
            party.inject(.gossip(try party.batch(by: 1, event: "again"), hops: 0, age: 0), from: 1, to: 2)
            party.run(for: .seconds(1))
        }
        #expect(party.texts(of: 2).count == 50)
        party.publish("real", by: 0)
        party.run(for: .seconds(1))
        #expect(party.texts(of: 2).last == "real")
    }

    @Test func `events of an evicted stream are not delivered twice`() throws {
        var limits = PubSub.Limits()
        limits.streamsPerPublisher = 2
        let party = try party(limits: limits)
        let now = party.time(of: 0).wallSeconds
        let batches = try (UInt64(0)..<3).map { try party.batch(by: 0, event: "\($0)", seconds: now - 10 + $0) }
        for batch in batches + batches { party.inject(.gossip(batch, hops: 1, age: 0), from: 1, to: 2) }
        #expect(party.texts(of: 2) == ["0", "1", "2"])
        #expect(party.members[2].violations.isEmpty)
    }

    @Test func `a peer with repeated Graft messages gets a bounded number of bytes`() throws {
        let party = try party()
        let content = EventBatch.content(of: [[UInt8](repeating: 7, count: 200_000)])
        for _ in 0..<5 { party.feed(2, .published(topic: "big", content: content, count: 1)) }
        party.run(for: .seconds(1))
        let stream = try #require(party.members[2].delivered.first?.batch.stream)
        party.messageCounts = [:]
        for _ in 0..<1_000 { party.inject(.iWant(stream, from: 1, isGraft: true), from: 1, to: 2) }
        party.run(for: .seconds(1))
        let answered = party.messageCounts[5, default: 0]
        #expect(answered >= 5)
        #expect(answered * 200_000 <= 2 * PubSub.Limits().answerBytesBurst)
    }

    @Test func `repeated neighbour requests get a bounded number of answers`() throws {
        let party = try party()
        party.publish("news", by: 0)
        party.run(for: .seconds(1))
        party.messageCounts = [:]
        for _ in 0..<1_000 {
            party.inject(.neighbourEnd, from: 1, to: 2)
            party.inject(.neighbourRequest(isUrgent: true), from: 1, to: 2)
        }
        party.run(for: .milliseconds(100))
        let answers = party.messageCounts[2, default: 0]
        #expect(answers >= 10)
        // The other one gets a request again each time it left, and answers by the same rule.
        #expect(answers <= 3 * PubSub.Limits().requestsAtOnce)
        #expect(party.messageCounts[6, default: 0] <= 3 * PubSub.Limits().requestsAtOnce)
        // Patience earns it back.
        party.run(for: .seconds(10))
        party.messageCounts = [:]
        party.inject(.neighbourEnd, from: 1, to: 2)
        party.inject(.neighbourRequest(isUrgent: true), from: 1, to: 2)
        party.publish("more", by: 0)
        party.run(for: .seconds(1))
        #expect(party.messageCounts[2, default: 0] >= 1)
        #expect(party.texts(of: 2) == ["news", "more"])
    }

    @Test func `messages of a disconnected peer are ignored`() throws {
        let party = try party()
        let batch = try party.batch(by: 0)
        party.disconnect(1, 2)
        let gossip = Message.gossip(batch, hops: 1, age: 0)
        party.feed(2, .messageReceived(from: party.members[1].peerId, gossip.bytes[...]))
        #expect(party.texts(of: 2).isEmpty)
    }
}
