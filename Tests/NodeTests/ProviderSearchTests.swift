internal import Identity
internal import Kademlia
internal import Services
internal import Testing
internal import Transport

@testable internal import Node

@Suite("Providers that are not connected", .timeLimit(.minutes(15))) struct ProviderSearchTests {
    /// A requester and providers that initially know one member.
    private func run(providers count: Int, _ body: (Lab, _ hub: LabNode, LabNode, [LabNode]) async throws -> Void)
        async throws
    {
        let lab = Lab()
        let nodes = try (0..<count + 2).map { _ in try lab.makeNode() }
        let (hub, requester, providers) = (nodes[0], nodes[1], Array(nodes[2...]))
        for node in nodes.dropFirst() { lab.introduce(hub, to: node) }
        try await lab.run(nodes) {
            for (number, provider) in providers.enumerated() {
                provider.answer(UInt8(number))
                try await provider.driver.reach(hub.peerId)
            }
            try await body(lab, hub, requester, providers)
        }
    }

    /// Breaks the connection between two nodes, and another one if an RPC of a table that is still pending has made it.
    ///
    /// Neither node dials again by itself before the clock moves.
    private func disconnect(_ requester: LabNode, from provider: LabNode, in lab: Lab) async throws {
        repeat {
            try await requester.driver.reach(provider.peerId)
            let events = requester.events.listen()
            lab.network.breakConnections(between: requester.endpoint.address, and: provider.endpoint.address)
            _ = try await events.first { if case .peerLeft(provider.peerId, _, _) = $0 { true } else { false } }
        } while requester.driver.offers(in: lab.networkId)[provider.peerId] != nil
    }

    /// Returns once the hub holds the record of a service by a node.
    private func waitForRecord(of service: String, by writer: LabNode, at hub: LabNode, in lab: Lab) async {
        while lab.record(of: service, by: writer, at: hub)?.isTombstone != false { await Task.yield() }
    }

    @Test func `a provider that only the hash table knows is found, reached and asked`() async throws {
        try await self.run(providers: 1) { lab, hub, requester, providers in
            try providers[0].offer("math", ["add"], in: lab)
            await self.waitForRecord(of: "math", by: providers[0], at: hub, in: lab)
            try await self.disconnect(requester, from: providers[0], in: lab)
            #expect(try await requester.request("math/add", in: lab) == [0])
            #expect(requester.driver.admittedPeers().contains(providers[0].peerId))
        }
    }

    @Test func `records of providers that are gone end in failure, and say that they cannot be reached`() async throws {
        try await self.run(providers: 1) { lab, hub, requester, providers in
            try providers[0].offer("math", ["add"], in: lab)
            await self.waitForRecord(of: "math", by: providers[0], at: hub, in: lab)
            try await requester.driver.reach(providers[0].peerId)
            let events = requester.events.listen()
            await providers[0].driver.stop()
            _ = try await events.first { if case .peerLeft(providers[0].peerId, _, _) = $0 { true } else { false } }
            let error = await lab.clock.run(speed: 2) {
                await failure { _ = try await requester.request("math/add", timeLimit: .seconds(60), in: lab) }
            }
            #expect((error as? ServiceFailure)?.kind == .unreachable)
        }
    }

    @Test func `who offers a service no more deletes its record`() async throws {
        try await self.run(providers: 1) { lab, hub, requester, providers in
            try providers[0].offer("math", ["add"], in: lab)
            await self.waitForRecord(of: "math", by: providers[0], at: hub, in: lab)
            try providers[0].driver.offer([], in: lab.networkId)
            while lab.record(of: "math", by: providers[0], at: hub)?.isTombstone != true { await Task.yield() }
            try await self.disconnect(requester, from: providers[0], in: lab)
            let error = await failure { _ = try await requester.request("math/add", in: lab) }
            #expect((error as? ServiceFailure)?.kind == .noService)
        }
    }
}

extension Lab {
    /// Returns the head of a node's record of a service if the hub holds it.
    fileprivate func record(of service: String, by writer: LabNode, at hub: LabNode) -> Record.Head? {
        let key = Services.recordKey(of: service)
        return hub.driver.storedHeads(in: self.networkId).first { $0.key == key && $0.writer == writer.peerId }
    }
}
