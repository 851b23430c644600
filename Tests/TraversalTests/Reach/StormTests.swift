internal import Bytes
internal import Identity
internal import OrderedCollections
internal import Testing

@testable internal import Traversal

@Suite("Many devices at once") struct StormTests {
    @Test func `honest nodes violate no protocol and come to rest after any order of events`() throws {
        var connected = 0
        var pairs = 0
        for seed in 1...8 {
            var random = SeededGenerator(seed: UInt64(seed), name: "storm")
            let kinds = SiteNAT.Kind.all.shuffled(using: &random)
            let world = try World(pair: (kinds[0], kinds[1]), seed: UInt64(seed), loss: 0.03)
            for kind in kinds {
                let node = try world.addNode(behind: world.addNAT(kind))
                for helper in World.helpers { world.connect(node, helper) }
            }
            let devices = [0, 1, 4, 5, 6, 7]
            for _ in 0..<200 {
                let node = devices.randomElement(using: &random) ?? 0
                let other = devices.randomElement(using: &random) ?? 1
                let helper = World.helpers.randomElement(using: &random) ?? 2
                switch Int.random(in: 0..<20, using: &random) {
                case 0..<8 where node != other: world.seek(node, other)
                case 8..<11: if world.nodes[node].links[other] != nil { world.suspect(node, other) }
                case 11..<13: world.disconnect(node, other)
                case 13: world.move(node, behind: world.addNAT(kinds[node % kinds.count]))
                case 14: world.disconnect(node, helper)
                case 15..<18: if world.nodes[node].links[helper] == nil { world.connect(node, helper) }
                case 18: if let nat = world.nodes[node].nat { world.nats[nat].forget() }
                default: world.feed(node, .abandoned(world.nodes[other].peerId))
                }
                world.run(for: .milliseconds(Int64.random(in: 1...400, using: &random)))
            }
            // Peace: all are connected again, and seek each other.
            for node in devices {
                for helper in World.helpers where world.nodes[node].links[helper] == nil { world.connect(node, helper) }
                world.send(from: node)
            }
            world.run(for: .seconds(5))
            for node in devices {
                for other in devices where other > node { world.seek(node, other) }
            }
            world.run(for: .seconds(30))
            for node in world.nodes.indices {
                for other in world.nodes[node].links.keys.sorted() {
                    world.feed(node, .pathAnswered(world.nodes[other].peerId))
                }
            }
            world.run(for: .seconds(150))
            for node in devices {
                for other in devices where other > node {
                    pairs += 1
                    connected += world.isConnected(node, other) ? 1 : 0
                }
            }
            for node in world.nodes.indices {
                #expect(world.nodes[node].violations == 0)
                let sessions = world.nodes[node].reach.sessions
                #expect(world.isAtRest(node), "seed \(seed), \(node): \(sessions.entries.count) \(sessions.byPeer)")
                #expect(world.nodes[node].openPorts.count <= 8, "\(world.nodes[node].openPorts.count) ports")
            }
        }
        // The rest sent an offer over a peer whose own connection has a dead path, which in this world still carries
        // messages.
        print("after the storm: \(connected) of \(pairs) pairs connected")
        #expect(connected >= pairs * 95 / 100)
    }
}
