internal import Bytes
internal import Concurrency
internal import Identity
internal import TestSupport
internal import Testing
internal import Transport

@testable internal import Node
@testable internal import NodeCore

@Suite("Connections of nodes", .timeLimit(.minutes(15))) struct ConnectionTests {
    private func isJoined(_ event: NodeEvent) -> Bool {
        if case .peerJoined = event { true } else { false }
    }

    private func isLeft(_ event: NodeEvent) -> Bool {
        if case .peerLeft = event { true } else { false }
    }

    @Test func `a broken connection is dialled again after a pause`() async throws {
        try await Lab.run(2) { lab, nodes in
            try await nodes[0].driver.reach(nodes[1].peerId)
            let (joins, leaves) = (nodes[0].events.listen(), nodes[0].events.listen())
            lab.network.breakConnections(between: nodes[0].endpoint.address, and: nodes[1].endpoint.address)
            _ = try await leaves.first(self.isLeft)
            #expect(nodes[0].driver.admittedPeers().isEmpty)
            lab.clock.advance(by: .seconds(2))
            _ = try await joins.first(self.isJoined)
            #expect(nodes[0].driver.admittedPeers() == [nodes[1].peerId])
        }
    }

    /// A node whose callers wait longer than a busy machine delays tasks while the clock runs.
    private func makePatientNode(in lab: Lab) throws -> LabNode {
        try lab.makeNode { $0.pauses.patience = .seconds(600) }
    }

    @Test func `simultaneous dials leave one connection`() async throws {
        let lab = Lab()
        let nodes = [try self.makePatientNode(in: lab), try self.makePatientNode(in: lab)]
        lab.introduce(nodes[0], to: nodes[1])
        lab.introduce(nodes[1], to: nodes[0])
        lab.network.defaultLink = LinkModel(latency: .milliseconds(10))
        try await lab.run(nodes) {
            try await lab.clock.run(speed: 2) {
                async let first: Void = nodes[0].driver.reach(nodes[1].peerId)
                async let second: Void = nodes[1].driver.reach(nodes[0].peerId)
                _ = try await (first, second)
                while nodes.contains(where: { $0.driver.state.withLock { $0.connections.entries.count } != 1 }) {
                    try Task.checkCancellation()
                    await Task.yield()
                }
            }
            #expect(nodes[0].driver.admittedPeers() == [nodes[1].peerId])
            #expect(nodes[1].driver.admittedPeers() == [nodes[0].peerId])
        }
    }

    @Test func `bad addresses do not delay a good one`() async throws {
        let (lab, sleeps) = (Lab(), Locked<Set<Duration>>([]))
        let caller = try lab.makeNode { settings in
            let sleep = settings.clock.sleep
            settings.clock.sleep = { deadline in
                sleeps.withLock { _ = $0.insert(deadline) }
                try await sleep(deadline)
            }
        }
        let nodes = [caller, try lab.makeNode()]
        let silent = try (0..<7).map { _ in try lab.makeNode(isMember: false).endpoint }
        for endpoint in silent { lab.network.partition(nodes[0].endpoint.address, from: endpoint.address) }
        let addresses = silent.map(\.address) + [nodes[1].endpoint.address]
        nodes[0].driver.apply(
            .peer(.remembered(nodes[1].peerId, networks: [lab.networkId], addresses: addresses))
        )
        let stagger = DriverPauses().dialStagger
        let turns = Set((1...silent.count).map { stagger * $0 })
        let dialledCount = {
            caller.driver.pathHistory(of: nodes[1].peerId).count {
                if case .dialled = $0.event { true } else { false }
            }
        }
        try await lab.run(nodes) {
            async let reached: Void = caller.driver.reach(nodes[1].peerId)
            // The clock stands still until all dials wait for their turns.
            while !turns.isSubset(of: sleeps.withLock { $0 }) {
                try Task.checkCancellation()
                await Task.yield()
            }
            for count in 1...silent.count {
                while dialledCount() < count {
                    try Task.checkCancellation()
                    await Task.yield()
                }
                lab.clock.advance(by: stagger)
            }
            try await reached
            // The dials of the silent ones, which would answer nothing for ten seconds, are still under way.
            let events = caller.driver.pathHistory(of: nodes[1].peerId).map(\.event)
            #expect(silent.allSatisfy { events.contains(.dialled($0.address)) })
            #expect(!events.contains { if case .notReached = $0 { true } else { false } })
        }
        withExtendedLifetime(silent) {}
    }

    @Test func `a peer with a late hello is dialled again`() async throws {
        let lab = Lab()
        let nodes = [try self.makePatientNode(in: lab), try lab.makeNode()]
        lab.introduce(nodes[1], to: nodes[0])
        let events = nodes[0].events.listen()
        try await lab.run([nodes[0]]) {
            let reach = Task { try await nodes[0].driver.reach(nodes[1].peerId) }
            // The other node does not run yet, so no hello arrives.
            try await lab.clock.run(speed: 2) {
                _ = try await events.first { if case .refused(nodes[1].peerId, nil, _) = $0 { true } else { false } }
            }
            try await lab.run([nodes[1]]) {
                try await lab.clock.run(speed: 2) { try await reach.value }
                #expect(nodes[0].driver.admittedPeers() == [nodes[1].peerId])
            }
        }
    }

    @Test func `waiting for a peer can be cancelled`() async throws {
        try await Lab.run(2) { lab, nodes in
            lab.network.partition(nodes[0].endpoint.address, from: nodes[1].endpoint.address)
            for isEarly in [true, false] {
                let waiting = Task { try await nodes[0].driver.send([1], to: nodes[1].peerId) }
                while !isEarly, nodes[0].driver.state.withLock({ $0.pending.admissions.isEmpty }) {
                    try Task.checkCancellation()
                    await Task.yield()
                }
                waiting.cancel()
                await #expect(throws: CancellationError.self) { try await waiting.value }
            }
            #expect(nodes[0].driver.state.withLock { $0.pending.admissions.isEmpty })
        }
    }

    @Test func `an offer that waits for consent can be cancelled`() async throws {
        try await Lab.run(2) { _, nodes in
            let directory = try TemporaryDirectory()
            let path = try directory.write([1, 2, 3], to: "note")
            let (asked, asking) = AsyncStream.makeStream(of: Void.self)
            nodes[1].driver.receiveFiles(
                FileReceiver { _ in
                    asking.yield()
                    await Self.untilCancelled()
                    return nil
                }
            )
            let sending = Task {
                try await nodes[0].driver.sendFile(at: path, named: "note", to: nodes[1].peerId) { _ in }
            }
            _ = try await asked.first { true }
            sending.cancel()
            await #expect(throws: CancellationError.self) { try await sending.value }
        }
    }

    static func untilCancelled() async {
        let (stream, _) = AsyncStream.makeStream(of: Void.self)
        for await _ in stream {}
    }

    @Test func `a revocation resets streams under way at once`() async throws {
        try await Lab.run(2) { lab, nodes in
            let directory = try TemporaryDirectory()
            let path = try directory.write([1, 2, 3], to: "note")
            let (asked, asking) = AsyncStream.makeStream(of: Void.self)
            nodes[1].driver.receiveFiles(
                FileReceiver { _ in
                    asking.yield()
                    await Self.untilCancelled()
                    return nil
                }
            )
            let events = nodes[0].events.listen()
            async let outcome = failure {
                try await nodes[0].driver.sendFile(at: path, named: "note", to: nodes[1].peerId) { _ in }
            }
            _ = try await asked.first { true }
            nodes[1].driver.apply(.membership(.revocationsAdded([try lab.revocation(of: nodes[0])])))
            let error = await outcome as? NodeError
            guard case .interrupted(nodes[1].peerId, _)? = error else {
                Issue.record("unexpected \(String(describing: error))")
                return
            }
            #expect(nodes[1].driver.admittedPeers().isEmpty)
            _ = try await events.first { $0 == .membershipEnded(lab.networkId, reason: CloseCode.revoked.explanation) }
        }
    }

    @Test func `a stop while things are under way ends them all`() async throws {
        let lab = Lab()
        let nodes = [try lab.makeNode(), try lab.makeNode()]
        lab.introduce(nodes[1], to: nodes[0])
        let directory = try TemporaryDirectory()
        let path = try directory.write([1, 2, 3], to: "note")
        let (asked, asking) = AsyncStream.makeStream(of: Void.self)
        nodes[1].driver.receiveFiles(
            FileReceiver { _ in
                asking.yield()
                await Self.untilCancelled()
                return nil
            }
        )
        let sending = Locked<Task<Void, any Error>?>(nil)
        try await lab.run(nodes) {
            let task: Task<Void, any Error> = Task {
                try await nodes[0].driver.sendFile(at: path, named: "note", to: nodes[1].peerId) { _ in }
            }
            sending.withLock { $0 = task }
            _ = try await asked.first { true }
        }
        await #expect(throws: NodeError.self) { try await sending.withLock { $0 }?.value }
        let error = await failure { try await nodes[0].driver.send([1], to: nodes[1].peerId) }
        #expect(error as? NodeError == .notRunning)
    }

    @Test func `a frame above the limit closes the connection before it is collected`() async throws {
        try await Lab.run(1) { lab, nodes in
            let nonMember = try lab.network.makeEndpoint(peerId: PeerId(publicKey: generatePeerKey().publicKey))
            let connection = try await nonMember.connect(to: nodes[0].endpoint.address, expecting: nodes[0].peerId)
            let stream = try connection.openStream()
            var writer = ByteWriter()
            writer.write(StreamHeader(kind: .hello).bytes)
            writer.writeVarint(UInt64(Frame.helloByteLimit + 1))
            try await stream.write(writer.bytes, finish: false)
            guard case .closed(let code, _) = await connection.closed() else {
                Issue.record("not closed")
                return
            }
            #expect(code == CloseCode.protocolViolation.rawValue)
        }
    }

    /// A member that speaks the frames itself, is admitted, leaves the network and disconnects at once.
    private func visit(_ node: LabNode, in lab: Lab, pausing turns: Int) async throws -> PeerId {
        let visitor = PeerId(publicKey: generatePeerKey().publicKey)
        let endpoint = try lab.network.makeEndpoint(peerId: visitor)
        let connection = try await endpoint.connect(to: node.endpoint.address, expecting: node.peerId)
        let stream = try connection.openStream()
        let offer = Frame.Offer(index: 0, token: try lab.token(of: visitor))
        let hello = Frame.hello(Frame.Hello(instance: InstanceId(), tokens: [offer]))
        try await stream.write(StreamHeader(kind: .hello).bytes + hello.prefixedBytes, finish: false)
        var reader = StreamReader(stream)
        let answer = try #require(try await reader.readPrefixed(limit: Frame.helloByteLimit))
        guard case .helloReply(let reply) = try Frame(answer) else {
            throw StreamReader.Failure.endedEarly
        }
        let acknowledgement = Frame.helloAcknowledgement(
            reply.proofs.map { Frame.Verdict(index: $0.index, refusal: nil) }
        )
        try await stream.write(acknowledgement.prefixedBytes, finish: false)
        // Meanwhile the node may answer what it read; the visitor does not read that answer.
        for _ in 0..<turns { await Task.yield() }
        try await stream.write(Frame.admissionEnd(index: 0, .leftNetwork).prefixedBytes, finish: false)
        connection.close(code: CloseCode.shutdown.rawValue, reason: CloseCode.shutdown.explanation)
        return visitor
    }

    @Test func `what a peer sent just before its shutdown counts`() async throws {
        try await Lab.run(1) { lab, nodes in
            let events = nodes[0].events.listen()
            var visitors: [PeerId] = []
            for round in 0..<200 {
                visitors.append(try await self.visit(nodes[0], in: lab, pausing: round % 20))
                while nodes[0].driver.state.withLock({ !$0.connections.entries.isEmpty }) { await Task.yield() }
            }
            nodes[0].events.finish()
            let reason = CloseCode.leftNetwork.explanation
            var (unseen, unheard) = (Set(visitors), Set(visitors))
            for await event in events {
                if case .peerJoined(let peer, lab.networkId) = event { unseen.remove(peer) }
                if case .peerLeft(let peer, lab.networkId, reason) = event { unheard.remove(peer) }
            }
            #expect(unseen.isEmpty, "\(unseen.count) of \(visitors.count)")
            #expect(unheard.isEmpty, "\(unheard.count) of \(visitors.count)")
        }
    }

    @Test(arguments: Lab.Wire.allCases) func `a node that stops as soon as it is admitted was seen`(
        wire: Lab.Wire
    ) async throws {
        try await Lab.run(1, over: wire) { lab, nodes in
            let events = nodes[0].events.listen()
            for _ in 0..<50 {
                // It lingers longer than a busy machine takes to deliver the last frames.
                let visitor = try lab.makeNode { $0.pauses.lingerAtStop = .seconds(60) }
                lab.introduce(nodes[0], to: visitor)
                try await lab.run([visitor]) { try await visitor.driver.reach(nodes[0].peerId) }
                _ = try await events.first { $0 == .peerJoined(visitor.peerId, lab.networkId) }
            }
        }
    }

    @Test func `a stream before admission is reset, and nothing reaches the listeners`() async throws {
        try await Lab.run(1) { lab, nodes in
            let nonMember = try lab.network.makeEndpoint(peerId: PeerId(publicKey: generatePeerKey().publicKey))
            let connection = try await nonMember.connect(to: nodes[0].endpoint.address, expecting: nodes[0].peerId)
            // The request sends only the header of its stream: the node resets it without waiting for the rest.
            for kind in [StreamHeader.Kind.message, .bulk, .request] {
                let stream = try connection.openStream()
                let rest: [UInt8] = kind == .request ? [] : [1, 2, 3]
                try await stream.write(StreamHeader(kind: kind, networkIndex: 0).bytes + rest, finish: false)
                let error = await failure { _ = try await stream.read(atMost: 10) } as? TransportError
                #expect(error == .reset(code: CloseCode.networkNotShared.rawValue))
            }
        }
    }

    @Test func `a second control stream is reset`() async throws {
        try await Lab.run(1) { lab, nodes in
            let nonMember = try lab.network.makeEndpoint(peerId: PeerId(publicKey: generatePeerKey().publicKey))
            let connection = try await nonMember.connect(to: nodes[0].endpoint.address, expecting: nodes[0].peerId)
            let first = try connection.openStream()
            try await first.write(StreamHeader(kind: .hello).bytes, finish: false)
            // Streams are taken side by side, so the second one could be the first.
            let driver = nodes[0].driver
            while !driver.state.withLock({ $0.connections.entries.values.contains { $0.controlStreamEnded != nil } }) {
                await Task.yield()
            }
            let second = try connection.openStream()
            try await second.write(StreamHeader(kind: .hello).bytes, finish: false)
            let error = await failure { _ = try await second.read(atMost: 10) } as? TransportError
            #expect(error == .reset(code: CloseCode.protocolViolation.rawValue))
        }
    }
}
