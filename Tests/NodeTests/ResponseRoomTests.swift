internal import Concurrency
internal import Identity
internal import NodeCore
internal import Services
internal import TestSupport
internal import Testing
internal import Transport

@testable internal import Node

@Suite("Room for responses that wait", .timeLimit(.minutes(15))) struct ResponseRoomTests {
    private static let byteCount = 300 << 10
    /// Responses of that size that a connection in memory takes unread.
    private static let taken = 4

    /// Runs two members, the second of which has room for `count` responses that wait.
    private func run(roomFor count: Int, _ body: (Lab, [LabNode], ResponseRoom) async throws -> Void) async throws {
        let lab = Lab()
        let nodes = [try lab.makeNode(), try lab.makeNode { $0.limits.responseBytes = count * Self.byteCount }]
        lab.introduce(nodes[1], to: nodes[0])
        try await lab.run(nodes) {
            try await nodes[0].driver.reach(nodes[1].peerId, in: lab.networkId)
            let room = try #require(nodes[1].driver.state.withLock { $0.connections.entries.values.first?.responses })
            try await body(lab, nodes, room)
        }
    }

    /// A request whose response is not read yet.
    private func ask(_ lab: Lab, _ nodes: [LabNode]) async throws -> OutgoingRequest {
        try await nodes[0].driver.openRequest(RequestHeader(path: "a/b"), in: lab.networkId, to: nodes[1].peerId)
    }

    @Test func `what is held is counted and bounded`() async throws {
        let room = ResponseRoom(byteLimit: 100)
        try await room.hold(60) {
            #expect(room.heldBytes == 60)
            try await room.hold(40) { #expect(room.heldBytes == 100) }
            let error = await failure { try await room.hold(41) { Issue.record("there is no room") } }
            #expect((error as? ServiceFailure)?.kind == .tooLarge)
        }
        #expect(room.heldBytes == 0)
        await #expect(throws: CancellationError.self) { try await room.hold(100) { throw CancellationError() } }
        #expect(room.heldBytes == 0)
        try await room.waitForRoom()
    }

    @Test func `no handler begins while the peer leaves responses unread, and all are answered when it reads`()
        async throws
    {
        // All of them would fit, and a quarter is five.
        try await self.run(roomFor: 20) { lab, nodes, room in
            let (begun, answered) = (Locked(0), Locked(0))
            nodes[1].serve { request in
                begun.withLock { $0 += 1 }
                await expectSuccess {
                    try await request.respond([UInt8](repeating: 1, count: Self.byteCount), .bytes)
                }
                answered.withLock { $0 += 1 }
            }
            var requests: [OutgoingRequest] = []
            for number in 1...Self.taken + 6 {
                requests.append(try await self.ask(lab, nodes))
                while answered.withLock({ $0 }) < min(number, Self.taken) { await Task.yield() }
                while room.heldBytes != max(0, number - Self.taken) * Self.byteCount { await Task.yield() }
            }
            for _ in 0..<10 { requests.append(try await self.ask(lab, nodes)) }
            while room.waiterCount < 10 { await Task.yield() }
            #expect(begun.withLock { $0 } == Self.taken + 6)
            let failures = try await self.read(requests)
            #expect(failures.isEmpty)
            #expect(begun.withLock { $0 } == requests.count)
            while room.heldBytes > 0 { await Task.yield() }
        }
    }

    /// Reads all responses at once and returns the failures.
    private func read(_ requests: [OutgoingRequest]) async throws -> [ServiceFailure] {
        try await withThrowingTaskGroup(of: ServiceFailure?.self) { group in
            for request in requests {
                group.addTask {
                    do {
                        let body = try await request.body()
                        #expect(body.count == Self.byteCount)
                        return nil
                    } catch let failure as ServiceFailure {
                        return failure
                    }
                }
            }
            return try await group.reduce(into: []) { if let failure = $1 { $0.append(failure) } }
        }
    }

    @Test func `a response without room fails and no other provider is asked`() async throws {
        try await self.run(roomFor: 3) { lab, nodes, room in
            let (begun, release, answered, refused) = (Mark(), Mark(), Mark(), Mark())
            nodes[1].serve { request in
                begun.set()
                do {
                    try await release.wait()
                    try await request.respond([UInt8](repeating: 1, count: Self.byteCount), .bytes)
                    answered.set()
                } catch let failure as ServiceFailure {
                    refused.set()
                    await request.fail(failure)
                } catch {
                    Issue.record("\(error)")
                }
            }
            var requests: [OutgoingRequest] = []
            // All of them begin before the first one is answered; three of those beyond the connection's room fit.
            for _ in 0..<Self.taken + 4 {
                requests.append(try await self.ask(lab, nodes))
                try await begun.wait()
            }
            for _ in 0..<Self.taken {
                release.set()
                try await answered.wait()
            }
            for number in 1...3 {
                release.set()
                while room.heldBytes != number * Self.byteCount { await Task.yield() }
            }
            release.set()
            try await refused.wait()
            let failures = try await self.read(requests)
            #expect(failures.count == 1)
            let failure = try #require(failures.first)
            #expect(failure.kind == .tooLarge && !failure.kind.isBeforeHandling)
            #expect(failure.message.contains("no room"))
        }
    }

    @Test func `a large response counts as a request until it is delivered`() async throws {
        try await self.withUnreadResponse(timeLimit: .seconds(600)) { stream, count in
            #expect(count() == 1)
            var reader = StreamReader(stream)
            _ = try await reader.readToEnd(limit: 1 << 20)
            while count() > 0 { await Task.yield() }
        }
    }

    @Test func `a large response that is not read is reset at its deadline`() async throws {
        try await self.withUnreadResponse(timeLimit: .seconds(10)) { stream, count in
            while count() > 0 { await Task.yield() }
            await #expect(throws: TransportError.reset(code: CloseCode.requestOverdue.rawValue)) {
                while try await !stream.read(atMost: 1 << 20).isFinal {}
            }
        }
    }

    /// Calls `body` with the stream of a request whose response exceeds the unread bytes that the stream accepts, after the
    /// handler has ended, and with the number of requests that its provider counts.
    private func withUnreadResponse(
        timeLimit: Duration,
        _ body: (any Transport.Stream, () -> Int) async throws -> Void
    ) async throws {
        var lab = Lab(over: .sockets)
        lab.streamWindow = 4 << 10
        let nodes = [try lab.makeNode(), try lab.makeNode()]
        lab.introduce(nodes[1], to: nodes[0])
        try await lab.run(nodes) {
            let answered = Mark()
            nodes[1].serve { request in
                await expectSuccess {
                    try await request.respond([UInt8](repeating: 1, count: Self.byteCount), .bytes)
                }
                answered.set()
            }
            try await nodes[0].driver.reach(nodes[1].peerId, in: lab.networkId)
            let route = try #require(nodes[0].driver.state.withLock { $0.core.route(to: nodes[1].peerId) })
            let connection = try #require(
                nodes[0].driver.state.withLock { $0.connections[route.connection]?.connection }
            )
            let stream = try connection.openStream()
            let prefix = StreamHeader(kind: .request, networkIndex: route.index).bytes
            let header = RequestHeader(path: "a/b", timeLimit: timeLimit)
            try await stream.write(header.bytes(after: prefix, body: []), finish: true)
            try await answered.wait()
            try await body(stream) {
                nodes[1].driver.state.withLock { state in
                    state.connections.entries.values.map(\.incomingRequests).reduce(0, +)
                }
            }
        }
    }
}
