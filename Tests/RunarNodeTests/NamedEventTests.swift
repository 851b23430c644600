internal import Concurrency
internal import Foundation
internal import Testing

@testable internal import RunarNode

@Suite("Events by name", .timeLimit(.minutes(15))) struct NamedEventTests {
    private struct Reading: Codable, Sendable, Equatable { var celsius: Double }

    /// Subscribes and returns the events one by one.
    private func listen(
        _ node: RunarNode,
        _ topic: String,
        includesPast: Bool = false
    ) throws -> (AsyncStream<RunarEvent>, Subscription) {
        let (events, queue) = AsyncStream.makeStream(of: RunarEvent.self)
        return (events, try node.subscribe(topic, includesPast: includesPast) { queue.yield($0) })
    }

    @Test(arguments: Household.Carrier.allCases)
    func `a value that a member publishes arrives with its topic, publisher and parameters`(
        over carrier: Household.Carrier
    ) async throws {
        try await Household.runConnected(members: 1, over: carrier) { network, owner, members in
            let (events, subscription) = try listen(owner, "\(network):home/{room}/temperature")
            try await members[0].publish("\(network):home/kitchen/temperature", data: Reading(celsius: 21.5))
            let event = try await events.first { _ in true }
            #expect(event.topic.path == "home/kitchen/temperature" && event.publisher == members[0].peerId)
            #expect(event.networkId == network && event.number == 1)
            #expect(try event.decode(Reading.self) == Reading(celsius: 21.5))
            try await members[0].publish("\(network):home/attic/temperature", data: ["celsius": 9.5])
            #expect(try await events.first { _ in true }.decode(Reading.self) == Reading(celsius: 9.5))
            subscription.cancel()
        }
    }

    @Test(arguments: Household.Carrier.allCases)
    func `a name without a network is local and reaches members once it is a network`(
        over carrier: Household.Carrier
    ) async throws {
        try await Household.run(members: 1, over: carrier) { metadata, owner, members in
            let (events, subscription) = try listen(members[0], "Cabin:news")
            try await members[0].publish("Cabin:news", data: "local")
            let local = try await events.first { _ in true }
            #expect(try local.decode(String.self) == "local")
            #expect(local.networkId == nil && local.publisher == members[0].peerId && local.number == 0)

            let cabin = try owner.createNetwork(name: "Cabin")
            let token = try owner.issueToken(for: members[0].peerId, in: cabin.networkId, expiration: nil)
            try members[0].addNetwork(cabin)
            try await members[0].joinNetwork(networkId: cabin.networkId, accessToken: token)
            try await members[0].connectToPeer(
                peerId: owner.peerId,
                networkId: cabin.networkId,
                address: owner.address
            )
            try await owner.publish("Cabin:news", data: "from afar")
            let event = try await events.first { _ in true }
            #expect(try event.decode(String.self) == "from afar")
            #expect(event.networkId == cabin.networkId && event.publisher == owner.peerId)
            subscription.cancel()
        }
    }

    /// The next numbers, all of them of one publisher.
    private func numbers(_ events: AsyncStream<RunarEvent>, count: Int, from publisher: PeerId) async throws -> [Int] {
        var numbers: [Int] = []
        for await event in events {
            #expect(event.publisher == publisher && event.droppedBefore == 0 && event.missedBefore == 0)
            numbers.append(try event.decode(Int.self))
            if numbers.count == count { break }
        }
        return numbers
    }

    @Test(arguments: Household.Carrier.allCases)
    func `a subscriber with past events gets each earlier event once and then the rest`(
        over carrier: Household.Carrier
    ) async throws {
        try await Household.runConnected(members: 1, over: carrier) { network, owner, members in
            let author = members[0]
            let (first, early) = try listen(owner, "Home:news/*")
            for number in 1...3 { try await author.publish("Home:news/\(number)", data: number) }
            #expect(try await numbers(first, count: 3, from: author.peerId) == [1, 2, 3])
            let (past, late) = try listen(owner, "Home:news/*", includesPast: true)
            let (narrow, other) = try listen(owner, "\(network):news/2", includesPast: true)
            let (now, latest) = try listen(owner, "Home:news/*")
            for number in [4, 2] { try await author.publish("Home:news/\(number)", data: number) }
            #expect(try await numbers(past, count: 5, from: author.peerId) == [1, 2, 3, 4, 2])
            #expect(try await numbers(narrow, count: 2, from: author.peerId) == [2, 2])
            #expect(try await numbers(now, count: 2, from: author.peerId) == [4, 2])
            for subscription in [early, late, other, latest] { subscription.cancel() }
        }
    }

    @Test(arguments: Household.Carrier.allCases)
    func `a late member gets the events of an absent publisher from another member`(
        over carrier: Household.Carrier
    ) async throws {
        try await Household.run(members: 2, over: carrier) { metadata, owner, members in
            let (network, author, late) = (metadata.networkId, members[0], members[1])
            try await author.connectToPeer(peerId: owner.peerId, networkId: network, address: owner.address)
            let (heard, subscription) = try listen(owner, "Home:news")
            for number in 1...3 { try await author.publish("Home:news", data: number) }
            #expect(try await numbers(heard, count: 3, from: author.peerId) == [1, 2, 3])
            await author.stop()
            let (before, early) = try listen(late, "Home:news", includesPast: true)
            try await late.connectToPeer(peerId: owner.peerId, networkId: network, address: owner.address)
            #expect(try await numbers(before, count: 3, from: author.peerId) == [1, 2, 3])
            let (after, later) = try listen(late, "Home:news", includesPast: true)
            #expect(try await numbers(after, count: 3, from: author.peerId) == [1, 2, 3])
            for subscription in [subscription, early, later] { subscription.cancel() }
        }
    }

    @Test(arguments: Household.Carrier.allCases)
    func `a topic of the node itself is refused by publish`(
        over carrier: Household.Carrier
    ) async throws {
        try await Household.runConnected(members: 1, over: carrier) { network, owner, members in
            let (events, subscription) = try listen(owner, "\(network):>")
            let message = Data([1])
            let (reserved, member) = ("$registry/services/a/state/x", members[0])
            let refusal = await failure {
                try await member.publish(networkId: network, topic: reserved, message: message)
            }
            #expect(refusal is TopicPathError)
            try await members[0].publish(networkId: network, topic: "home/x", message: message)
            #expect(try await events.first { _ in true }.topic.path == "home/x")
            subscription.cancel()
        }
    }

    @Test func `names of two networks never mix, and an ambiguous one is refused`() async throws {
        let household = Household()
        let node = try household.makeNode()
        let (first, second) = (try node.createNetwork(name: "Same"), try node.createNetwork(name: "Same"))
        try await node.start()
        let error = await failure { try await node.publish("Same:a", data: 1) }
        #expect((error as? RunarError)?.code == 5003)
        let (events, subscription) = try listen(node, "\(first.networkId):>")
        try await node.publish("\(second.networkId):a", data: 2)
        try await node.publish("\(first.networkId):a", data: 1)
        #expect(try await events.first { _ in true }.decode(Int.self) == 1)
        subscription.cancel()
        await node.stop()
    }

    @Test func `a network named like another one's id gets no event of that network`() async throws {
        let node = try Household().makeNode()
        let home = try node.createNetwork(name: "Home")
        let impostor = try node.createNetwork(name: home.networkId.base64Encoded)
        try await node.start()
        let (events, subscription) = try listen(node, "\(home.networkId):>")
        let (others, other) = try listen(node, "\(impostor.networkId):>")
        try await node.publish("\(home.networkId.base64Encoded):a", data: 1)
        try await node.publish("\(impostor.networkId):a", data: 2)
        #expect(try await events.first { _ in true }.decode(Int.self) == 1)
        #expect(try await others.first { _ in true }.decode(Int.self) == 2)
        subscription.cancel()
        other.cancel()
        await node.stop()
    }

    @Test func `malformed topics, reserved ones and events too large are refused`() async throws {
        let node = try Household().makeNode()
        try await node.start()
        let large = Data(count: RunarNode.eventByteLimit + 1)
        for (topic, code) in [("", 5006), ("a/*", 5006), ("$registry/a", 5006), ("a:b:c", 5006)] as [(String, Int32)] {
            let error = await failure { try await node.publishRaw(topic, data: Data()) }
            #expect((error as? RunarError)?.code == code, "\(topic)")
        }
        let error = await failure { try await node.publishRaw("a", data: large) }
        #expect((error as? RunarError)?.code == 4008)
        #expect(throws: RunarError.self) { try node.subscribe("a/>/b") { _ in } }
        await node.stop()
        let stopped = await failure { try await node.publish("a", data: 1) }
        #expect((stopped as? RunarError)?.code == 3007)
    }

    @Test func `a slow handler's lost events are counted, and a cancellation ends delivery`() async throws {
        let node = try Household().makeNode()
        try await node.start()
        let heard = Locked<[UInt64]>([])
        let (permits, permit) = AsyncStream.makeStream(of: Void.self)
        let (begins, began) = AsyncStream.makeStream(of: Void.self)
        let subscription = try node.subscribe("a") { event in
            heard.withLock { $0.append(event.droppedBefore) }
            began.yield()
            for await _ in permits { return }
        }
        // 128 of these are all that wait.
        let large = Data(count: 262_144)
        for _ in 0..<150 { try await node.publishRaw("a", data: large) }
        _ = try await begins.first { true }
        // One is being handled at most and 128 wait; the others were dropped.
        try await node.publishRaw("a", data: large)
        for _ in 0..<128 {
            permit.yield()
            _ = try await begins.first { true }
        }
        try await node.publish("a", data: 151)
        permit.yield()
        _ = try await begins.first { true }
        #expect(heard.withLock { UInt64($0.count) + $0.reduce(0, +) } == 152)
        let count = heard.withLock { $0.count }
        subscription.cancel()
        permit.finish()
        try await node.publish("a", data: 152)
        let (events, other) = try listen(node, "a", includesPast: true)
        _ = try await events.first { $0.data == Data("152".utf8) }
        #expect(heard.withLock { $0.count } == count)
        other.cancel()
        await node.stop()
    }

    @Test func `a subscriber with past events gets a service's state once and then each change`() async throws {
        let node = try Household().makeNode()
        try await node.addService(ServiceTests.makeMath())
        try await node.start()
        let (states, first) = try listen(node, "$registry/services/math/state/*", includesPast: true)
        let (all, second) = try listen(node, ">")
        func next() async throws -> String { try await states.first { _ in true }.topic.segments.last ?? "" }
        #expect(try await next() == "running")
        let _: String = try await node.request("$registry/services/math/pause", payload: nil)
        #expect(try await next() == "paused")
        let _: String = try await node.request("$registry/services/math/resume", payload: nil)
        #expect(try await next() == "running")
        await node.stop()
        #expect(try await next() == "stopped")
        try await node.start()
        #expect(try await next() == "running")
        try await node.publish("a", data: 1)
        #expect(try await all.first { _ in true }.topic.path == "a")
        for subscription in [first, second] { subscription.cancel() }
        await node.stop()
    }

    @Test func `a service's state is kept despite many events and when its name becomes a network`()
        async throws
    {
        let node = try Household().makeNode()
        let service = ServiceTests.makeMath()
        service.networkId = "Home"
        try await node.addService(service)
        try await node.start()
        for number in 0..<100 { try await node.publish("Home:a", data: number) }
        for isNetwork in [false, true] {
            if isNetwork { _ = try node.createNetwork(name: "Home") }
            let (states, subscription) = try listen(node, "Home:$registry/services/math/state/*", includesPast: true)
            let state = try await states.first { _ in true }
            #expect(state.topic.segments.last == "running")
            #expect((state.networkId != nil) == isNetwork)
            subscription.cancel()
        }
        await node.stop()
    }

    @Test func `events of a name are kept as past events when it becomes a network`()
        async throws
    {
        let node = try Household().makeNode()
        try await node.start()
        try await node.publish("Home:a", data: 1)
        _ = try node.createNetwork(name: "Home")
        try await node.publish("Home:a", data: 2)
        let (events, subscription) = try listen(node, "Home:a", includesPast: true)
        var found: [String] = []
        for await event in events {
            found.append(String(decoding: event.data, as: UTF8.self))
            #expect(event.networkId != nil)
            if found.count == 2 { break }
        }
        #expect(found == ["1", "2"])
        subscription.cancel()
        await node.stop()
    }

    @Test func `no event of a name is lost while it becomes a network`() async throws {
        for _ in 0..<20 {
            let node = try Household().makeNode()
            try await node.start()
            let (events, subscription) = try listen(node, "Home:a")
            let (begins, begin) = AsyncStream.makeStream(of: Void.self)
            let publishing = Task {
                defer { begin.finish() }
                for number in 0..<200 {
                    try await node.publish("Home:a", data: number)
                    if number == 20 { begin.finish() }
                }
            }
            for await _ in begins {}
            _ = try node.createNetwork(name: "Home")
            await #expect(throws: Never.self) { try await publishing.value }
            try await node.publish("Home:a", data: 200)
            var heard: Set<String> = []
            for await event in events {
                heard.insert(String(decoding: event.data, as: UTF8.self))
                if heard.contains("200") { break }
            }
            #expect(heard.count == 201)
            subscription.cancel()
            await node.stop()
        }
    }

    @Test(arguments: Household.Carrier.allCases) func `a service's handlers get events of its own topics and of others`(
        over carrier: Household.Carrier
    ) async throws {
        try await Household.runConnected(members: 1, over: carrier) { network, owner, members in
            let (heard, queue) = AsyncStream.makeStream(of: String.self)
            let service = RunarService(name: "Log", path: "log", version: "1", description: "")
            service.registerEvent("added") { (value: Int?) async throws in queue.yield("added \(value ?? 0)") }
            service.registerEvent("math/*") { (event: RunarEvent) async throws in queue.yield(event.topic.path) }
            service.networkId = "Home"
            try await owner.addService(service)
            try await members[0].publish("\(network):log/added", data: 7)
            try await members[0].publish("\(network):math/done", data: Int?.none)
            var found: Set<String> = []
            for await text in heard {
                found.insert(text)
                if found.count == 2 { break }
            }
            #expect(found == ["added 7", "math/done"])
        }
    }
}
