internal import Concurrency
internal import Foundation
internal import TestSupport
internal import Testing

@testable internal import RunarNode

@Suite("Services of other nodes", .timeLimit(.minutes(15))) struct RemoteServiceTests {
    typealias Operands = ServiceTests.Operands

    /// Offers a service and returns once each of `askers` lists it.
    static func offer(_ service: RunarService, by node: RunarNode, to askers: RunarNode..., in network: NetworkId)
        async throws
    {
        service.networkId = network.base64Encoded
        try await node.addService(service)
        for asker in askers {
            try await asker.wait { asker in
                asker.serviceInfos(in: .known(network)).contains {
                    $0.servicePath == service.path && $0.providers.contains(node.peerId)
                }
            }
        }
    }

    @Test(arguments: Household.Carrier.allCases)
    func `a request is answered by a member, in its types, other types and bytes`(
        over carrier: Household.Carrier
    ) async throws {
        try await Household.runConnected(members: 1, over: carrier) { network, owner, members in
            try await Self.offer(ServiceTests.makeMath(), by: owner, to: members[0], in: network)
            let same: Double = try await members[0].request("Home:math/add", payload: Operands(a: 5, b: 3))
            let path = "\(network):math/add"
            let other: Double = try await members[0].request(path, payload: ["a": 5.5, "b": 3])
            let bytes: Data = try await members[0].request("Home:math/echo", payload: Data([1, 2]))
            #expect(same == 8 && other == 8.5 && bytes == Data([1, 2]))
            for encoding in PayloadEncoding.allCases {
                let options = RequestOptions(encoding: encoding)
                let sum: Double = try await members[0].request(path, payload: Operands(a: 1, b: 2), options: options)
                #expect(sum == 3)
            }
        }
    }

    @Test(arguments: Household.Carrier.allCases)
    func `services that start concurrently are announced with their final state`(
        over carrier: Household.Carrier
    ) async throws {
        try await Household.runConnected(members: 1, over: carrier) { network, owner, members in
            for round in 0..<10 {
                let paths = (0..<16).map { "s\(round)-\($0)" }
                try await withThrowingTaskGroup { group in
                    for path in paths {
                        group.addTask {
                            let service = RunarService(name: path, path: path, version: "1", description: "")
                            service.registerAction("get") { (_: Int?) async throws -> String in path }
                            service.networkId = network.base64Encoded
                            try await owner.addService(service)
                        }
                    }
                    try await group.waitForAll()
                }
                try await members[0].wait { member in
                    let infos = member.serviceInfos(in: .known(network))
                    return infos.count { $0.state == .running && paths.contains($0.servicePath) } == paths.count
                }
                for path in paths { try await owner.removeService("\(network):\(path)") }
            }
        }
    }

    @Test(arguments: Household.Carrier.allCases)
    func `a service with one encoding answers requests in any encoding`(
        over carrier: Household.Carrier
    ) async throws {
        try await Household.runConnected(members: 1, over: carrier) { network, owner, members in
            let service = ServiceTests.makeMath()
            service.encoding = .cbor
            try await Self.offer(service, by: owner, to: members[0], in: network)
            let sum: Double = try await members[0].request("Home:math/add", payload: Operands(a: 1, b: 2))
            #expect(sum == 3)
        }
    }

    @Test(arguments: Household.Carrier.allCases)
    func `a handler's error arrives with its code, message and context`(
        over carrier: Household.Carrier
    ) async throws {
        try await Household.runConnected(members: 1, over: carrier) { network, owner, members in
            struct Odd: Error {}
            let service = ServiceTests.makeMath()
            service.registerAction("odd") { (_: RunarValue?) async throws -> Int in throw Odd() }
            service.registerAction("full") { (_: RunarValue?) async throws -> Int in
                throw RunarError.failure(.init(rawValue: 12_002), message: "full", context: "shelf 7")
            }
            try await Self.offer(service, by: owner, to: members[0], in: network)
            let cases: [(String, Int32, String, String)] = [
                ("math/divide", 12_001, "Division by zero", ""), ("math/full", 12_002, "full", "shelf 7"),
                ("math/odd", 4006, "Odd()", "math/odd"), ("math/sub", 4002, "", "math/sub"),
                ("maths/add", 4001, "", "maths"),
            ]
            for (path, code, message, context) in cases {
                let error = await failure {
                    let _: Double = try await members[0].request("Home:" + path, payload: Operands(a: 1, b: 0))
                }
                let found = try #require(error as? RunarError, "\(path): \(String(describing: error))")
                #expect(found.code == code && found.context == context, "\(path): \(found)")
                #expect(message.isEmpty || found.message == message)
            }
        }
    }

    @Test(arguments: Household.Carrier.allCases)
    func `the handler learns the caller, the network, the parameters and the metadata`(
        over carrier: Household.Carrier
    ) async throws {
        try await Household.runConnected(members: 1, over: carrier) { network, owner, members in
            let service = RunarService(name: "Who", path: "who", version: "1", description: "")
            service.registerAction("am/{name}") { (_: Int?, context: RunarContext) async throws -> [String] in
                [
                    context.peer?.base64Encoded ?? "", context.networkId?.base64Encoded ?? "",
                    context.parameters["name"] ?? "", context.metadata["trace"] ?? "",
                ]
            }
            try await Self.offer(service, by: owner, to: members[0], in: network)
            let options = RequestOptions(metadata: ["trace": "7"])
            let said: [String] = try await members[0].request("Home:who/am/i", payload: Int?.none, options: options)
            #expect(said == [members[0].peerId.base64Encoded, network.base64Encoded, "i", "7"])
        }
    }

    @Test(arguments: Household.Carrier.allCases)
    func `a paused service is reported as such, routed around and answers after a resume`(
        over carrier: Household.Carrier
    )
        async throws
    {
        try await Household.runConnected(members: 1, over: carrier) { network, owner, members in
            try await Self.offer(ServiceTests.makeMath(), by: owner, to: members[0], in: network)
            let state: String = try await owner.request("Home:$registry/services/math/pause", payload: nil)
            #expect(state == "paused")
            try await members[0].wait { node in
                node.serviceInfos(in: .known(network)).contains { $0.servicePath == "math" && $0.state == .paused }
            }
            let remote = await failure {
                let _: Double = try await members[0].request("Home:math/add", payload: Operands(a: 1, b: 1))
            }
            #expect((remote as? RunarError)?.code == 4003)
            let own = await failure {
                let _: Double = try await owner.request("Home:math/add", payload: Operands(a: 1, b: 1))
            }
            #expect((own as? RunarError)?.code == 4003)
            #expect((own as? RunarError)?.message == "Service is not Running - it is in Paused state")
            // With another provider the owner is answered by that one.
            try await Self.offer(ServiceTests.makeMath(), by: members[0], to: owner, in: network)
            let elsewhere: Double = try await owner.request("Home:math/add", payload: Operands(a: 1, b: 1))
            #expect(elsewhere == 2)
            let again = await failure {
                let _: String = try await owner.request("Home:$registry/services/math/pause", payload: nil)
            }
            #expect((again as? RunarError)?.message == "Service is not Running - it is in Paused state")
            let resumed: String = try await owner.request("Home:$registry/services/math/resume", payload: nil)
            #expect(resumed == "running")
        }
    }

    @Test(arguments: Household.Carrier.allCases)
    func `no member pauses another device's services, and every member may list them`(
        over carrier: Household.Carrier
    ) async throws {
        try await Household.runConnected(members: 1, over: carrier) { network, owner, members in
            try await Self.offer(ServiceTests.makeMath(), by: owner, to: members[0], in: network)
            let options = RequestOptions(peer: owner.peerId)
            let error = await failure {
                let _: String = try await members[0].request(
                    "Home:$registry/services/math/pause",
                    payload: Int?.none,
                    options: options
                )
            }
            #expect((error as? RunarError)?.code == 3004)
            let list: [RunarServiceInfo] = try await members[0].request(
                "Home:$registry/services/list",
                payload: Int?.none,
                options: options
            )
            #expect(list.map(\.servicePath) == ["$dht", "$registry", "math"])
            #expect(list.last?.state == .running && list.last?.actions.map(\.name) == ["add", "divide", "echo"])
            let own: [RunarServiceInfo] = try await members[0].request(
                "Home:$registry/services/list",
                payload: Int?.none
            )
            #expect(own.last?.servicePath == "math" && own.last?.providers == [owner.peerId])
            let state: String = try await members[0].request("Home:$registry/services/none/state", payload: Int?.none)
            #expect(state == "unknown")
            let none: RunarServiceInfo? = try await members[0].request(
                "Home:$registry/services/none",
                payload: Int?.none
            )
            #expect(none == nil)
        }
    }

    @Test(arguments: Household.Carrier.allCases)
    func `a service of a name without a network is local until members share the network`(
        over carrier: Household.Carrier
    ) async throws {
        for isCreators in [true, false] {
            try await Household.runConnected(members: 1, over: carrier) { home, owner, members in
                let (provider, asker) = isCreators ? (owner, members[0]) : (members[0], owner)
                func ask(_ path: String, by node: RunarNode) async throws -> Double {
                    try await node.request(path, payload: Operands(a: 5, b: 3))
                }
                let math = ServiceTests.makeMath()
                math.networkId = "Cabin"
                try await provider.addService(math)
                #expect(try await ask("Cabin:math/add", by: provider) == 8)
                for path in ["Cabin:math/add", "Home:math/add"] {
                    let error = await failure { _ = try await ask(path, by: asker) }
                    #expect((error as? RunarError)?.code == 4001, "\(path): \(String(describing: error))")
                }
                let cabin = try owner.createNetwork(name: "Cabin")
                let network = cabin.networkId
                let token = try owner.issueToken(for: members[0].peerId, in: network, expiration: nil)
                try await members[0].joinNetwork(networkId: network, accessToken: token)
                try await members[0].connectToPeer(peerId: owner.peerId, networkId: network, address: owner.address)
                // Only this gives the member the name of the network.
                try members[0].addNetwork(cabin)
                try await asker.wait { asker in
                    asker.serviceInfos(in: .known(network)).contains { $0.providers == [provider.peerId] }
                }
                for node in [asker, provider] { #expect(try await ask("Cabin:math/add", by: node) == 8) }
                #expect(asker.serviceInfos(in: .known(home)).allSatisfy { $0.servicePath != "math" })
            }
        }
    }

    @Test(arguments: Household.Carrier.allCases) func `a removed service gets no more requests`(
        over carrier: Household.Carrier
    ) async throws {
        try await Household.runConnected(members: 1, over: carrier) { network, owner, members in
            try await Self.offer(ServiceTests.makeMath(), by: owner, to: members[0], in: network)
            try await owner.removeService("Home:math")
            try await members[0].wait { $0.serviceInfos(in: .known(network)).allSatisfy { $0.servicePath != "math" } }
            let error = await failure {
                let _: Double = try await members[0].request("Home:math/add", payload: Operands(a: 1, b: 1))
            }
            #expect((error as? RunarError)?.code == 4001)
        }
    }

    @Test(arguments: Household.Carrier.allCases)
    func `a deadline and a caller's cancellation reach the handler on the other device`(
        over carrier: Household.Carrier
    ) async throws {
        try await Household.runConnected(members: 1, over: carrier) { network, owner, members in
            let (ends, ended) = AsyncStream.makeStream(of: Void.self)
            let (begins, began) = AsyncStream.makeStream(of: Void.self)
            let count = Locked(0)
            let slow = RunarService(name: "Slow", path: "slow", version: "1", description: "")
            slow.registerAction("wait") { (_: Int?) async throws -> Int in
                count.withLock { $0 += 1 }
                began.yield()
                do { try await suspendUntilCancelled() } catch { ended.yield() }
                return 1
            }
            try await Self.offer(slow, by: owner, to: members[0], in: network)
            // A request whose deadline passed before it arrived began nothing.
            var timeout = Duration.milliseconds(50)
            while count.withLock({ $0 == 0 }) {
                let late = await failure {
                    let options = RequestOptions(timeout: timeout)
                    let _: Int = try await members[0].request("Home:slow/wait", payload: 1, options: options)
                }
                #expect((late as? RunarError)?.code == 4004)
                timeout *= 2
            }
            _ = try await ends.first { true }
            _ = try await begins.first { true }
            let caller = Task { let _: Int = try await members[0].request("Home:slow/wait", payload: 1) }
            _ = try await begins.first { true }
            caller.cancel()
            await #expect(throws: CancellationError.self) { try await caller.value }
            _ = try await ends.first { true }
        }
    }

    @Test(arguments: Household.Carrier.allCases)
    func `a request is retried elsewhere after its provider left only if it is idempotent`(
        over carrier: Household.Carrier
    ) async throws {
        for isIdempotent in [false, true] {
            try await Household.runConnected(members: 2, over: carrier) { network, owner, members in
                let (begins, began) = AsyncStream.makeStream(of: PeerId.self)
                let calls = Locked(0)
                for member in members {
                    let service = RunarService(name: "Who", path: "who", version: "1", description: "")
                    let options = ActionOptions(isIdempotent: isIdempotent)
                    service.registerAction("are", options: options) { (_: Int?, context: RunarContext) async throws in
                        // The provider that is asked first never answers.
                        let isFirst = calls.withLock { calls in
                            calls += 1
                            return calls == 1
                        }
                        began.yield(context.node.peerId)
                        if isFirst { try await suspendUntilCancelled() }
                        return context.node.peerId.base64Encoded
                    }
                    try await Self.offer(service, by: member, to: owner, in: network)
                }
                let asking = Task { () -> String in try await owner.request("Home:who/are", payload: 1) }
                let first = try await begins.first { _ in true }
                let (gone, other) = first == members[0].peerId ? (members[0], members[1]) : (members[1], members[0])
                await gone.stop()
                if isIdempotent {
                    #expect(try await asking.value == other.peerId.base64Encoded)
                } else {
                    let error = await failure { _ = try await asking.value }
                    #expect(error is RunarError, "\(String(describing: error))")
                    #expect(calls.withLock { $0 } == 1)
                }
                // From then on the other one is asked.
                let next: String = try await owner.request("Home:who/are", payload: 1)
                #expect(next == other.peerId.base64Encoded)
            }
        }
    }

    @Test(arguments: Household.Carrier.allCases) func `a handler may stop its node, which can be started again`(
        over carrier: Household.Carrier
    ) async throws {
        try await Household.runConnected(members: 1, over: carrier) { network, owner, members in
            let service = RunarService(name: "Power", path: "power", version: "1", description: "")
            service.registerAction("off") { (_: Int?, context: RunarContext) async throws -> Bool in
                await context.node.stop()
                return true
            }
            try await Self.offer(service, by: owner, to: members[0], in: network)
            let error = await failure { let _: Bool = try await members[0].request("Home:power/off", payload: 1) }
            // The connection ended before the answer.
            #expect(error is RunarError)
            #expect(!owner.isRunning)
            await owner.stop()
            try await owner.start()
            #expect(owner.isRunning)
        }
    }

    @Test(arguments: Household.Carrier.allCases) func `two members that offer a service are selected round-robin`(
        over carrier: Household.Carrier
    ) async throws {
        try await Household.runConnected(members: 2, over: carrier) { network, owner, members in
            for member in members {
                let service = RunarService(name: "Who", path: "who", version: "1", description: "")
                service.registerAction("are") { (_: Int?, context: RunarContext) async throws -> String in
                    context.node.peerId.base64Encoded
                }
                try await Self.offer(service, by: member, to: owner, in: network)
            }
            var counts: [String: Int] = [:]
            for _ in 0..<10 {
                let who: String = try await owner.request("Home:who/are", payload: Int?.none)
                counts[who, default: 0] += 1
            }
            #expect(counts == [members[0].peerId.base64Encoded: 5, members[1].peerId.base64Encoded: 5])
            let options = RequestOptions(peer: members[1].peerId)
            let chosen: String = try await owner.request("Home:who/are", payload: Int?.none, options: options)
            #expect(chosen == members[1].peerId.base64Encoded)
        }
    }
}

extension RunarNode {
    /// Returns once a condition on the offers of members holds.
    func wait(until holds: (RunarNode) -> Bool) async throws {
        let events = self.eventStream
        guard !holds(self) else { return }
        _ = try await events.first { _ in holds(self) }
    }
}
