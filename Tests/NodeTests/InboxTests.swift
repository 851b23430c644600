internal import Concurrency
internal import Identity
internal import NodeCore
internal import Services
internal import TestSupport
internal import Testing
internal import Transport

@testable internal import Node

@Suite("Room for what is not whole yet", .timeLimit(.minutes(15))) struct InboxTests {
    private static let limit = 640 << 10
    private static let piece = [UInt8](repeating: 7, count: 250 << 10)

    /// Runs two members, the second of which has little room for each connection.
    private func run(over wire: Lab.Wire, _ body: (Lab, [LabNode]) async throws -> Void) async throws {
        let lab = Lab(over: wire)
        let nodes = [try lab.makeNode(), try lab.makeNode { $0.limits.inboxBytes = Self.limit }]
        lab.introduce(nodes[1], to: nodes[0])
        try await lab.run(nodes) {
            try await nodes[0].driver.reach(nodes[1].peerId)
            try await body(lab, nodes)
        }
    }

    @Test func `held bytes are counted and released when a share shrinks or ends`() {
        let inbox = Inbox(byteLimit: 100)
        let first = Inbox.Share(of: inbox)
        do {
            let second = Inbox.Share(of: inbox)
            #expect(first.hold(60) && second.hold(40) && inbox.heldBytes == 100)
            #expect(!second.hold(41) && inbox.heldBytes == 60, "a refused share holds no bytes")
            #expect(first.hold(10) && second.hold(90) && inbox.heldBytes == 100)
        }
        #expect(inbox.heldBytes == 10)
        #expect(!first.hold(.max) && !first.hold(101) && inbox.heldBytes == 0)
        #expect(first.hold(100) && first.hold(0) && inbox.heldBytes == 0)
    }

    @Test(arguments: Lab.Wire.allCases)
    func `unfinished messages take bounded room, and the next one is refused as busy`(
        over wire: Lab.Wire
    ) async throws {
        try await self.run(over: wire) { _, nodes in
            let listener = nodes[1].messages.listen()
            let peer = nodes[1].peerId
            let route = try #require(nodes[0].driver.state.withLock { $0.core.route(to: peer) })
            let connection = try #require(
                nodes[0].driver.state.withLock { $0.connections[route.connection]?.connection }
            )
            let header = StreamHeader(kind: .message, networkIndex: route.index).bytes
            let large = [UInt8](repeating: 8, count: 400 << 10)
            let streams = try (0..<3).map { _ in try connection.openStream() }
            try await withThrowingTaskGroup(of: (Int, [UInt8]).self) { group in
                for (index, stream) in streams.enumerated() {
                    group.addTask {
                        try await stream.write(header + Self.piece, finish: false)
                        return (index, try await stream.read(atMost: 9).bytes)
                    }
                }
                // The last one to arrive.
                let (refused, receipt) = try #require(try await group.next())
                #expect(receipt == [NodeDriver.Receipt.busy.rawValue])
                // A piece of the other two that arrived later would be refused in place of what follows.
                let heldBytes = {
                    nodes[1].driver.state.withLock { state in
                        state.connections.entries.values.map(\.inbox.heldBytes).reduce(0, +)
                    }
                }
                while heldBytes() < 2 * Self.piece.count {
                    try Task.checkCancellation()
                    await Task.yield()
                }

                let error = await failure { try await nodes[0].driver.send(large, to: peer) }
                #expect(error as? NodeError == .receiverBusy(peer))
                try await nodes[0].driver.send([1], to: peer)
                #expect(try await listener.first { _ in true }.payload == [1], "small ones need no room")

                for (index, stream) in streams.enumerated() where index != refused {
                    stream.reset(code: CloseCode.shutdown.rawValue)
                }
                while await group.nextResult() != nil {}  // they end with the reset
            }
            while true {
                do {
                    try await nodes[0].driver.send(large, to: peer)
                    break
                } catch NodeError.receiverBusy {
                    await Task.yield()
                }
            }
            #expect(try await listener.first { _ in true }.payload == large, "there is room again")
        }
    }

    @Test(arguments: Lab.Wire.allCases)
    func `request bodies take bounded room until their requests end`(over wire: Lab.Wire) async throws {
        try await self.run(over: wire) { lab, nodes in
            let (begun, go) = (Mark(), AsyncStream.makeStream(of: Void.self))
            nodes[1].serve { request in
                await request.failOnError {
                    let body = try await request.nextItem() ?? []
                    if body.count > 1 {
                        begun.set()
                        for await _ in go.stream {}
                    }
                    try await request.respond([UInt8(truncatingIfNeeded: body.count)], .bytes)
                }
            }
            // Two fit and three do not, whatever arrives of each with the last read, which is 64 KiB at most and not
            // counted.
            let body = [UInt8](repeating: 8, count: 300 << 10)
            try await withThrowingTaskGroup(of: [UInt8].self) { group in
                for _ in 0..<2 {
                    group.addTask { try await nodes[0].request("a/b", body, in: lab, of: nodes[1]) }
                    try await begun.wait()
                }
                let error = await failure { _ = try await nodes[0].request("a/b", body, in: lab, of: nodes[1]) }
                #expect((error as? ServiceFailure)?.kind == .busy)
                #expect(try await nodes[0].request("a/b", [1], in: lab, of: nodes[1]) == [1])
                go.continuation.finish()
                for try await answer in group { #expect(answer == [0]) }
            }
            while true {
                do {
                    #expect(try await nodes[0].request("a/b", body, in: lab, of: nodes[1]) == [0])
                    break
                } catch let failure as ServiceFailure where failure.kind == .busy {
                    await Task.yield()
                }
            }
        }
    }

    @Test func `an item without room fails its request without a retry at another provider`() async throws {
        try await self.run(over: .memory) { lab, nodes in
            nodes[1].serve { request in
                await request.failOnError {
                    while try await request.nextItem(isHandled: true) != nil {}
                    try await request.respond([], .bytes)
                }
            }
            let header = RequestHeader(path: "a/b", streamsBody: true)
            let request = try await nodes[0].driver.openRequest(header, in: lab.networkId, to: nodes[1].peerId)
            let unwanted = await failure { try await request.send([UInt8](repeating: 1, count: 1000 << 10)) }
            #expect(unwanted.map { ($0 as? ServiceFailure)?.kind == .cancelled } ?? true)
            let found = await failure { _ = try await request.body() }
            let failure = try #require(found as? ServiceFailure)
            #expect(failure.kind == .tooLarge && !failure.kind.isBeforeHandling)
            #expect(failure.message.contains("no room"))
        }
    }

    @Test func `sixty-four bodies of the largest size at once are all answered`() async throws {
        try await Lab.runStar(2) { lab, nodes in
            let (begun, go) = (Mark(), AsyncStream.makeStream(of: Void.self))
            nodes[1].serve { request in
                await expectSuccess {
                    let body = try await request.nextItem() ?? []
                    begun.set()
                    for await _ in go.stream {}
                    try await request.respond(Array(body.suffix(1)), .bytes)
                }
            }
            try await withThrowingTaskGroup(of: Bool.self) { group in
                for number in UInt8(0)..<64 {
                    group.addTask {
                        let body = [UInt8](repeating: number, count: 1 << 20)
                        return try await nodes[0].request("a/b", body, in: lab, of: nodes[1]) == [number]
                    }
                }
                for _ in 0..<64 { try await begun.wait() }
                go.continuation.finish()
                for try await isRight in group { #expect(isRight) }
            }
        }
    }
}
