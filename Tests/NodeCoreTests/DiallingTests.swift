internal import Identity
internal import Testing

@testable internal import NodeCore

@Suite("Dialling") struct DiallingTests {
    @Test func `the address of an accepted connection is kept, and dialled again`() throws {
        var net = try CoreNetwork(members: 2)
        net.connect(1, 0)
        let place = ObservedAddress(address: CoreNetwork.address(of: 1), hasAnswered: false)
        #expect(net.nodes[0].effects.contains(.peer(.persist(net.nodes[1].peerId, net.network(), place))))
        let answered = ObservedAddress(address: CoreNetwork.address(of: 0), hasAnswered: true)
        #expect(net.nodes[1].effects.contains(.peer(.persist(net.nodes[0].peerId, net.network(), answered))))
        net.feed(0, .peer(.wanted(net.nodes[1].peerId)))
        net.breakAll(of: 0)
        net.advance(by: .seconds(2))
        #expect(net.dials(by: 0) > 0)
        #expect(net.areAdmitted(0, 1))
    }

    @Test func `an old port is forgotten after three failures once the peer answered at another one`() throws {
        var net = try CoreNetwork(members: 2)
        let peer = net.nodes[1].peerId
        let good = CoreNetwork.address(of: 1)
        let old = SocketAddress(good.ip, port: 9)
        let elsewhere = try SocketAddress(parsing: "203.0.113.7:9")
        net.feed(0, .peer(.remembered(peer, networks: [net.network()], addresses: [good, old, elsewhere])))
        func addresses() -> [SocketAddress] { net.nodes[0].core.peers[peer]?.addresses ?? [] }
        // The peer may be off: without an answer nothing is forgotten.
        for _ in 0..<3 { net.feed(0, .peer(.addressFailed(peer, old))) }
        for _ in 0..<5 { net.feed(0, .peer(.addressFailed(peer, elsewhere))) }
        #expect(addresses() == [good, old, elsewhere])
        net.connect(0, 1)
        #expect(addresses() == [good, elsewhere])
        #expect(net.nodes[0].effects.contains(.peer(.persistFailure(peer, old, isStale: true))))
        #expect(!net.nodes[0].effects.contains(.peer(.persistFailure(peer, elsewhere, isStale: true))))
        // It returns when it is announced again, and has three failures again.
        net.feed(0, .peer(.remembered(peer, networks: [], addresses: [old])))
        for _ in 0..<2 { net.feed(0, .peer(.addressFailed(peer, old))) }
        #expect(addresses().contains(old))
        net.feed(0, .peer(.addressFailed(peer, old)))
        #expect(!addresses().contains(old) && addresses().contains(good))
        // The address of the answer stays, however often it fails.
        for _ in 0..<9 { net.feed(0, .peer(.addressFailed(peer, good))) }
        #expect(addresses().contains(good))
    }

    @Test func `connected peers are noted as seen every ten minutes, and at the end`() throws {
        var net = try CoreNetwork.connectedPair()
        let seen = { (net: CoreNetwork) in
            net.count(by: 0) { $0 == .peer(.persistSeen([net.nodes[1].peerId])) }
        }
        net.advance(by: .seconds(599))
        #expect(seen(net) == 0)
        net.advance(by: .seconds(2))
        #expect(seen(net) == 1)
        net.advance(by: .seconds(600))
        #expect(seen(net) == 2)
        net.isOffline = true
        net.breakAll(of: 0)
        #expect(seen(net) == 3)
        net.advance(by: .seconds(3_600))
        #expect(seen(net) == 3)
    }

    @Test func `pauses grow, have jitter and are bounded`() throws {
        var net = try CoreNetwork(members: 2)
        net.isOffline = true
        net.connect(0, 1)
        let peer = net.nodes[1].peerId
        var ends: [Duration] = []
        var shares: Set<Duration> = []
        while ends.count < 20 {
            if let known = net.nodes[0].core.peers[peer], case .waiting(let end) = known.dial.state, ends.last != end {
                let full = min(Duration.seconds(300), .milliseconds(500) * (1 << known.dial.failures))
                let pause = end - net.now.monotonic
                #expect(pause >= full / 2 - .milliseconds(10) && pause <= full, "pause \(ends.count): \(pause)")
                if full == .seconds(300) { shares.insert(pause) }
                ends.append(end)
            }
            net.advance(by: .milliseconds(10))
        }
        #expect(shares.count > 1)
    }

    @Test func `a broken connection is dialled again and pauses are short after a stable one`() throws {
        var net = try CoreNetwork(members: 2)
        net.connect(0, 1)
        net.advance(by: .seconds(60))
        for _ in 0..<5 {
            net.breakAll(of: 0)
            #expect(!net.isAdmitted(0, 1))
            net.advance(by: .seconds(1))
            #expect(net.areAdmitted(0, 1))
            net.advance(by: .seconds(60))
        }
    }

    @Test func `a connection that keeps breaking is dialled at growing intervals`() throws {
        var net = try CoreNetwork(members: 2)
        net.connect(0, 1)
        for _ in 0..<600 {
            net.breakAll(of: 0)
            net.advance(by: .seconds(1))
        }
        #expect(net.dials(by: 0) < 20)
    }

    @Test func `a peer is dialled once, however often it is wanted`() throws {
        var net = try CoreNetwork(members: 2)
        net.isHoldingDials = true
        for _ in 0..<5 { net.connect(0, 1) }
        #expect(net.pendingDials.count == 1)
        net.finishDial(at: 0)
        net.deliver()
        #expect(net.areAdmitted(0, 1))
    }

    @Test func `a peer without a shared network is not dialled`() throws {
        var net = CoreNetwork(hasTables: false)
        try net.addMember(of: [0])
        try net.addMember(of: [1])
        net.connect(0, 1, networks: [1])
        net.advance(by: .seconds(600))
        #expect(net.dials(by: 0) == 0)
    }

    @Test func `a peer that is no longer wanted is not dialled again`() throws {
        var net = try CoreNetwork(members: 2)
        net.connect(0, 1)
        net.feed(0, .peer(.unwanted(net.nodes[1].peerId)))
        #expect(net.closeCodes(by: 0) == [.manuallyDisconnected])
        let dials = net.dials(by: 0)
        net.advance(by: .seconds(600))
        #expect(net.dials(by: 0) == dials)
    }

    @Test func `a stop closes every connection and ends all dials`() throws {
        var net = try CoreNetwork(members: 4)
        for node in 1..<4 { net.connect(0, node) }
        net.feed(0, .stopping)
        #expect(net.closeCodes(by: 0) == [.shutdown, .shutdown, .shutdown])
        net.nodes[0].wake = nil
        let dials = net.dials(by: 0)
        net.feed(0, .timeReached)
        #expect(net.dials(by: 0) == dials)
    }

    @Test func `concurrent dials are bounded`() throws {
        var limits = Limits()
        limits.dials = 3
        var net = CoreNetwork(hasTables: false)
        try net.addMember(limits: limits)
        for _ in 0..<10 { try net.addMember() }
        net.isHoldingDials = true
        for node in 1...10 { net.connect(0, node) }
        var most = 0
        for _ in 0..<200 {
            most = max(most, net.pendingDials.count)
            if !net.pendingDials.isEmpty { net.finishDial(at: 0) }
            net.deliver()
            net.advance(by: .milliseconds(100))
        }
        #expect(most == 3)
        #expect(net.nodes[0].core.admittedPeers(in: nil).count == 10)
        #expect(net.nodes[0].core.peers.dialCount == 0)
    }

    @Test func `an address that arrives during a dial is tried before the peer is abandoned`() throws {
        var net = try CoreNetwork(members: 2)
        net.isHoldingDials = true
        let nowhere = [SocketAddress(.v4(0x7F00_0001), port: 9)]
        net.feed(0, .peer(.remembered(net.nodes[1].peerId, networks: [net.network()], addresses: nowhere)))
        net.feed(0, .peer(.wanted(net.nodes[1].peerId)))
        net.introduce(1, to: 0)
        #expect(net.pendingDials.map(\.addresses) == [nowhere])
        net.finishDial(at: 0)
        #expect(net.pendingDials.map(\.addresses) == [[CoreNetwork.address(of: 1)] + nowhere])
        net.finishDial(at: 0)
        net.deliver()
        #expect(net.areAdmitted(0, 1))
    }

    @Test func `a new address is dialled without waiting for the dial of the old one`() throws {
        var net = try CoreNetwork(members: 2)
        net.isHoldingDials = true
        let (peer, old) = (net.nodes[1].peerId, SocketAddress(.v4(0x7F00_0001), port: 9))
        net.feed(0, .peer(.remembered(peer, networks: [net.network()], addresses: [old])))
        net.feed(0, .peer(.wanted(peer)))
        net.connect(0, 1)
        net.connect(0, 1)
        try #require(net.pendingDials.map(\.addresses) == [[old], [CoreNetwork.address(of: 1)]])
        net.finishDial(at: 1)
        net.deliver()
        #expect(net.areAdmitted(0, 1))
        // The old one fails later, and changes nothing.
        net.finishDial(at: 0)
        net.deliver()
        net.advance(by: .seconds(60))
        #expect(net.areAdmitted(0, 1))
        #expect(net.dials(by: 0) == 2)
    }

    @Test func `dials of one peer are bounded, however many addresses it has`() throws {
        var net = try CoreNetwork(members: 2)
        net.isHoldingDials = true
        for port: UInt16 in 1...20 {
            let place = SocketAddress(.v4(0x7F00_0001), port: port)
            net.feed(0, .peer(.remembered(net.nodes[1].peerId, networks: [net.network()], addresses: [place])))
            net.feed(0, .peer(.wanted(net.nodes[1].peerId)))
        }
        #expect(net.pendingDials.count == Limits().dialsPerPeer)
    }
}
