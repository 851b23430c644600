internal import Identity
internal import Locking
internal import NodeCore
internal import Services
internal import Testing
internal import Transport

@testable internal import Node

@Suite("Requests between nodes", .timeLimit(.minutes(1))) struct RequestTests {
    private static let echo: @Sendable (IncomingRequest) async -> Void = { request in
        do {
            try await request.respond(try await request.body(), request.header.contentType)
        } catch {
            await request.fail(ServiceFailure(kind: .handler, message: "\(error)"))
        }
    }

    private let header = RequestHeader(path: "math/add", contentType: .json)

    @Test func `a request to a peer comes back with its response`() async throws {
        try await Lab.run(2) { lab, nodes in
            nodes[1].handler.withLock { $0 = Self.echo }
            let (type, bytes) = try await nodes[0].driver.request(
                self.header,
                body: [1, 2, 3],
                in: lab.networkId,
                to: nodes[1].peerId
            )
            #expect(type == .json)
            #expect(bytes == [1, 2, 3])
        }
    }

    @Test func `the handler sees who asks, in which network, and the whole header`() async throws {
        try await Lab.run(2) { lab, nodes in
            let seen = Locked<(PeerId, NetworkId, RequestHeader)?>(nil)
            nodes[1].handler.withLock { handler in
                handler = { request in
                    seen.withLock { $0 = (request.peer, request.network, request.header) }
                    await Self.echo(request)
                }
            }
            var header = self.header
            header.isIdempotent = true
            header.metadata = [.init(name: "traceparent", value: "00-1-2-01")]
            _ = try await nodes[0].driver.request(header, body: [], in: lab.networkId, to: nodes[1].peerId)
            let (peer, network, found) = try #require(seen.withLock { $0 })
            #expect(peer == nodes[0].peerId)
            #expect(network == lab.networkId)
            #expect(found == header)
        }
    }

    @Test func `a failure arrives with its kind, code, message and context`() async throws {
        try await Lab.run(2) { lab, nodes in
            let sent = ServiceFailure(kind: .handler, code: -7, message: "too cold", context: "oven")
            nodes[1].handler.withLock { $0 = { await $0.fail(sent) } }
            let error = await failure {
                _ = try await nodes[0].driver.request(self.header, body: [], in: lab.networkId, to: nodes[1].peerId)
            }
            #expect(error as? ServiceFailure == sent)
        }
    }

    @Test func `many requests at once each get their own response`() async throws {
        try await Lab.run(2) { lab, nodes in
            nodes[1].handler.withLock { $0 = Self.echo }
            try await withThrowingTaskGroup(of: Bool.self) { group in
                for number in UInt8(0)..<200 {
                    group.addTask {
                        let (driver, peer) = (nodes[0].driver, nodes[1].peerId)
                        let answer = try await driver.request(self.header, body: [number], in: lab.networkId, to: peer)
                        return answer.1 == [number]
                    }
                }
                for try await isRight in group { #expect(isRight) }
            }
        }
    }
}
