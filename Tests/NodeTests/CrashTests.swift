internal import Concurrency
internal import Identity
internal import Kademlia
internal import NodeCore
internal import Services
internal import Testing
internal import Transport

@testable internal import Node

/// Peers that fall silent without a word, as a process does that crashed.
@Suite("Peers that crash", .timeLimit(.minutes(15))) struct CrashTests {
    /// Runs a requester and two providers; the first that gets a request crashes while it handles the request.
    private func runWithCrash(
        over wire: Lab.Wire,
        isIdempotent: Bool,
        _ body: (Lab, [LabNode], _ asked: Locked<[Int]>, _ crashed: Mark) async throws -> Void
    ) async throws {
        try await Lab.runStar(3, over: wire) { lab, nodes in
            let asked = Locked<[Int]>([])
            let crashed = Mark()
            for number in 1...2 {
                nodes[number].serve { request in
                    let count = asked.withLock { asked in
                        asked.append(number)
                        return asked.count
                    }
                    guard count > 1 else {
                        lab.crash(nodes[number], among: nodes)
                        crashed.set()
                        return await untilCancelled()
                    }
                    await expectSuccess {
                        try await request.respond([UInt8(number)], .bytes)
                    }
                }
                try nodes[number].offer("math", ["add"], isIdempotent: isIdempotent, in: lab)
            }
            try await nodes[0].waitForProviders(2, of: "math", in: lab)
            try await body(lab, nodes, asked, crashed)
        }
    }

    @Test(arguments: Lab.Wire.allCases)
    func `an idempotent request moves to another provider long before its timeout`(
        over wire: Lab.Wire
    ) async throws {
        try await self.runWithCrash(over: wire, isIdempotent: true) { lab, nodes, asked, crashed in
            async let answer = nodes[0].request("math/add", timeLimit: .seconds(3600), in: lab)
            try await crashed.wait()
            // In memory a link that is cut is suspected after this; over sockets the transport finds out.
            lab.clock.advance(by: .seconds(1))
            let answerer = try await answer
            let first = asked.withLock { $0[0] }
            #expect(answerer == [UInt8(3 - first)])
            // The connection still exists, and the next requests are sent to the provider that answers.
            #expect(nodes[0].driver.admittedPeers(in: lab.networkId).contains(nodes[first].peerId))
            for _ in 0..<4 { #expect(try await nodes[0].request("math/add", in: lab) == answerer) }
            #expect(asked.withLock { $0.count } == 6)
        }
    }

    @Test func `any other request waits for its provider until its deadline`() async throws {
        try await self.runWithCrash(over: .memory, isIdempotent: false) { lab, nodes, asked, crashed in
            async let outcome = failure {
                _ = try await nodes[0].request("math/add", timeLimit: .seconds(9), in: lab)
            }
            try await crashed.wait()
            lab.clock.advance(by: .seconds(1))
            // Another request that begins now is sent to the provider that answers.
            let first = asked.withLock { $0[0] }
            while !nodes[0].isSuspected(nodes[first], in: lab) { await Task.yield() }
            #expect(try await nodes[0].request("math/add", in: lab) == [UInt8(3 - first)])
            lab.clock.advance(by: .seconds(8))
            #expect((await outcome as? ServiceFailure)?.kind == .deadline)
            #expect(asked.withLock { $0.count } == 2)
        }
    }

    @Test func `an idempotent request without another provider waits for its own`() async throws {
        try await Lab.runStar(2) { lab, nodes in
            let (begun, release) = (Mark(), Mark())
            nodes[1].serve { request in
                begun.set()
                await expectSuccess {
                    try await release.wait()
                    try await request.respond([5], .bytes)
                }
            }
            try nodes[1].offer("math", ["add"], isIdempotent: true, in: lab)
            try await nodes[0].waitForProviders(1, of: "math", in: lab)
            async let answer = nodes[0].request("math/add", in: lab)
            try await begun.wait()
            lab.crash(nodes[1], among: nodes)
            lab.clock.advance(by: .seconds(2))
            while !nodes[0].isSuspected(nodes[1], in: lab) { await Task.yield() }
            lab.network.heal(nodes[0].endpoint.address, with: nodes[1].endpoint.address)
            while nodes[0].isSuspected(nodes[1], in: lab) { await Task.yield() }
            release.set()
            #expect(try await answer == [5])
        }
    }

    @Test func `a request to one peer goes to no other peer`() async throws {
        try await self.runWithCrash(over: .memory, isIdempotent: true) { lab, nodes, asked, crashed in
            async let outcome = failure {
                let limit = Duration.seconds(5)
                _ = try await nodes[0].request("math/add", isIdempotent: true, timeLimit: limit, in: lab, of: nodes[1])
            }
            try await crashed.wait()
            lab.clock.advance(by: .seconds(1))
            while !nodes[0].isSuspected(nodes[1], in: lab) { await Task.yield() }
            lab.clock.advance(by: .seconds(4))
            #expect((await outcome as? ServiceFailure)?.kind == .deadline)
            #expect(asked.withLock { $0 } == [1])
        }
    }
}

extension LabNode {
    /// Whether this node suspects that another one to which it is connected has left.
    fileprivate func isSuspected(_ other: LabNode, in lab: Lab) -> Bool {
        self.driver.state.withLock { state in
            state.core.route(to: other.peerId, in: lab.networkId).map { state.core.isSuspect($0.connection) } ?? false
        }
    }
}
