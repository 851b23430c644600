internal import Concurrency
internal import Identity
internal import InMemoryTracing
internal import Logging
internal import NodeCore
internal import Services
internal import TestSupport
internal import Testing
internal import Tracing
internal import Transport

@testable internal import Node

@Suite("What can be seen of a node", .timeLimit(.minutes(15))) struct ObservationTests {
    private static let header = RequestHeader(path: "math/add", contentType: .json)

    @Test func `a remote request is one trace of caller, handler and nested request spans`()
        async throws
    {
        let tracer = InMemoryTracer()
        let lab = Lab()
        let nodes = try (0..<3).map { _ in try lab.makeNode { $0.tracing = RequestTracing(tracer) } }
        for (index, node) in nodes.enumerated() {
            for later in nodes[(index + 1)...] { lab.introduce(later, to: node) }
        }
        try await lab.run(nodes) {
            nodes[2].handler.withLock { $0 = { try? await $0.respond([9], .json) } }  // the test checks the answers
            nodes[1].handler.withLock { handler in
                handler = { request in
                    do {
                        let further = RequestHeader(path: "log/write")
                        let (_, bytes) = try await nodes[1].driver.request(
                            further,
                            body: [],
                            in: lab.networkId,
                            to: nodes[2].peerId
                        )
                        try await request.respond(bytes, .json)
                    } catch {
                        await request.fail(ServiceFailure(kind: .handler, message: "\(error)"))
                    }
                }
            }
            let (_, bytes) = try await nodes[0].driver.request(
                Self.header,
                body: [1],
                in: lab.networkId,
                to: nodes[1].peerId
            )
            #expect(bytes == [9])
        }
        let spans = tracer.finishedSpans
        #expect(spans.count == 4 && Set(spans.map(\.traceID)).count == 1)
        func span(_ name: String, _ kind: SpanKind) throws -> FinishedInMemorySpan {
            try #require(spans.first { $0.operationName == name && $0.kind == kind })
        }
        let (client, server) = (try span("math/add", .client), try span("math/add", .server))
        let (innerClient, innerServer) = (try span("log/write", .client), try span("log/write", .server))
        #expect(client.parentSpanID == nil && server.parentSpanID == client.spanID)
        #expect(innerClient.parentSpanID == server.spanID && innerServer.parentSpanID == innerClient.spanID)
        #expect(server.attributes["rpc.service"]?.toSpanAttribute() == .string("math"))
        #expect(server.attributes["rpc.method"]?.toSpanAttribute() == .string("add"))
        #expect(server.attributes["runar.peer"]?.toSpanAttribute() == .string(nodes[0].peerId.short))
    }

    @Test func `refusals are logged once a minute with the number of omitted lines`() {
        var line = RepeatedLine()
        #expect(line.note(at: .seconds(5)) == 0)
        for second in 6..<65 { #expect(line.note(at: .seconds(second)) == nil) }
        #expect(line.note(at: .seconds(65)) == 59)
        #expect(line.note(at: .seconds(200)) == 0)
    }

    @Test func `a failed request marks its span as failed`() async throws {
        let tracer = InMemoryTracer()
        let lab = Lab()
        let nodes = [try lab.makeNode { $0.tracing = RequestTracing(tracer) }, try lab.makeNode()]
        lab.introduce(nodes[1], to: nodes[0])
        try await lab.run(nodes) {
            nodes[1].handler.withLock { $0 = { await $0.fail(ServiceFailure(kind: .noAction)) } }
            let error = await failure {
                _ = try await nodes[0].driver.request(Self.header, body: [], in: lab.networkId, to: nodes[1].peerId)
            }
            #expect((error as? ServiceFailure)?.kind == .noAction)
        }
        let span = try #require(tracer.finishedSpans.first)
        #expect(span.errors.count == 1 && tracer.activeSpans.isEmpty)
    }

    @Test func `a node without a tracer records no spans`() {
        #expect(RequestTracing(NoOpTracer()) == nil)
        #expect(RequestTracing(InMemoryTracer()) != nil)
    }

    @Test func `a tracer's lines never make a request fail`() {
        let injector = MetadataInjector()
        var fields: [RequestHeader.Field] = []
        injector.inject("00-1-2-01", forKey: "TraceParent", into: &fields)
        injector.inject("00-1-2-03", forKey: "traceparent", into: &fields)
        #expect(fields == [.init(name: "traceparent", value: "00-1-2-03")])
        injector.inject(
            String(repeating: "x", count: RequestHeader.valueByteLimit + 1),
            forKey: "baggage",
            into: &fields
        )
        injector.inject("x", forKey: String(repeating: "n", count: RequestHeader.nameByteLimit + 1), into: &fields)
        injector.inject("x", forKey: "", into: &fields)
        #expect(fields.count == 1)
        for number in 0..<40 {
            let value = String(repeating: "x", count: RequestHeader.valueByteLimit)
            injector.inject(value, forKey: "line-\(number)", into: &fields)
        }
        var header = RequestHeader(path: "a/\(String(repeating: "b", count: 200))")
        header.metadata = fields
        #expect(throws: Never.self) { try header.check() }
        #expect(MetadataExtractor().extract(key: "TRACEPARENT", from: fields) == "00-1-2-03")
    }

    @Test func `each subsystem logs at its own level under its own name`() {
        let lines = Locked<[String]>([])
        var logger = Logger(label: "test") { _ in LineLog(lines: lines) }
        logger.logLevel = .notice
        let logs = NodeLogs(logger, levels: [.discovery: .debug, .membership: .critical])
        for subsystem in LogSubsystem.allCases {
            logs[subsystem].debug("details")
            logs[subsystem].error("trouble")
        }
        let found = lines.withLock { $0 }
        #expect(found.filter { $0.hasPrefix("debug") } == ["debug discovery details"])
        let troubled = LogSubsystem.allCases.filter { $0 != .membership }.map { "error \($0.rawValue) trouble" }
        #expect(found.filter { $0.hasPrefix("error") } == troubled)
    }

    // MARK: The end

    @Test func `a draining node finishes pending requests, accepts no new ones and then stops`() async throws {
        let lab = Lab()
        let nodes = try (0..<2).map { _ in try lab.makeNode() }
        lab.introduce(nodes[1], to: nodes[0])
        try await lab.run(nodes) {
            let (begun, hasBegun) = AsyncStream.makeStream(of: Void.self)
            let (gates, gate) = AsyncStream.makeStream(of: Void.self)
            nodes[1].handler.withLock { handler in
                handler = { request in
                    hasBegun.yield()
                    for await _ in gates { break }
                    try? await request.respond([1], .bytes)  // the test checks the answers
                }
            }
            async let answer = nodes[0].driver.request(Self.header, body: [], in: lab.networkId, to: nodes[1].peerId)
            for await _ in begun { break }
            async let draining: Void = nodes[1].driver.drain(within: .seconds(3600))
            while nodes[1].driver.state.withLock({ $0.lifecycle.isRunning }) { await Task.yield() }
            let refusal = await failure {
                _ = try await nodes[0].driver.request(Self.header, body: [], in: lab.networkId, to: nodes[1].peerId)
            }
            #expect((refusal as? ServiceFailure)?.kind == .notRunning)
            let own = await failure { try await nodes[1].driver.send([1], to: nodes[0].peerId) }
            #expect(own as? NodeError == .notRunning)
            gate.yield()
            let (_, bytes) = try await answer
            #expect(bytes == [1])
            await draining
            #expect(nodes[1].driver.state.withLock { $0.connections.isAtRest })
        }
    }

    @Test func `a draining node stops after its time limit`() async throws {
        try await Lab.run(2) { lab, nodes in
            let (begun, hasBegun) = AsyncStream.makeStream(of: Void.self)
            nodes[1].handler.withLock { handler in
                handler = { _ in
                    hasBegun.yield()
                    for await _ in AsyncStream<Void>.makeStream().stream {}
                }
            }
            async let answer = failure {
                _ = try await nodes[0].driver.request(Self.header, body: [], in: lab.networkId, to: nodes[1].peerId)
            }
            for await _ in begun { break }
            async let draining: Void = nodes[1].driver.drain(within: .seconds(2))
            while nodes[1].driver.state.withLock({ $0.lifecycle.isRunning }) { await Task.yield() }
            lab.clock.advance(by: .seconds(2))
            await draining
            await nodes[1].driver.stop()
            #expect(await answer != nil)
        }
    }

    @Test func `a node detects sleep by a late timer only`() async throws {
        let lines = Locked<[String]>([])
        let lab = Lab()
        let nodes = try (0..<2).map { _ in
            try lab.makeNode { configuration in
                var logger = Logger(label: "test") { _ in LineLog(lines: lines) }
                logger.logLevel = .info
                configuration.logs = NodeLogs(logger)
            }
        }
        lab.introduce(nodes[1], to: nodes[0])
        let slept = { lines.withLock { $0.filter { $0.hasPrefix("info lifecycle the machine slept for") } } }
        try await lab.run(nodes) {
            try await nodes[0].driver.reach(nodes[1].peerId)
            _ = await lab.clock.nextDeadline()
            lab.clock.advance(by: .seconds(4))
            #expect(await nodes[0].driver.isResponsive())
            #expect(slept().isEmpty)
            _ = await lab.clock.nextDeadline()
            lab.clock.advance(by: .seconds(3600))
            while slept().isEmpty { await Task.yield() }
        }
    }

    @Test func `a node reports itself responsive until it stops`() async throws {
        try await Lab.run(1) { _, nodes in
            #expect(await nodes[0].driver.isResponsive())
            await nodes[0].driver.stop()
            #expect(await nodes[0].driver.isResponsive() == false)
        }
    }
}

/// Writes lines into a list.
private struct LineLog: LogHandler {
    let lines: Locked<[String]>
    var metadata: Logger.Metadata = [:]
    var logLevel = Logger.Level.trace

    init(lines: Locked<[String]>) { self.lines = lines }

    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }

    func log(event: LogEvent) {
        let subsystem = metadata["subsystem"].map { "\($0)" } ?? ""
        lines.withLock { $0.append("\(event.level) \(subsystem) \(event.message)") }
    }
}
