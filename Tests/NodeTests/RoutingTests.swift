internal import Concurrency
internal import Identity
internal import NodeCore
internal import Services
internal import TestSupport
internal import Testing
internal import Transport

@testable internal import Node

@Suite("Whom requests go to", .timeLimit(.minutes(15))) struct RoutingTests {
    @Test(arguments: Lab.Wire.allCases)
    func `two providers of a service are selected round-robin`(over wire: Lab.Wire) async throws {
        try await Lab.runStar(3, over: wire) { lab, nodes in
            for (number, node) in nodes.dropFirst().enumerated() {
                node.answer(UInt8(number))
                try node.offer("math", ["add"], in: lab)
            }
            try await nodes[0].waitForProviders(2, of: "math", in: lab)
            var answers: [UInt8] = []
            for _ in 0..<6 { answers += try await nodes[0].request("math/add", in: lab) }
            #expect(answers == [0, 1, 0, 1, 0, 1] || answers == [1, 0, 1, 0, 1, 0])
        }
    }

    @Test(arguments: Lab.Wire.allCases)
    func `a provider with a closed connection is skipped`(over wire: Lab.Wire) async throws {
        try await Lab.runStar(3, over: wire) { lab, nodes in
            for node in nodes.dropFirst() { try node.offer("math", ["add"], in: lab) }
            try await nodes[0].waitForProviders(2, of: "math", in: lab)
            let driver = nodes[0].driver
            let route = try #require(driver.state.withLock { $0.core.route(to: nodes[1].peerId) })
            let connection = try #require(driver.state.withLock { $0.connections[route.connection]?.connection })
            connection.close(code: CloseCode.shutdown.rawValue, reason: "")
            _ = await connection.closed()
            // The core may not have been notified of it, or has connected to the peer again.
            let deadline = driver.configuration.clock.now().monotonic + .seconds(60)
            for _ in 0..<2 {
                let opening = try driver.openConnected("math/add", deadline, in: lab.networkId, excluding: [])
                #expect(opening.route.connection != route.connection)
            }
        }
    }

    @Test func `a member that connects later receives the service offers`() async throws {
        try await Lab.run(2) { lab, nodes in
            nodes[1].answer(7)
            try nodes[1].offer("math", ["add"], in: lab)
            try await nodes[0].driver.reach(nodes[1].peerId)
            try await nodes[0].waitForProviders(1, of: "math", in: lab)
            #expect(try await nodes[0].request("math/add", in: lab) == [7])
            let offer = ServiceOffer(path: "math", actions: [ActionOffer(name: "add")])
            #expect(nodes[0].driver.offers(in: lab.networkId) == [nodes[1].peerId: [offer]])
        }
    }

    @Test func `a service added before a network is joined is offered in it`() async throws {
        let lab = Lab()
        let nodes = [try lab.makeNode(), try lab.makeNode(isMember: false)]
        nodes[1].answer(7)
        try nodes[1].offer("math", ["add"], in: lab)
        try lab.admit(nodes[1])
        lab.introduce(nodes[1], to: nodes[0])
        try await lab.run(nodes) {
            try await nodes[0].driver.reach(nodes[1].peerId)
            try await nodes[0].waitForProviders(1, of: "math", in: lab)
        }
    }

    @Test func `a missing service, a missing action and a pause have different errors`() async throws {
        try await Lab.runStar(2) { lab, nodes in
            let missing = await failure { _ = try await nodes[0].request("math/add", in: lab) }
            #expect((missing as? ServiceFailure)?.kind == .noService)
            try nodes[1].offer("math", ["add"], isRunning: false, in: lab)
            try await nodes[0].waitForProviders(1, of: "math", in: lab)
            let other = await failure { _ = try await nodes[0].request("math/sub", in: lab) }
            #expect((other as? ServiceFailure)?.kind == .noAction)
            let paused = await failure { _ = try await nodes[0].request("math/add", in: lab) }
            #expect((paused as? ServiceFailure)?.kind == .notRunning)

            nodes[1].answer(5)
            try nodes[1].offer("math", ["add"], in: lab)
            lab.clock.advance(by: .milliseconds(100))
            try await nodes[0].waitForOffers { $0.offers(in: lab.networkId).values.contains { $0[0].isRunning } }
            #expect(try await nodes[0].request("math/add", in: lab) == [5])
        }
    }

    @Test(arguments: Lab.Wire.allCases)
    func `losing one provider leaves the other`(over wire: Lab.Wire) async throws {
        try await Lab.runStar(3, over: wire) { lab, nodes in
            for (number, node) in nodes.dropFirst().enumerated() {
                node.answer(UInt8(number))
                try node.offer("math", ["add"], in: lab)
            }
            try await nodes[0].waitForProviders(2, of: "math", in: lab)
            await nodes[1].driver.stop()
            try await nodes[0].waitForProviders(1, of: "math", in: lab)
            for _ in 0..<4 { #expect(try await nodes[0].request("math/add", in: lab) == [1]) }
        }
    }

    @Test(arguments: Lab.Wire.allCases)
    func `a provider in shutdown leaves requests to the others`(over wire: Lab.Wire) async throws {
        try await Lab.runStar(3, over: wire) { lab, nodes in
            for (number, node) in nodes.dropFirst().enumerated() {
                node.answer(UInt8(number))
                try node.offer("math", ["add"], in: lab)
            }
            try await nodes[0].waitForProviders(2, of: "math", in: lab)
            // As in a stop, before the connection is closed.
            nodes[1].driver.state.withLock { $0.lifecycle.phase = .stopped }
            for _ in 0..<4 { #expect(try await nodes[0].request("math/add", in: lab) == [1]) }
            let refusal = await failure { _ = try await nodes[0].request("math/add", in: lab, of: nodes[1]) }
            #expect((refusal as? ServiceFailure)?.kind == .notRunning)
            nodes[1].driver.state.withLock { $0.lifecycle.phase = .running }
        }
    }

    /// A provider that disconnects as soon as it has the request, and another one.
    private func runWithDying(
        _ isIdempotent: Bool,
        isActionIdempotent: Bool = false,
        _ check: (Result<[UInt8], any Error>, _ handled: Int) -> Void
    ) async throws {
        try await Lab.runStar(3) { lab, nodes in
            let handled = Locked(0)
            for (number, node) in nodes.dropFirst().enumerated() {
                node.serve { request in
                    let isFirst = handled.withLock { count in
                        count += 1
                        return count == 1
                    }
                    guard !isFirst else {
                        lab.network.breakConnections(between: nodes[0].endpoint.address, and: node.endpoint.address)
                        return await untilCancelled()
                    }
                    await expectSuccess {
                        try await request.respond([UInt8(number)], .bytes)
                    }
                }
                try node.offer("math", ["add"], isIdempotent: isActionIdempotent, in: lab)
            }
            try await nodes[0].waitForProviders(2, of: "math", in: lab)
            let result: Result<[UInt8], any Error>
            do {
                result = .success(try await nodes[0].request("math/add", isIdempotent: isIdempotent, in: lab))
            } catch {
                result = .failure(error)
            }
            check(result, handled.withLock { $0 })
        }
    }

    @Test func `an idempotent request moves to another provider if its own dies`() async throws {
        try await self.runWithDying(true) { result, handled in
            #expect(handled == 2)
            #expect(throws: Never.self) { try result.get() }
        }
    }

    @Test func `a request for an idempotent action moves to another provider too`() async throws {
        try await self.runWithDying(false, isActionIdempotent: true) { result, handled in
            #expect(handled == 2)
            #expect(throws: Never.self) { try result.get() }
        }
    }

    @Test func `any other request fails if its provider dies and is not retried`() async throws {
        try await self.runWithDying(false) { result, handled in
            #expect(handled == 1)
            guard case .failure(let error) = result, case .interrupted? = error as? NodeError else {
                Issue.record("\(result)")
                return
            }
        }
    }

    @Test(arguments: Lab.Wire.allCases)
    func `a busy provider passes the request to the next one`(over wire: Lab.Wire) async throws {
        try await Lab.runStar(3, over: wire) { lab, nodes in
            nodes[1].serve { await $0.fail(ServiceFailure(kind: .busy)) }
            nodes[2].answer(2)
            for node in nodes.dropFirst() { try node.offer("math", ["add"], in: lab) }
            try await nodes[0].waitForProviders(2, of: "math", in: lab)
            for _ in 0..<4 { #expect(try await nodes[0].request("math/add", in: lab) == [2]) }
            await nodes[2].driver.stop()
            try await nodes[0].waitForProviders(1, of: "math", in: lab)
            let error = await failure { _ = try await nodes[0].request("math/add", in: lab) }
            #expect((error as? ServiceFailure)?.kind == .busy, "\(String(describing: error))")
        }
    }

    @Test func `a request is not retried after a handler's failure`() async throws {
        try await Lab.runStar(3) { lab, nodes in
            let count = Locked(0)
            for node in nodes.dropFirst() {
                node.serve { request in
                    count.withLock { $0 += 1 }
                    await request.fail(ServiceFailure(kind: .handler, code: 3))
                }
                try node.offer("math", ["add"], in: lab)
            }
            try await nodes[0].waitForProviders(2, of: "math", in: lab)
            let error = await failure { _ = try await nodes[0].request("math/add", isIdempotent: true, in: lab) }
            #expect((error as? ServiceFailure)?.code == 3)
            #expect(count.withLock { $0 } == 1)
        }
    }

    @Test func `a request to a named peer connects to it first`() async throws {
        try await Lab.run(2) { lab, nodes in
            nodes[1].echo()
            let answer = try await nodes[0].request("any/thing", [4], in: lab, of: nodes[1])
            #expect(answer == [4])
        }
    }

    @Test func `an unreachable peer is not reported as a missing service`() async throws {
        let lab = Lab()
        let nodes = [try lab.makeNode(), try lab.makeNode()]
        try await lab.run([nodes[0]]) {
            let error = await failure { _ = try await nodes[0].request("any/thing", in: lab, of: nodes[1]) }
            #expect(error as? NodeError == .noAddress(nodes[1].peerId))
        }
    }

    @Test func `a request fails on a node that is no member or does not run`() async throws {
        let lab = Lab()
        let node = try lab.makeNode(isMember: false)
        try await lab.run([node]) {
            let error = await failure { _ = try await node.request("math/add", in: lab) }
            #expect(error as? NodeError == .notAMember(lab.networkId))
            await node.driver.stop()
            let later = await failure { _ = try await node.request("math/add", in: lab) }
            #expect(later as? NodeError == .notRunning)
        }
    }
}
