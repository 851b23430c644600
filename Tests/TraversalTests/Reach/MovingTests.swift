internal import Bytes
internal import Identity
internal import OrderedCollections
internal import Testing

@testable internal import Traversal

@Suite("Connections that move") struct MovingTests {
    /// Two that are connected without a relay.
    private func directWorld(
        _ kinds: (SiteNAT.Kind?, SiteNAT.Kind?),
        seed: UInt64 = 1
    ) throws -> World {
        let world = try World(pair: kinds, seed: seed)
        world.seek()
        _ = try #require(world.timeToDirect(), "\(world.story())")
        world.run(for: .seconds(1))
        return world
    }

    @Test func `a relay soon carries the connection if no direct path exists`() throws {
        for seed in 1...20 {
            let world = try World(pair: (.portRestricted, .portRestricted), seed: UInt64(seed))
            world.cut = [World.first, World.second]
            world.seek()
            let start = world.now
            world.run(until: start + .seconds(5)) { $0.isConnected() }
            #expect(world.isRelayed())
            #expect(world.now - start <= world.relayedRoundTrip * 3 + .milliseconds(250), "\(world.story())")
        }
    }

    @Test func `a relayed connection becomes direct at the next attempt after a path opens`() throws {
        for opensAfter in [5, 15, 45, 200] {
            let world = try World(pair: (.portRestricted, .addressRestricted))
            world.cut = [World.first, World.second]
            world.seek()
            world.run(for: .seconds(Int64(opensAfter)))
            #expect(world.isRelayed())
            let link = world.link()?.id
            world.cut = []
            let limit = Duration.seconds(opensAfter < 60 ? 30 : 301)
            #expect(world.timeToDirect(within: limit) != nil, "\(world.story())")
            #expect(world.link()?.id == link, "the connection is the same one")
            world.run(for: .seconds(20))
            #expect([World.first, World.second].allSatisfy { world.isAtRest($0) })
        }
    }

    @Test func `a relayed connection on request becomes a direct one later`() throws {
        for isSwallowing in [false, true] {
            let world = try World(pair: (.fullCone, .fullCone))
            world.feed(World.first, .soughtOverRelay(world.nodes[World.second].peerId, world.network))
            if isSwallowing {
                for case (_, _, .offerSent(let peer)) in world.nodes[World.first].history {
                    world.nodes[try #require(world.index(of: peer))].isSwallowing = true
                }
            }
            world.run(for: .seconds(8))
            #expect(world.isRelayed(), "\(world.story())")
            #expect(world.timeToDirect(within: .seconds(30)) != nil, "\(world.story())")
        }
    }

    @Test func `a path found while the relayed connection is made is used at once`() throws {
        let world = try World(pair: (.portRestricted, .portRestricted))
        world.cut = [World.first, World.second]
        world.seek()
        world.run(until: world.now + .seconds(5)) { !$0.nodes[World.first].dials.isEmpty }
        #expect(world.nodes[World.first].dials.allSatisfy { ChannelId(address: $0) != nil })
        world.cut = []
        #expect(world.timeToDirect(within: .seconds(1)) != nil, "\(world.story())")
        #expect(world.nodes[World.first].dials.count == 1)
    }

    @Test func `a dead path is left for the relay at once and used again when it works`() throws {
        for seed in 1...10 {
            let world = try self.directWorld((.portRestricted, .portRestricted), seed: UInt64(seed))
            let link = world.link()?.id
            world.cut = [World.first, World.second]
            world.suspect(World.first, World.second)
            let start = world.now
            world.run(until: start + .seconds(5)) { $0.isRelayed() }
            #expect(world.isRelayed(), "\(world.story())")
            #expect(world.now - start <= world.relayedRoundTrip * 2, "\(world.story())")
            world.cut = []
            #expect(world.timeToDirect(within: .seconds(15)) != nil, "\(world.story())")
            #expect(world.link()?.id == link)
        }
    }

    @Test func `a wrong suspicion ends with the first answer`() throws {
        let world = try self.directWorld((.portRestricted, .portRestricted))
        for channel in world.nodes[World.first].reach.channels.keys {
            let helper = try #require(world.nodes[World.first].channels[channel]?.relay)
            world.nodes[helper].isDown = true
            world.disconnect(World.first, helper)
        }
        world.suspect(World.first, World.second)
        world.run(for: .seconds(1))
        #expect(world.isDirect())
        #expect(world.nodes[World.first].reach.peers[world.nodes[World.second].peerId]?.isSuspect == false)
    }

    @Test func `a device that moves is found again, whichever side dialled`() throws {
        var stalls: [Duration] = []
        for (mover, kinds) in [
            (World.second, (SiteNAT.Kind.fullCone, SiteNAT.Kind.portRestricted)),
            (World.second, (.portRestricted, .portRestricted)), (World.second, (.symmetric, .fullCone)),
            (World.first, (.portRestricted, .portRestricted)), (World.first, (.portRestricted, .fullCone)),
        ] {
            for seed in 1...10 {
                let world = try self.directWorld(kinds, seed: UInt64(seed))
                let link = world.link()?.id
                let earlier = world.link(World.first)?.remote
                let site = world.addNAT(.portRestricted)
                world.move(mover, behind: site)
                // The silence that QUIC notices at both ends.
                world.suspect(World.first, World.second, after: .milliseconds(500))
                world.suspect(World.second, World.first, after: .milliseconds(600))
                let start = world.now
                world.run(until: start + .seconds(10)) { $0.isAlive(link, since: earlier, mover) }
                stalls.append(world.now - start)
                #expect(world.isAlive(link, since: earlier, mover), "\(world.story())\n\n\(world.story(World.second))")
                #expect(world.link()?.id == link)
                // A search may fail once; the next one is a minute later.
                #expect(world.timeToDirect(within: .seconds(90)) != nil, "\(world.story())")
            }
        }
        let sorted = stalls.sorted()
        print("stall of a move: p50 \(sorted[sorted.count / 2]), p95 \(sorted[sorted.count * 95 / 100])")
        #expect(sorted[sorted.count * 95 / 100] <= .seconds(2))
    }

    @Test func `a NAT that drops its mappings stalls a connection no longer than a suspicion takes`() throws {
        for (node, kind) in [
            (World.first, SiteNAT.Kind.portRestricted), (World.second, .portRestricted), (1, .symmetric),
        ] {
            for seed in 1...5 {
                let kinds = (node == 0 ? kind : .addressRestricted, node == 1 ? kind : .addressRestricted)
                let world = try self.directWorld(kinds, seed: UInt64(seed))
                let link = world.link()?.id
                world.nats[node].forget()
                world.send(from: node)
                world.suspect(World.first, World.second, after: .milliseconds(500))
                let start = world.now
                world.run(until: start + .seconds(10)) { $0.isRelayed() }
                let isRelayed = world.isRelayed()
                // The dialler's datagrams open its own NAT again; the other side's NAT needs the relay's help.
                #expect(isRelayed || node == World.first)
                #expect(world.timeToDirect(within: .seconds(90)) != nil, "\(world.story())")
                #expect(world.link()?.id == link)
            }
        }
    }

    @Test func `a dialler with a live path answers an offer with a datagram on that path`() throws {
        for isDialler in [true, false] {
            var solo = try Solo()
            let coordinator = try solo.connect("198.51.100.9:4433")
            let peer = try solo.connect("203.0.113.3:5000", isDialler: isDialler)
            let session = try solo.key()
            let offer = Reach.Offer(mapping: .unknown, addresses: [try SocketAddress(parsing: "203.0.113.3:5000")])
            let introduction = Reach.Introduction(observed: nil, channel: nil)
            solo.hear(.forwardedOffer(session.id, from: peer, session.key, offer, introduction), from: coordinator)
            let earlier = try solo.messages(to: peer).count
            for case .host(.sendDatagram(let bytes, let address, _)) in solo.effects {
                let answer = Solo.answer(to: try STUNPacket(bytes), key: session.key)
                solo.feed(.datagramReceived(answer, from: address, port: nil))
            }
            #expect(try solo.messages(to: peer).count - earlier == (isDialler ? 1 : 0))
        }
    }

    @Test func `a relay that leaves is replaced by another one`() throws {
        for seed in 1...10 {
            let world = try World(pair: (.symmetric, .symmetric), seed: UInt64(seed))
            world.seek()
            world.run(for: .seconds(20))
            #expect(world.isRelayed())
            let remote = try #require(world.link()?.remote)
            let channel = try #require(ChannelId(address: remote))
            let relay = try #require(world.nodes[World.first].channels[channel]?.relay)
            world.nodes[relay].isDown = true
            for node in [World.first, World.second] { world.disconnect(node, relay) }
            let start = world.now
            world.run(until: start + .seconds(5)) { $0.isRelayed() && $0.link()?.remote != remote }
            #expect(world.link()?.remote != remote, "\(world.story())")
            #expect(world.now - start <= .milliseconds(700), "\(world.story())")
            world.run(for: .seconds(25))
            #expect([World.first, World.second].allSatisfy { world.isAtRest($0) })
        }
    }
}

extension World {
    /// Whether the connection runs over a path that works after a move.
    fileprivate func isAlive(_ link: Int?, since earlier: SocketAddress?, _ mover: Int) -> Bool {
        guard self.link(World.first)?.id == link, self.link(World.second, World.first)?.id == link else { return false }
        if self.isRelayed() { return true }
        // A dialler that moved keeps the remote address; the other side's view shows that it arrived.
        guard let seen = self.link(World.second, World.first)?.remote, let remote = self.link(World.first)?.remote
        else {
            return false
        }
        return mover == World.first
            ? self.nats.last?.address == seen.ip : remote != earlier && ChannelId(address: remote) == nil
    }
}
