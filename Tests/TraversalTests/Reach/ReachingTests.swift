internal import Bytes
internal import Identity
internal import OrderedCollections
internal import Testing

@testable internal import Traversal

@Suite("Reaching a peer") struct ReachingTests {
    @Test func `IPv6 is used only if it works`() throws {
        for isBroken in [false, true] {
            let addresses = (first: ["[2001:db8:1::1]:4433"], second: ["[2001:db8:2::1]:4433"])
            let world = try World(pair: (.portRestricted, .fullCone), addresses: addresses)
            world.isIPv6Broken = isBroken
            world.seek()
            let time = try #require(world.timeToDirect(), "\(world.story())")
            #expect(world.link()?.remote.isIPv6 == !isBroken)
            #expect(time <= world.relayedRoundTrip * 3 + .milliseconds(250))
        }
    }

    @Test func `two devices of one site connect inside it under any NAT type`() throws {
        let world = try World(pair: (.symmetric, nil))
        try world.addNode(behind: 0)
        for helper in World.helpers { world.connect(4, helper) }
        world.run(for: .seconds(1))
        world.seek(World.first, 4)
        #expect(world.timeToDirect(World.first, 4) != nil)
        #expect(world.link(World.first, 4)?.remote == world.nodes[4].addresses[0])
    }

    @Test func `a public peer is reached at the address that the coordinator sees`() throws {
        for kinds in [(SiteNAT.Kind.symmetric, nil), (nil, SiteNAT.Kind.symmetric), (nil, nil)] {
            let world = try World(pair: kinds)
            world.seek()
            #expect(world.timeToDirect(within: .seconds(2)) != nil, "\(world.story())")
        }
    }

    @Test func `an offer goes to the next coordinator if the first one is silent or leaves`() throws {
        for isNoticed in [false, true] {
            for seed in 1...10 {
                let world = try World(pair: (.portRestricted, .portRestricted), seed: UInt64(seed))
                world.seek()
                let offered = world.nodes[World.first].history.compactMap { entry -> Int? in
                    if case .offerSent(let peer) = entry.event { world.index(of: peer) } else { nil }
                }
                let coordinator = try #require(offered.first)
                world.nodes[coordinator].isDown = true
                if isNoticed { world.disconnect(World.first, coordinator) }
                let limit = Duration.milliseconds(isNoticed ? 500 : 1_500)
                #expect(world.timeToDirect(within: limit) != nil, "\(world.story())")
            }
        }
    }

    @Test func `two peers with simultaneous offers get one connection`() throws {
        for seed in 1...20 {
            let world = try World(pair: (.portRestricted, .addressRestricted), seed: UInt64(seed), loss: 0.02)
            world.seek(World.first, World.second)
            world.run(for: .milliseconds(Int64(seed % 5) * 10))
            world.seek(World.second, World.first)
            #expect(world.timeToDirect(within: .seconds(5)) != nil, "\(world.story())")
            world.run(for: .seconds(20))
            let dials = world.nodes[World.first].dials.count + world.nodes[World.second].dials.count
            #expect(dials == 1, "\(world.story()) \(world.story(World.second))")
            #expect(world.nodes[World.first].failures.isEmpty && world.nodes[World.second].failures.isEmpty)
            #expect(world.isAtRest(World.first) && world.isAtRest(World.second))
        }
    }

    @Test func `crossing offers through different coordinators end in one connection`() throws {
        for seed in 1...10 {
            let world = try World(pair: (.portRestricted, .portRestricted), seed: UInt64(seed))
            // Each side sends offers first over peers that have no connection to the other, and the common peer later.
            for node in [World.first, World.second] {
                for _ in 0..<3 { world.connect(node, try world.addNode()) }
                world.disconnect(node, World.helpers[1])
            }
            world.run(for: .seconds(1))
            world.seek(World.first, World.second)
            world.seek(World.second, World.first)
            #expect(world.timeToDirect(within: .seconds(2)) != nil, "\(world.story()) \(world.story(World.second))")
            world.run(for: .seconds(20))
            #expect(world.nodes[World.first].dials.count + world.nodes[World.second].dials.count == 1)
            #expect(world.nodes[World.first].failures.isEmpty && world.nodes[World.second].failures.isEmpty)
        }
    }

    @Test func `an unreachable peer fails with the reason and leaves no state behind`() throws {
        let world = try World(pair: (.portRestricted, .portRestricted))
        for helper in World.helpers { world.disconnect(World.second, helper) }
        world.seek()
        world.run(for: .seconds(1))
        #expect(world.nodes[World.first].failures == [.notConnected])
        #expect(world.isAtRest(World.first))

        for helper in World.helpers { world.disconnect(World.first, helper) }
        world.seek()
        #expect(world.nodes[World.first].failures == [.notConnected, .nobodyToAsk])

        var limits = Reach.Limits()
        limits.channels = 0
        let other = try World(pair: (.symmetric, .symmetric), limits: limits)
        other.seek()
        other.run(for: .seconds(30))
        #expect(other.nodes[World.first].failures == [.unreachable])
        #expect([World.first, World.second].allSatisfy { other.isAtRest($0) })
    }

    @Test func `the checks of an abandoned peer end`() throws {
        let world = try World(pair: (.portRestricted, .portRestricted))
        world.seek()
        world.run(for: .milliseconds(30))
        world.feed(World.first, .abandoned(world.nodes[World.second].peerId))
        world.run(for: .seconds(30))
        #expect(!world.isConnected())
        #expect(world.nodes[World.first].failures.isEmpty)
        #expect([World.first, World.second].allSatisfy { world.isAtRest($0) })
    }

    @Test func `a path that passes probes but not the connection is left for the relay`() throws {
        for seed in 1...10 {
            let world = try World(pair: (.portRestricted, .fullCone), seed: UInt64(seed))
            world.isQUICBlocked = true
            world.seek()
            let start = world.now
            world.run(until: start + .seconds(10)) { $0.isConnected() }
            #expect(world.isRelayed(), "\(world.story())")
            #expect(world.now - start <= .seconds(3))
            world.run(for: .seconds(25))
            #expect(world.isRelayed() && world.nodes[World.first].failures.isEmpty)
            world.isQUICBlocked = false
            #expect(world.timeToDirect(within: .seconds(40)) != nil, "\(world.story())")
        }
    }

    @Test func `a relay that forwards nothing is replaced by another one`() throws {
        for seed in 1...10 {
            let world = try World(pair: (.symmetric, .symmetric), seed: UInt64(seed))
            world.seek()
            let offered = world.nodes[World.first].history.compactMap { entry -> Int? in
                if case .offerSent(let peer) = entry.event { world.index(of: peer) } else { nil }
            }
            world.nodes[try #require(offered.first)].isSwallowing = true
            let start = world.now
            world.run(until: start + .seconds(20)) { $0.isConnected() }
            #expect(world.isRelayed(), "\(world.story())")
            #expect(world.now - start <= .seconds(5))
            #expect(world.nodes[World.first].failures.isEmpty)
            world.run(for: .seconds(60 + 30))
            #expect(world.isAtRest(World.first) && world.isAtRest(World.second))
        }
    }

    @Test func `a search leaves only the ports open that the connection uses`() throws {
        for kinds in [(SiteNAT.Kind.symmetric, SiteNAT.Kind.portRestricted), (.portRestricted, .symmetric)] {
            let world = try World(pair: kinds, seed: 4)
            world.seek()
            #expect(world.timeToDirect() != nil, "\(world.story())")
            world.run(for: .seconds(30))
            let searcher = kinds.0 == .symmetric ? World.first : World.second
            let open = world.nodes[searcher].openPorts
            let used = try #require(world.link(searcher, 1 - searcher)?.port)
            #expect(open.contains(used) && open.count <= 2, "\(open)")
            world.disconnect(World.first, World.second)
            #expect(world.nodes[searcher].openPorts.isEmpty)
        }
    }

    @Test func `a port search without open ports is followed by another one`() throws {
        let world = try World(pair: (.symmetric, .portRestricted), seed: 4)
        world.nodes[World.first].refusedOpenings = 1
        world.seek()
        #expect(world.timeToDirect(within: .seconds(300)) != nil, "\(world.story())")
        #expect(world.nodes[World.first].refusedOpenings == 0)
    }

    @Test func `a connection is made at a loss of a third of all datagrams`() throws {
        var direct = 0
        for seed in 1...20 {
            let world = try World(pair: (.portRestricted, .portRestricted), seed: UInt64(seed), loss: 0.33)
            world.seek()
            direct += world.timeToDirect() == nil ? 0 : 1
        }
        print("direct at a loss of 33 %: \(direct) of 20")
        #expect(direct >= 18)
    }

    @Test func `offers of an unknown peer are accepted up to the limit`() throws {
        var limits = Reach.Limits()
        limits.sessions = 2
        limits.offersBurst = 100
        var solo = try Solo(limits: limits)
        let coordinator = try solo.connect("198.51.100.9:4433")
        for _ in 0..<3 {
            let session = try solo.key()
            let introduction = Reach.Introduction(observed: nil, channel: nil)
            let offer = Reach.Offer(mapping: .unknown, addresses: [])
            solo.hear(
                .forwardedOffer(session.id, from: try solo.peer(), session.key, offer, introduction),
                from: coordinator
            )
        }
        let messages = try solo.messages(to: coordinator)
        #expect(messages.count { if case .answer = $0 { true } else { false } } == 2)
        #expect(messages.count { if case .decline(_, .refused) = $0 { true } else { false } } == 1)
        solo.run(for: .seconds(20))
        #expect(solo.reach.sessions.entries.isEmpty && solo.reach.sessions.byPeer.isEmpty)
    }

    @Test func `equal seeds give equal runs`() throws {
        func describe() throws -> String {
            let world = try World(pair: (.symmetric, .portRestricted), seed: 5, loss: 0.05)
            world.seek()
            world.run(for: .seconds(30))
            return world.story() + world.story(World.second)
        }
        #expect(try describe() == describe())
    }

    @Test func `two observers at different addresses determine the mapping of a NAT`() throws {
        for kind in SiteNAT.Kind.all {
            let world = try World(pair: (kind, nil))
            let expected: MappingBehaviour = kind == .symmetric ? .endpointDependent : .endpointIndependent
            #expect(world.nodes[World.first].reach.mapping == expected)
            // It is kept while the network is the same; a server of the public kind counts as an observer.
            for helper in World.helpers { world.disconnect(World.first, helper) }
            #expect(world.nodes[World.first].reach.mapping == expected)
            world.feed(World.first, .ownAddressesChanged([SocketAddress(.v4(0x0A00_0001), port: 1)]))
            #expect(world.nodes[World.first].reach.mapping == .unknown)
            for (server, port) in [(UInt32(0x0808_0808), UInt16(9)), (0x0808_0404, 10)] {
                let seen = SocketAddress(world.nats[0].address, port: port)
                world.feed(World.first, .addressObserved(seen, by: SocketAddress(.v4(server), port: 3478)))
            }
            #expect(world.nodes[World.first].reach.mapping == .endpointDependent)
        }
        let world = try World(pair: (nil, nil))
        #expect(world.nodes[World.first].reach.mapping == .endpointIndependent)
    }
}
