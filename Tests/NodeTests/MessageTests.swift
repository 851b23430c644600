internal import Concurrency
internal import Identity
internal import NodeCore
internal import Testing
internal import Transport

@testable internal import Node

@Suite("Messages between nodes", .timeLimit(.minutes(15))) struct MessageTests {
    @Test func `two nodes talk in both directions`() async throws {
        try await Lab.run(2) { lab, nodes in
            let (first, second) = (nodes[0].messages.listen(), nodes[1].messages.listen())
            try await nodes[0].driver.send([1, 2, 3], to: nodes[1].peerId)
            let received = try await second.first { _ in true }
            #expect(received.payload == [1, 2, 3])
            #expect(received.peer == nodes[0].peerId)
            #expect(received.network == lab.networkId)
            try await nodes[1].driver.send([4], to: nodes[0].peerId)
            #expect(try await first.first { _ in true }.payload == [4])
            // Another task stores it.
            while nodes[0].kept.withLock({ $0.isEmpty }) {
                try Task.checkCancellation()
                await Task.yield()
            }
            #expect(nodes[0].kept.withLock { $0.count } == 1)
        }
    }

    @Test func `members may send more at once than unadmitted peers`() async throws {
        try await Lab.run(2, over: .sockets) { _, nodes in
            let listeners = nodes.map { $0.messages.listen() }
            // With its receipt both sides know that they are members.
            try await nodes[0].driver.send([1], to: nodes[1].peerId)
            let payload = [UInt8](repeating: 7, count: 200_000)
            try await withThrowingTaskGroup(of: Void.self) { group in
                for _ in 0..<20 {
                    group.addTask { try await nodes[0].driver.send(payload, to: nodes[1].peerId) }
                    group.addTask { try await nodes[1].driver.send(payload, to: nodes[0].peerId) }
                }
                try await group.waitForAll()
            }
            #expect(try await listeners[1].first { _ in true }.payload == [1])
            for listener in listeners {
                for _ in 0..<20 { #expect(try await listener.first { _ in true }.payload == payload) }
            }
        }
    }

    @Test func `the sender learns that no listener exists`() async throws {
        try await Lab.run(2) { _, nodes in
            let error = await failure { try await nodes[0].driver.send([1], to: nodes[1].peerId) }
            #expect(error as? NodeError == .noListener(nodes[1].peerId))
        }
    }

    @Test func `a message on a connection that has just ended fails with an error of the node`() async throws {
        try await Lab.run(2) { _, nodes in
            let (driver, peer) = (nodes[0].driver, nodes[1].peerId)
            try await driver.reach(peer)
            let connections = driver.state.withLock { $0.connections.entries.values.map(\.connection) }
            for connection in connections {
                connection.close(code: CloseCode.helloTimeout.rawValue, reason: CloseCode.helloTimeout.explanation)
            }
            // The core may not have been notified of it.
            let error = await failure { try await driver.withStream(kind: .message, to: peer, in: nil) { _, _ in } }
            #expect(error is NodeError, "\(String(describing: error))")
        }
    }

    @Test func `the sender learns that a listener is full`() async throws {
        let lab = Lab()
        let nodes = [try lab.makeNode(), try lab.makeNode(capacity: 2)]
        lab.introduce(nodes[1], to: nodes[0])
        try await lab.run(nodes) {
            let slow = nodes[1].messages.listen()
            for number in UInt8(0)..<2 { try await nodes[0].driver.send([number], to: nodes[1].peerId) }
            let error = await failure { try await nodes[0].driver.send([9], to: nodes[1].peerId) }
            #expect(error as? NodeError == .receiverBusy(nodes[1].peerId))
            _ = slow
        }
    }

    @Test func `a message that is too large is refused on either side`() async throws {
        let lab = Lab()
        let nodes = [try lab.makeNode(), try lab.makeNode(messageLimit: 100_000)]
        lab.introduce(nodes[1], to: nodes[0])
        try await lab.run(nodes) {
            let listener = nodes[1].messages.listen()
            let peer = nodes[1].peerId
            let huge = [UInt8](repeating: 0, count: 1 << 20 + 1)
            let error = await failure { try await nodes[0].driver.send(huge, to: peer) }
            #expect(error as? NodeError == .tooLarge(limit: 1 << 20, found: 1 << 20 + 1))
            let large = [UInt8](repeating: 0, count: 900_000)
            let second = await failure { try await nodes[0].driver.send(large, to: peer) }
            #expect(second as? NodeError == .interrupted(peer, CloseCode.tooLarge.explanation))
            try await nodes[0].driver.send([UInt8](repeating: 7, count: 100_000), to: peer)
            #expect(try await listener.first { _ in true }.payload.count == 100_000)
        }
    }

    @Test func `many messages at once all arrive`() async throws {
        try await Lab.run(2) { _, nodes in
            let listener = nodes[1].messages.listen()
            try await withThrowingTaskGroup(of: Void.self) { group in
                for number in UInt8(0)..<50 {
                    group.addTask { try await nodes[0].driver.send([number], to: nodes[1].peerId) }
                }
                try await group.waitForAll()
            }
            var found: Set<UInt8> = []
            for await message in listener {
                found.formUnion(message.payload)
                if found.count == 50 { break }
            }
            #expect(found.count == 50)
        }
    }

    @Test func `a peer without address or common network is an error at once`() async throws {
        let lab = Lab()
        let nodes = [try lab.makeNode(isMember: false), try lab.makeNode()]
        try await lab.run(nodes) {
            let peer = nodes[1].peerId
            let unknown = await failure { try await nodes[0].driver.send([1], to: peer) }
            #expect(unknown as? NodeError == .noAddress(peer))
            lab.introduce(nodes[1], to: nodes[0])
            let nonMember = await failure { try await nodes[0].driver.send([1], to: peer) }
            #expect(nonMember as? NodeError == .noSharedNetwork(peer))
        }
    }

    @Test func `the own id is refused as a peer`() async throws {
        let lab = Lab()
        let node = try lab.makeNode()
        try await lab.run([node]) {
            let error = await failure { try await node.driver.send([1], to: node.peerId) }
            #expect(error as? NodeError == .ownDevice)
        }
    }

    @Test func `a silent address is an error with its reason`() async throws {
        let lab = Lab()
        let nodes = [try lab.makeNode(), try lab.makeNode()]
        lab.introduce(nodes[1], to: nodes[0])
        await nodes[1].endpoint.close(code: 0)
        try await lab.run([nodes[0]]) {
            let error = await failure { try await nodes[0].driver.send([1], to: nodes[1].peerId) }
            guard case .unreachable(nodes[1].peerId, _)? = error as? NodeError else {
                Issue.record("unexpected \(String(describing: error))")
                return
            }
        }
    }

    @Test func `a peer without membership is refused, and both sides are notified`() async throws {
        let lab = Lab()
        let nodes = [try lab.makeNode(), try lab.makeNode(isMember: false)]
        lab.introduce(nodes[1], to: nodes[0])
        try await lab.run(nodes) {
            let peer = nodes[1].peerId
            let events = nodes[1].events.listen()
            let error = await failure { try await nodes[0].driver.send([1], to: peer) }
            #expect(error as? NodeError == .refusedByPeer(peer, CloseCode.notAdmitted.explanation))
            _ = try await events.first { if case .refused = $0 { true } else { false } }
        }
    }

    @Test func `a message without an answer times out`() async throws {
        try await Lab.run(2) { lab, nodes in
            lab.network.partition(nodes[0].endpoint.address, from: nodes[1].endpoint.address)
            let error = await lab.clock.run(speed: 100) {
                await failure { try await nodes[0].driver.send([1], to: nodes[1].peerId) }
            }
            switch error as? NodeError {
            case .timedOut, .unreachable: break
            default: Issue.record("unexpected \(String(describing: error))")
            }
        }
    }
}
