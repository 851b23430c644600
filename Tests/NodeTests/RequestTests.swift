internal import Concurrency
internal import Identity
internal import NodeCore
internal import Services
internal import TestSupport
internal import Testing
internal import Transport

@testable internal import Node

@Suite("Requests between nodes", .timeLimit(.minutes(15))) struct RequestTests {
    @Test(arguments: Lab.Wire.allCases)
    func `a request to a peer comes back with its response`(over wire: Lab.Wire) async throws {
        try await Lab.run(2, over: wire) { lab, nodes in
            nodes[1].echo()
            let header = RequestHeader(path: "math/add", contentType: .json)
            let (network, peer) = (lab.networkId, nodes[1].peerId)
            let (type, bytes) = try await nodes[0].driver.request(header, body: [1, 2, 3], in: network, to: peer)
            #expect(type == .json)
            #expect(bytes == [1, 2, 3])
        }
    }

    @Test func `the handler receives the requester, the network and the whole header`() async throws {
        try await Lab.run(2) { lab, nodes in
            let seen = Locked<(PeerId, NetworkId, RequestHeader)?>(nil)
            nodes[1].serve { request in
                seen.withLock { $0 = (request.peer, request.network, request.header) }
                await request.fail(ServiceFailure(kind: .busy))
            }
            var header = RequestHeader(path: "math/add", contentType: .cbor, isIdempotent: true)
            header.metadata = [.init(name: "traceparent", value: "00-1-2-01")]
            _ = await failure {
                _ = try await nodes[0].driver.request(header, body: [], in: lab.networkId, to: nodes[1].peerId)
            }
            let (peer, network, found) = try #require(seen.withLock { $0 })
            #expect(peer == nodes[0].peerId)
            #expect(network == lab.networkId)
            #expect(found == header)
        }
    }

    @Test(arguments: Lab.Wire.allCases)
    func `a failure arrives with its kind, code, message and context`(over wire: Lab.Wire) async throws {
        try await Lab.run(2, over: wire) { lab, nodes in
            let sent = ServiceFailure(kind: .handler, code: -7, message: "too cold", context: "oven")
            nodes[1].serve { await $0.fail(sent) }
            let error = await failure { _ = try await nodes[0].request("oven/heat", in: lab, of: nodes[1]) }
            #expect(error as? ServiceFailure == sent)
        }
    }

    @Test(arguments: Lab.Wire.allCases)
    func `many requests at once each get their own response`(over wire: Lab.Wire) async throws {
        try await Lab.run(2, over: wire) { lab, nodes in
            nodes[1].echo()
            try await withThrowingTaskGroup(of: Bool.self) { group in
                for number in UInt8(0)..<250 {
                    group.addTask {
                        try await nodes[0].request("math/add", [number], in: lab, of: nodes[1]) == [number]
                    }
                }
                for try await isRight in group { #expect(isRight) }
            }
            let isIdle = { (node: LabNode) in
                node.driver.state.withLock { state in
                    state.connections.entries.values.allSatisfy { $0.streams.isEmpty && $0.incomingRequests == 0 }
                }
            }
            #expect(isIdle(nodes[0]))
            // The provider counts a request until its handler has returned, which is after the answer has arrived.
            while !isIdle(nodes[1]) { await Task.yield() }
        }
    }

    @Test func `a request fails if its handler returns without a response`() async throws {
        try await Lab.run(2) { lab, nodes in
            nodes[1].serve { _ in }
            let error = await failure { _ = try await nodes[0].request("math/add", in: lab, of: nodes[1]) }
            #expect((error as? ServiceFailure)?.kind == .handler)
        }
    }

    @Test func `a body that is too large is refused on either side`() async throws {
        let lab = Lab()
        let nodes = [try lab.makeNode(), try lab.makeNode(messageLimit: 100_000)]
        lab.introduce(nodes[1], to: nodes[0])
        try await lab.run(nodes) {
            nodes[1].echo()
            for count in [1 << 20 + 1, 900_000] {
                let body = [UInt8](repeating: 1, count: count)
                let error = await failure { _ = try await nodes[0].request("a/b", body, in: lab, of: nodes[1]) }
                #expect((error as? ServiceFailure)?.kind == .tooLarge, "\(count)")
            }
            let body = [UInt8](repeating: 7, count: 100_000)
            let answer = try await nodes[0].request("a/b", body, in: lab, of: nodes[1])
            #expect(answer == body)
            nodes[0].serve { request in
                await expectSuccess {
                    try await request.respond([UInt8](repeating: 1, count: 900_000), .bytes)
                }
            }
            let error = await failure { _ = try await nodes[1].request("a/b", in: lab, of: nodes[0]) }
            #expect((error as? ServiceFailure)?.kind == .tooLarge)
        }
    }

    @Test func `requests above the limit are refused as busy, and later ones succeed`() async throws {
        let lab = Lab()
        let nodes = [try lab.makeNode(), try lab.makeNode(requestLimit: 3)]
        lab.introduce(nodes[1], to: nodes[0])
        try await lab.run(nodes) {
            let (begun, release) = (Mark(), Mark())
            nodes[1].serve { request in
                begun.set()
                await expectSuccess {
                    try await release.wait()
                    try await request.respond([1], .bytes)
                }
            }
            try await withThrowingTaskGroup(of: [UInt8].self) { group in
                for _ in 0..<3 {
                    group.addTask { try await nodes[0].request("a/b", in: lab, of: nodes[1]) }
                    try await begun.wait()
                }
                let error = await failure { _ = try await nodes[0].request("a/b", in: lab, of: nodes[1]) }
                #expect((error as? ServiceFailure)?.kind == .busy)
                for _ in 0..<3 { release.set() }
                for try await answer in group { #expect(answer == [1]) }
            }
            // The provider counts a request until its handler has returned, which is after the answer has arrived.
            let isBusy = {
                nodes[1].driver.state.withLock { state in
                    state.connections.entries.values.contains { $0.incomingRequests > 0 }
                }
            }
            while isBusy() {
                try Task.checkCancellation()
                await Task.yield()
            }
            release.set()
            #expect(try await nodes[0].request("a/b", in: lab, of: nodes[1]) == [1])
        }
    }

    @Test func `a header that cannot be sent is an error at once`() async throws {
        try await Lab.run(1) { lab, nodes in
            let field = RequestHeader.Field(name: "n", value: "")
            let fields = Array(repeating: field, count: RequestHeader.fieldLimit + 1)
            let header = RequestHeader(path: "a/b", metadata: fields)
            let error = await failure {
                _ = try await nodes[0].driver.request(header, body: [], in: lab.networkId, to: nodes[0].peerId)
            }
            #expect((error as? ServiceFailure)?.kind == .protocolViolation)
        }
    }

    @Test(arguments: Lab.Wire.allCases)
    func `a stream without a valid request is reset and disturbs no other`(over wire: Lab.Wire) async throws {
        try await Lab.runStar(2, over: wire) { lab, nodes in
            nodes[1].echo()
            let route = try #require(nodes[0].driver.state.withLock { $0.core.route(to: nodes[1].peerId) })
            let connection = try #require(
                nodes[0].driver.state.withLock { $0.connections[route.connection]?.connection }
            )
            for bytes: [UInt8] in [[], [3, 9, 9, 9], [0x80, 0, 0x20, 1] + [UInt8](repeating: 0, count: 8193)] {
                let stream = try connection.openStream()
                try await stream.write([3, route.index] + bytes, finish: true)
                await #expect(throws: TransportError.reset(code: CloseCode.protocolViolation.rawValue)) {
                    _ = try await stream.read(atMost: 1)
                }
            }
            let answer = try await nodes[0].request("a/b", [1], in: lab, of: nodes[1])
            #expect(answer == [1])
        }
    }
}
