internal import Concurrency
internal import Foundation
internal import Testing

@testable internal import RunarNode

@Suite("Events of a node", .timeLimit(.minutes(15))) struct EventTests {
    private func texts(_ events: EventSequence, count: Int) async -> [String] {
        var texts: [String] = []
        for await event in events {
            texts.append(String(decoding: event.data, as: UTF8.self))
            if texts.count == count { break }
        }
        return texts
    }

    @Test(arguments: Household.Carrier.allCases)
    func `an event reaches all subscribers through a member between them`(
        over carrier: Household.Carrier
    ) async throws {
        try await Household.runConnected(members: 2, over: carrier) { network, owner, members in
            let heard = try ([owner] + members).map { try $0.events(networkId: network, topic: "news") }
            for number in 0..<10 {
                try await members[0].publish(networkId: network, topic: "news", message: Data("\(number)".utf8))
            }
            for events in heard {
                #expect(await texts(events, count: 10) == (0..<10).map(String.init))
            }
        }
    }

    @Test(arguments: Household.Carrier.allCases)
    func `a subscription that a handler cancels gets no event in flight`(
        over carrier: Household.Carrier
    ) async throws {
        try await Household.runConnected(members: 1, over: carrier) { network, owner, members in
            let heard = Locked<[String]>([])
            let subscriptions = Locked<[Subscription]>([])
            let (calls, call) = AsyncStream.makeStream(of: Void.self)
            let (counts, count) = AsyncStream.makeStream(of: Void.self)
            // The first handler that is called ends both subscriptions, in the middle of events of one batch.
            for name in ["first", "second"] {
                let subscription = try owner.subscribe(networkId: network, topic: "news") { (_: RunarEvent) in
                    heard.withLock { $0.append(name) }
                    for subscription in subscriptions.withLock({ $0 }) { subscription.cancel() }
                    call.yield()
                }
                subscriptions.withLock { $0.append(subscription) }
            }
            let bytes = Locked(0)
            let third = Locked<Subscription?>(nil)
            let counting = try owner.subscribe(networkId: network, topic: "news") { (message: Data) in
                bytes.withLock { $0 += message.count }
                third.withLock { $0 }?.cancel()
                count.yield()
            }
            third.withLock { $0 = counting }
            let all = try owner.events(networkId: network, topic: "news")
            let member = members[0]
            await withThrowingTaskGroup { group in
                for _ in 0..<16 {
                    group.addTask { try await member.publish(networkId: network, topic: "news", message: Data([1])) }
                }
            }
            #expect(await texts(all, count: 16).count == 16)
            for streams in [calls, counts] { _ = try await streams.first { true } }
            // The other handler may have been called at the same moment, but not again.
            #expect([["first"], ["second"], ["first", "second"]].contains(heard.withLock { $0.sorted() }))
            #expect(bytes.withLock { $0 } <= 1)
            #expect(owner.router.count <= 1)
        }
    }

    @Test(arguments: Household.Carrier.allCases) func `an event carries its publisher, topic and time`(
        over carrier: Household.Carrier
    ) async throws {
        try await Household.runConnected(members: 1, over: carrier) { network, owner, members in
            let events = try owner.events(networkId: network, topic: "home/{room}/*")
            try await members[0].publish(networkId: network, topic: "home/kitchen/lamp", message: Data("on".utf8))
            var iterator = events.makeAsyncIterator()
            let event = try #require(await iterator.next())
            #expect(event.publisher == members[0].peerId)
            #expect(event.networkId == network)
            #expect(event.topic.path == "home/kitchen/lamp")
            #expect(event.number == 1)
            #expect(event.missedBefore == 0)
            #expect(abs(event.publishedAt.timeIntervalSinceNow) < 30)
            #expect(try TopicPath("home/{room}/*").parameters(of: event.topic) == ["room": "kitchen"])
        }
    }

    @Test(arguments: Household.Carrier.allCases)
    func `only matching topics reach a subscription, and none after its cancellation`(
        over carrier: Household.Carrier
    ) async throws {
        try await Household.runConnected(members: 1, over: carrier) { network, owner, members in
            let heard = Locked<[String]>([])
            let (calls, call) = AsyncStream.makeStream(of: Void.self)
            let subscription = try owner.subscribe(networkId: network, topic: "a/>") { (message: Data) in
                heard.withLock { $0.append(String(decoding: message, as: UTF8.self)) }
                call.yield()
            }
            let all = try owner.events(networkId: network, topic: ">")
            for topic in ["a", "a/b", "b/a", "a/b/c"] {
                try await members[0].publish(networkId: network, topic: topic, message: Data(topic.utf8))
            }
            #expect(await texts(all, count: 4) == ["a", "a/b", "b/a", "a/b/c"])
            for _ in 0..<2 { _ = try await calls.first { true } }
            let count = owner.router.count
            subscription.cancel()
            subscription.cancel()
            #expect(owner.router.count == count - 1)
            let rest = try owner.events(networkId: network, topic: ">")
            try await members[0].publish(networkId: network, topic: "a/d", message: Data("a/d".utf8))
            #expect(await texts(rest, count: 1) == ["a/d"])
            #expect(heard.withLock { $0 } == ["a/b", "a/b/c"])
        }
    }

    @Test(arguments: Household.Carrier.allCases)
    func `a late subscriber gets the window on request, and otherwise no old events`(
        over carrier: Household.Carrier
    ) async throws {
        try await Household.runConnected(members: 1, over: carrier) { network, owner, members in
            let first = try owner.events(networkId: network, topic: "news")
            try await members[0].publish(networkId: network, topic: "news", message: Data("old".utf8))
            #expect(await texts(first, count: 1) == ["old"])
            let past = try owner.events(networkId: network, topic: "news", includesPast: true)
            let now = try owner.events(networkId: network, topic: "news")
            try await members[0].publish(networkId: network, topic: "news", message: Data("new".utf8))
            #expect(await texts(past, count: 2) == ["old", "new"])
            #expect(await texts(now, count: 1) == ["new"])
        }
    }

    @Test(arguments: Household.Carrier.allCases)
    func `a subscription on a late node gets no earlier events unless it asks`(
        over carrier: Household.Carrier
    ) async throws {
        let household = Household(carrier: carrier)
        let ahead = Locked(Duration.zero)
        let owner = try household.makeNode(clock: .system(ahead: ahead))
        let metadata = try owner.createNetwork(name: "Home")
        let network = metadata.networkId
        try await owner.start()
        try await owner.publish(networkId: network, topic: "news", message: Data("old".utf8))
        let before = try owner.events(networkId: network, topic: "news", includesPast: true)
        #expect(await texts(before, count: 1) == ["old"])
        ahead.withLock { $0 = .seconds(300) }
        let member = try household.makeNode()
        let token = try owner.issueToken(for: member.peerId, in: network, expiration: nil)
        try await member.joinNetwork(networkId: network, accessToken: token)
        try await member.start()
        let now = try member.events(networkId: network, topic: "news")
        let past = try member.events(networkId: network, topic: "news", includesPast: true)
        try await member.connectToPeer(peerId: owner.peerId, networkId: network, address: owner.address)
        #expect(await texts(past, count: 1) == ["old"])
        try await owner.publish(networkId: network, topic: "news", message: Data("new".utf8))
        #expect(await texts(now, count: 1) == ["new"])
        await member.stop()
        await owner.stop()
    }

    @Test(arguments: Household.Carrier.allCases)
    func `a node that starts late catches up with its earlier subscriptions`(
        over carrier: Household.Carrier
    ) async throws {
        let household = Household(carrier: carrier)
        let owner = try household.makeNode()
        let metadata = try owner.createNetwork(name: "Home")
        let network = metadata.networkId
        let member = try household.makeNode()
        let token = try owner.issueToken(for: member.peerId, in: network, expiration: nil)
        try await member.joinNetwork(networkId: network, accessToken: token)
        let events = try member.events(networkId: network, topic: "news")
        try await owner.start()
        #expect(owner.isIsolated(networkId: network))
        for number in 0..<5 {
            try await owner.publish(networkId: network, topic: "news", message: Data("\(number)".utf8))
        }
        try await member.start()
        try await member.connectToPeer(peerId: owner.peerId, networkId: network, address: owner.address)
        #expect(await texts(events, count: 5) == ["0", "1", "2", "3", "4"])
        #expect(!member.isIsolated(networkId: network))
        await member.stop()
        await owner.stop()
    }

    @Test(arguments: Household.Carrier.allCases) func `subscriptions outlive a stop and a start`(
        over carrier: Household.Carrier
    ) async throws {
        try await Household.runConnected(members: 1, over: carrier) { network, owner, members in
            let events = try members[0].events(networkId: network, topic: "news")
            await members[0].stop()
            #expect(members[0].isIsolated(networkId: network))
            try await members[0].start()
            try await members[0].connectToPeer(peerId: owner.peerId, networkId: network, address: owner.address)
            try await owner.publish(networkId: network, topic: "news", message: Data("again".utf8))
            #expect(await texts(events, count: 1) == ["again"])
        }
    }

    @Test(arguments: Household.Carrier.allCases)
    func `thousands of small events in a burst are queued for their reader`(
        over carrier: Household.Carrier
    ) async throws {
        try await Household.runConnected(members: 1, over: carrier) { network, owner, members in
            var ends = try owner.events(networkId: network, topic: "end").makeAsyncIterator()
            var burst = try owner.events(networkId: network, topic: "burst").makeAsyncIterator()
            for number in 0..<5_000 {
                try await members[0].publish(networkId: network, topic: "burst", message: Data("\(number)".utf8))
            }
            try await members[0].publish(networkId: network, topic: "end", message: Data())
            _ = await ends.next()
            for number in 0..<5_000 {
                let event = try #require(await burst.next())
                #expect(event.data == Data("\(number)".utf8) && event.number == UInt64(number + 1))
                #expect(event.droppedBefore == 0)
            }
        }
    }

    @Test(arguments: Household.Carrier.allCases)
    func `a slow reader loses events, and the next event carries the count`(
        over carrier: Household.Carrier
    ) async throws {
        try await Household.runConnected(members: 1, over: carrier) { network, owner, members in
            let slow = try owner.events(networkId: network, topic: "news")
            let quick = try owner.events(networkId: network, topic: "news")
            var iterator = quick.makeAsyncIterator()
            for number in 0..<140 {
                // 128 of these are all that is held.
                try await members[0].publish(networkId: network, topic: "news", message: Data(count: 262_000))
                #expect(await iterator.next()?.number == UInt64(number + 1))
            }
            var slowly = slow.makeAsyncIterator()
            for number in 1...128 { #expect(await slowly.next()?.number == UInt64(number)) }
            try await members[0].publish(networkId: network, topic: "news", message: Data("last".utf8))
            let next = try #require(await slowly.next())
            #expect(next.number == 141)
            #expect(next.droppedBefore == 12)
            #expect(next.missedBefore == 0)
        }
    }

    // Takes seconds: a thousand rounds, since an event is missed rarely. Ten times as many over QUIC are in the table of
    // `make bench` (`runar-bench subscriptions`).
    @Test(arguments: Household.Carrier.allCases)
    func `no event is missed that a member publishes right after a subscription`(
        over carrier: Household.Carrier
    ) async throws {
        try await Household.runConnected(members: 2, over: carrier) { network, _, members in
            var ends = try members[0].events(networkId: network, topic: "end").makeAsyncIterator()
            for round in 0..<1_000 {
                let events = try members[0].events(networkId: network, topic: "round/\(round)")
                // Over the owner; a publisher's events arrive in order, so an event missing before the end is lost.
                try await members[1].publish(networkId: network, topic: "round/\(round)", message: Data())
                try await members[1].publish(networkId: network, topic: "end", message: Data())
                #expect(await ends.next()?.topic.path == "end")
                #expect(events.waitingCount == 1, "round \(round)")
            }
        }
    }

    @Test(arguments: Household.Carrier.allCases)
    func `no event is missed that an unknown member publishes right after a subscription`(
        over carrier: Household.Carrier
    ) async throws {
        for meeting in 0..<5 {
            try await Household.run(members: 1, over: carrier) { metadata, owner, members in
                let network = metadata.networkId
                var ends = try owner.events(networkId: network, topic: "end").makeAsyncIterator()
                var subscriptions: [EventSequence] = []
                for round in 0..<50 {
                    let topic = "meeting/\(meeting)/\(round)"
                    subscriptions.append(try owner.events(networkId: network, topic: topic))
                    try await members[0].publish(networkId: network, topic: topic, message: Data())
                }
                #expect(owner.isIsolated(networkId: network))
                try await members[0].publish(networkId: network, topic: "end", message: Data())
                try await members[0].connectToPeer(peerId: owner.peerId, networkId: network, address: owner.address)
                #expect(await ends.next()?.topic.path == "end")
                #expect(subscriptions.map(\.waitingCount) == Array(repeating: 1, count: 50))
            }
        }
    }

    @Test func `mistakes are refused with their reason`() async throws {
        try await Household.runConnected(members: 1) { network, owner, members in
            let big = Data(count: RunarNode.eventByteLimit + 1)
            let tooLarge = await failure { try await owner.publish(networkId: network, topic: "a", message: big) }
            #expect(tooLarge as? EventTooLarge == EventTooLarge(limit: 262_144, found: 262_145))
            for topic in ["a/*", "", "other:a", "a/>"] {
                let error = await failure { try await owner.publish(networkId: network, topic: topic, message: Data()) }
                #expect(error is TopicPathError, "\(topic)")
            }
            #expect(throws: TopicPathError.self) { try owner.events(networkId: network, topic: "a/>/b") }
            let nonMember = try Household().makeNode()
            let stopped = await failure { try await nonMember.publish(networkId: network, topic: "a", message: Data()) }
            #expect(stopped as? NodeError == .notRunning)
            try await nonMember.start()
            let outside = await failure { try await nonMember.publish(networkId: network, topic: "a", message: Data()) }
            #expect(outside as? NodeError == .notAMember(network))
            await nonMember.stop()
            try await members[0].publish(networkId: network, topic: "a", message: big.dropLast())
        }
    }
}
