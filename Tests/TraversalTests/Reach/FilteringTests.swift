internal import Identity
internal import Testing

@testable internal import Traversal

@Suite("Whom a NAT lets in") struct FilteringTests {
    private static let asker = 0
    private static let helper = 1
    private static let alternate = 2

    /// A node behind a NAT, a member that it is connected to, and one that only that member is connected to.
    private func world(_ kind: SiteNAT.Kind?, seed: UInt64 = 1, hasAlternate: Bool = true) throws -> World {
        let world = try World(seed: seed)
        let nat = kind.map { world.addNAT($0) }
        try world.addNode(behind: nat)
        try world.addNode()
        try world.addNode()
        world.connect(Self.asker, Self.helper)
        if hasAlternate { world.connect(Self.alternate, Self.helper) }
        world.run(for: .seconds(1))
        return world
    }

    private func answer(in world: World) -> FilteringBehaviour? {
        world.feed(Self.asker, .filteringRequested)
        world.run(for: .seconds(3))
        return world.nodes[Self.asker].filterings.last
    }

    @Test(arguments: [nil, .fullCone, .addressRestricted, .portRestricted, .symmetric] as [SiteNAT.Kind?])
    func `a second member finds it out`(kind: SiteNAT.Kind?) throws {
        let expected: FilteringBehaviour = kind == nil || kind == .fullCone ? .endpointIndependent : .endpointDependent
        for seed in 1...10 {
            let world = try self.world(kind, seed: UInt64(seed))
            #expect(self.answer(in: world) == expected)
            #expect(self.answer(in: world) == expected, "asked again")
            #expect(world.nodes.allSatisfy { $0.violations == 0 })
        }
    }

    @Test func `without a second member, or without any, it says why it is not known`() throws {
        let alone = try World()
        try alone.addNode()
        #expect(self.answer(in: alone) == .unknown(.noHelper))
        #expect(self.answer(in: try self.world(.portRestricted, hasAlternate: false)) == .unknown(.noAlternate))
        let known = try self.world(.portRestricted)
        known.connect(Self.asker, Self.alternate)
        known.run(for: .seconds(1))
        #expect(self.answer(in: known) == .unknown(.noAlternate))
        let silent = try self.world(.portRestricted)
        silent.nodes[Self.helper].isDown = true
        #expect(self.answer(in: silent) == .unknown(.noAnswer))
    }

    @Test func `a member that names a victim as the place makes a node send ten datagrams a minute`() throws {
        let world = try self.world(nil)
        let victim = try SocketAddress(parsing: "203.0.113.99:4433")
        let key = try #require(PathKey([UInt8](1...24)))
        for _ in 0..<100 {
            let lie = Reach.Message.probeRequest(key.id, key.key, victim)
            world.sendMessage(lie.bytes, from: Self.helper, to: Self.alternate)
            world.run(for: .milliseconds(100))
        }
        #expect(world.nodes[Self.alternate].probes[victim] == 10)
        #expect(world.nodes[Self.alternate].violations == 0)
    }
}
