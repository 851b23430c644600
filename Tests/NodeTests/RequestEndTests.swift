internal import Concurrency
internal import Identity
internal import NodeCore
internal import Services
internal import TestSupport
internal import Testing
internal import Transport

@testable internal import Node

@Suite("The end of requests", .timeLimit(.minutes(15))) struct RequestEndTests {
    /// A handler that waits until its task is cancelled.
    private struct Patient: Sendable {
        let begun = Mark()
        let cancelled = Mark()

        func serve(on node: LabNode) {
            node.serve { _ in
                self.begun.set()
                await untilCancelled()
                self.cancelled.set()
            }
        }
    }

    @Test func `a slow handler is cancelled at the deadline, and the requester is notified`() async throws {
        try await Lab.runStar(2) { lab, nodes in
            let patient = Patient()
            patient.serve(on: nodes[1])
            async let outcome = failure { _ = try await nodes[0].request("a/b", in: lab, of: nodes[1]) }
            try await patient.begun.wait()
            lab.clock.advance(by: .seconds(30))
            #expect((await outcome as? ServiceFailure)?.kind == .deadline)
            try await patient.cancelled.wait()
        }
    }

    @Test func `the provider enforces the deadline too`() async throws {
        try await Lab.runStar(2) { lab, nodes in
            let patient = Patient()
            patient.serve(on: nodes[1])
            // The requester's cancellation does not arrive.
            let request = try await nodes[0].driver.openRequest(
                RequestHeader(path: "a/b", timeLimit: .seconds(5)),
                in: lab.networkId,
                to: nodes[1].peerId
            )
            try await patient.begun.wait()
            lab.network.partition(nodes[0].endpoint.address, from: nodes[1].endpoint.address)
            lab.clock.advance(by: .seconds(5))
            try await patient.cancelled.wait()
            withExtendedLifetime(request) {}
        }
    }

    @Test func `a handler that ignores cancellation does not delay its requester`() async throws {
        try await Lab.runStar(2) { lab, nodes in
            let (begun, release) = (Mark(), Mark())
            nodes[1].serve { request in
                begun.set()
                await Task { _ = await failure { try await release.wait() } }.value
                let late = await failure { try await request.respond([1], .bytes) }
                #expect((late as? ServiceFailure)?.kind == .deadline)
                begun.set()
            }
            async let outcome = failure { _ = try await nodes[0].request("a/b", in: lab, of: nodes[1]) }
            try await begun.wait()
            lab.clock.advance(by: .seconds(30))
            #expect((await outcome as? ServiceFailure)?.kind == .deadline)
            release.set()
            try await begun.wait()
        }
    }

    @Test func `the deadline of a request ends no other request`() async throws {
        try await Lab.runStar(2) { lab, nodes in
            let (begun, release) = (Mark(), Mark())
            nodes[1].serve { request in
                begun.set()
                guard request.header.path == "a/long" else { return await untilCancelled() }
                await expectSuccess {
                    try await release.wait()
                    try await request.respond([1], .bytes)
                }
            }
            async let long = nodes[0].request("a/long", timeLimit: .seconds(60), in: lab, of: nodes[1])
            try await begun.wait()
            async let short = failure {
                _ = try await nodes[0].request("a/b", timeLimit: .seconds(2), in: lab, of: nodes[1])
            }
            try await begun.wait()
            lab.clock.advance(by: .seconds(2))
            #expect((await short as? ServiceFailure)?.kind == .deadline)
            async let next = failure {
                _ = try await nodes[0].request("a/b", timeLimit: .seconds(20), in: lab, of: nodes[1])
            }
            try await begun.wait()
            lab.clock.advance(by: .seconds(20))
            #expect((await next as? ServiceFailure)?.kind == .deadline)
            release.set()
            #expect(try await long == [1])
        }
    }

    @Test func `a deadline ends a request across a partition`() async throws {
        try await Lab.runStar(2) { lab, nodes in
            nodes[1].echo()
            try nodes[1].offer("a", ["b"], in: lab)
            try await nodes[0].waitForProviders(1, of: "a", in: lab)
            lab.network.partition(nodes[0].endpoint.address, from: nodes[1].endpoint.address)
            async let outcome = failure { _ = try await nodes[0].request("a/b", timeLimit: .seconds(4), in: lab) }
            while nodes[0].driver.requestTimer.deadline == nil { await Task.yield() }
            lab.clock.advance(by: .seconds(4))
            #expect((await outcome as? ServiceFailure)?.kind == .deadline)
        }
    }

    @Test(arguments: Lab.Wire.allCases)
    func `cancelling the requester cancels the handler`(over wire: Lab.Wire) async throws {
        try await Lab.runStar(2, over: wire) { lab, nodes in
            let patient = Patient()
            patient.serve(on: nodes[1])
            let asking = Task { _ = try await nodes[0].request("a/b", in: lab, of: nodes[1]) }
            try await patient.begun.wait()
            asking.cancel()
            await #expect(throws: CancellationError.self) { try await asking.value }
            try await patient.cancelled.wait()
        }
    }

    @Test func `a closed connection cancels the handler`() async throws {
        try await Lab.runStar(2) { lab, nodes in
            let patient = Patient()
            patient.serve(on: nodes[1])
            async let outcome = failure { _ = try await nodes[0].request("a/b", in: lab, of: nodes[1]) }
            try await patient.begun.wait()
            lab.network.breakConnections(between: nodes[0].endpoint.address, and: nodes[1].endpoint.address)
            try await patient.cancelled.wait()
            guard case .interrupted? = await outcome as? NodeError else {
                Issue.record("the requester heard something else")
                return
            }
        }
    }

    @Test(arguments: Lab.Wire.allCases)
    func `the handler is cancelled when its requester is revoked`(over wire: Lab.Wire) async throws {
        try await Lab.runStar(2, over: wire) { lab, nodes in
            let patient = Patient()
            patient.serve(on: nodes[1])
            async let outcome = failure { _ = try await nodes[0].request("a/b", in: lab, of: nodes[1]) }
            try await patient.begun.wait()
            nodes[1].driver.apply(.membership(.revocationsAdded([try lab.revocation(of: nodes[0])])))
            try await patient.cancelled.wait()
            let error = await outcome
            #expect(error is NodeError)
        }
    }

    @Test(arguments: Lab.Wire.allCases)
    func `a node that stops cancels its handlers and fails its requests`(over wire: Lab.Wire) async throws {
        try await Lab.runStar(2, over: wire) { lab, nodes in
            let patient = Patient()
            patient.serve(on: nodes[1])
            async let outcome = failure { _ = try await nodes[0].request("a/b", in: lab, of: nodes[1]) }
            try await patient.begun.wait()
            await nodes[1].driver.stop()
            try await patient.cancelled.wait()
            let error = await outcome
            #expect(error is NodeError)
        }
    }
}
