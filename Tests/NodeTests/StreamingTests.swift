internal import Concurrency
internal import Identity
internal import NodeCore
internal import Services
internal import TestSupport
internal import Testing
internal import Transport

@testable internal import Node

@Suite("Streamed requests and responses", .timeLimit(.minutes(15))) struct StreamingTests {
    private func open(
        _ lab: Lab,
        _ nodes: [LabNode],
        streamsBody: Bool = true
    ) async throws -> OutgoingRequest {
        try await nodes[0].driver.openRequest(
            RequestHeader(path: "a/b", streamsBody: streamsBody),
            in: lab.networkId,
            to: nodes[1].peerId
        )
    }

    /// Sends every item back.
    private static func mirror(_ request: IncomingRequest) async {
        await request.failOnError {
            try await request.beginStreaming(.bytes)
            while let item = try await request.nextItem() { try await request.send(item: item) }
            try await request.finish()
        }
    }

    @Test(arguments: Lab.Wire.allCases)
    func `items are streamed one by one in both directions`(over wire: Lab.Wire) async throws {
        try await Lab.runStar(2, over: wire) { lab, nodes in
            nodes[1].serve(Self.mirror)
            let request = try await self.open(lab, nodes)
            #expect(try await request.response() == .bytes)
            for item: [UInt8] in [[1], [], [2, 3], [UInt8](repeating: 4, count: 100_000)] {
                try await request.send(item)
                #expect(try await request.nextItem() == item)
            }
            try await request.finish()
            #expect(try await request.nextItem() == nil)
            #expect(try await request.nextItem() == nil)
            #expect(nodes[0].driver.state.withLock { $0.connections.entries.values.allSatisfy { $0.streams.isEmpty } })
        }
    }

    @Test(arguments: Lab.Wire.allCases)
    func `a stream of items may be answered with one body, and one body with items`(over wire: Lab.Wire) async throws {
        try await Lab.runStar(2, over: wire) { lab, nodes in
            nodes[1].serve { request in
                await expectSuccess {
                    if request.header.streamsBody {
                        var sum: [UInt8] = []
                        while let item = try await request.nextItem() { sum += item }
                        try await request.respond(sum, .bytes)
                    } else {
                        try await request.beginStreaming(.bytes)
                        for byte in try await request.nextItem() ?? [] { try await request.send(item: [byte]) }
                        try await request.finish()
                    }
                }
            }
            let collected = try await self.open(lab, nodes)
            for byte in UInt8(0)..<5 { try await collected.send([byte]) }
            try await collected.finish()
            #expect(try await collected.body() == [0, 1, 2, 3, 4])

            let spread = try await self.open(lab, nodes, streamsBody: false)
            #expect(try await spread.nextItem() == nil, "its body is empty")
            let whole = try await self.open(lab, nodes)
            try await whole.send([7])
            try await whole.finish()
            #expect(try await whole.nextItem() == [7], "a body counts as one item")
            #expect(try await whole.nextItem() == nil)
        }
    }

    @Test func `a slow reader holds the sender back and loses nothing`() async throws {
        try await Lab.runStar(2) { lab, nodes in
            let count = 500
            let sent = Locked(0)
            let begun = Mark()
            nodes[1].serve { request in
                await expectSuccess {
                    try await request.beginStreaming(.bytes)
                    for number in 0..<count {
                        try await request.send(item: [UInt8](repeating: UInt8(number % 251), count: 10_000))
                        sent.withLock { $0 += 1 }
                        begun.set()
                    }
                    try await request.finish()
                }
            }
            let request = try await self.open(lab, nodes, streamsBody: false)
            try await begun.wait()
            for _ in 0..<5_000 { await Task.yield() }
            #expect(sent.withLock { $0 } < 60, "no item has been read")
            var received = 0
            while let item = try await request.nextItem() {
                #expect(item == [UInt8](repeating: UInt8(received % 251), count: 10_000))
                received += 1
            }
            #expect(received == count)
        }
    }

    @Test func `a handler that does not read holds its requester back`() async throws {
        try await Lab.runStar(2) { lab, nodes in
            let release = Mark()
            nodes[1].serve { request in
                await expectSuccess {
                    try await release.wait()
                    var count = 0
                    while try await request.nextItem() != nil { count += 1 }
                    try await request.respond([UInt8(count)], .bytes)
                }
            }
            let request = try await self.open(lab, nodes)
            let sent = Locked(0)
            async let sending: Void = {
                for _ in 0..<200 {
                    try await request.send([UInt8](repeating: 1, count: 20_000))
                    sent.withLock { $0 += 1 }
                }
                try await request.finish()
            }()
            for _ in 0..<5_000 { await Task.yield() }
            #expect(sent.withLock { $0 } < 60, "no item has been read")
            release.set()
            try await sending
            #expect(try await request.body() == [200])
        }
    }

    @Test(arguments: Lab.Wire.allCases)
    func `a failure in the middle comes after the items before it`(over wire: Lab.Wire) async throws {
        try await Lab.runStar(2, over: wire) { lab, nodes in
            let sent = ServiceFailure(kind: .handler, code: 4, message: "out of paper")
            nodes[1].serve { request in
                await expectSuccess {
                    try await request.beginStreaming(.bytes)
                    try await request.send(item: [1])
                    await request.fail(sent)
                }
            }
            let request = try await self.open(lab, nodes, streamsBody: false)
            #expect(try await request.nextItem() == [1])
            let error = await failure { _ = try await request.nextItem() }
            #expect(error as? ServiceFailure == sent)
        }
    }

    @Test(arguments: Lab.Wire.allCases)
    func `an early response arrives, and the sender learns that its items are unread`(
        over wire: Lab.Wire
    ) async throws {
        try await Lab.runStar(2, over: wire) { lab, nodes in
            nodes[1].serve { request in
                await expectSuccess {
                    let first = try await request.nextItem()
                    try await request.respond(first ?? [], .bytes)
                }
            }
            let request = try await self.open(lab, nodes)
            let item = [UInt8](repeating: 5, count: 100_000)
            let error = await failure { while true { try await request.send(item) } }
            #expect((error as? ServiceFailure)?.kind == .cancelled)
            #expect(try await request.body() == item)
        }
    }

    @Test func `a requester's failure ends its items`() async throws {
        try await Lab.runStar(2) { lab, nodes in
            nodes[1].serve(Self.mirror)
            let request = try await self.open(lab, nodes)
            try await request.send([1])
            #expect(try await request.nextItem() == [1])
            let sent = ServiceFailure(kind: .handler, code: 5, message: "no more film")
            try await request.fail(sent)
            let error = await failure { _ = try await request.nextItem() }
            #expect(error as? ServiceFailure == sent)
        }
    }

    @Test(arguments: Lab.Wire.allCases)
    func `cancelling a stream stops its handler`(over wire: Lab.Wire) async throws {
        try await Lab.runStar(2, over: wire) { lab, nodes in
            let stopped = Mark()
            nodes[1].serve { request in
                let error = await failure {
                    try await request.beginStreaming(.bytes)
                    while true { try await request.send(item: [UInt8](repeating: 0, count: 10_000)) }
                }
                #expect(error is CancellationError || (error as? ServiceFailure)?.kind == .cancelled)
                stopped.set()
            }
            var dropped: OutgoingRequest? = try await self.open(lab, nodes, streamsBody: false)
            _ = try await dropped?.nextItem()
            dropped = nil
            try await stopped.wait()
        }
    }

    @Test func `an item that is too large is refused on either side`() async throws {
        let lab = Lab()
        let nodes = [try lab.makeNode(), try lab.makeNode(messageLimit: 1000)]
        lab.introduce(nodes[1], to: nodes[0])
        try await lab.run(nodes) {
            nodes[1].serve(Self.mirror)
            let request = try await self.open(lab, nodes)
            let local = await failure { try await request.send([UInt8](repeating: 1, count: 1 << 20 + 1)) }
            #expect((local as? ServiceFailure)?.kind == .tooLarge)
            try await request.send([UInt8](repeating: 1, count: 1000))
            #expect(try await request.nextItem()?.count == 1000)
            try await request.send([UInt8](repeating: 1, count: 1001))
            let remote = await failure { _ = try await request.nextItem() }
            #expect((remote as? ServiceFailure)?.kind == .tooLarge)
        }
    }

    @Test func `a requester resets a stream with an item beyond its limit as too large`() async throws {
        let lab = Lab()
        let nodes = [try lab.makeNode(messageLimit: 1000), try lab.makeNode()]
        lab.introduce(nodes[1], to: nodes[0])
        try await lab.run(nodes) {
            let (causes, seen) = AsyncStream.makeStream(of: RequestEnd.Cause?.self)
            nodes[1].serve { request in
                let end = nodes[1].driver.state.withLock { state in
                    state.connections.entries.values.lazy.flatMap(\.streams.values).compactMap { $0.request?.end }.first
                }
                await expectSuccess {
                    try await request.beginStreaming(.bytes)
                    try await request.send(item: [UInt8](repeating: 1, count: 1001))
                }
                seen.yield(await end?.wait())
            }
            let request = try await self.open(lab, nodes, streamsBody: false)
            let error = await failure { _ = try await request.nextItem() }
            #expect((error as? ServiceFailure)?.kind == .tooLarge)
            let cause = try #require(await causes.first { _ in true })
            guard case .stopped(.stopped(CloseCode.tooLarge.rawValue)) = cause else {
                Issue.record("\(cause)")
                return
            }
        }
    }

    @Test func `a handler that ends in the middle of its items has failed`() async throws {
        try await Lab.runStar(2) { lab, nodes in
            nodes[1].serve { request in
                await expectSuccess {
                    try await request.beginStreaming(.bytes)
                    try await request.send(item: [1])
                }
            }
            let request = try await self.open(lab, nodes, streamsBody: false)
            #expect(try await request.nextItem() == [1])
            let error = await failure { _ = try await request.nextItem() }
            #expect((error as? ServiceFailure)?.kind == .handler)
        }
    }
}
