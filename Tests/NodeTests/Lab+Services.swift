internal import Concurrency
internal import Identity
internal import Services
internal import TestSupport
internal import Testing

@testable internal import Node

extension LabNode {
    /// Answers requests from now on as `handler` does.
    func serve(_ handler: @escaping @Sendable (IncomingRequest) async -> Void) {
        self.handler.withLock { $0 = handler }
    }

    /// Answers every request with its payload.
    func echo() {
        self.serve { request in
            await request.failOnError {
                try await request.respond(try await request.nextItem() ?? [], request.header.contentType)
            }
        }
    }

    /// Answers every request with one number.
    func answer(_ number: UInt8) {
        self.serve { request in
            do {
                try await request.respond([number], .bytes)
            } catch {
                // The requester has disconnected.
            }
        }
    }

    /// Offers one service with some actions.
    func offer(
        _ service: String,
        _ actions: [String],
        isRunning: Bool = true,
        isIdempotent: Bool = false,
        in lab: Lab
    ) throws {
        let actions = actions.map { ActionOffer(name: $0, isIdempotent: isIdempotent) }
        try self.driver.offer(
            [ServiceOffer(path: service, isRunning: isRunning, actions: actions)],
            in: lab.networkId
        )
    }

    /// Waits until `count` connected members offer a service.
    func waitForProviders(_ count: Int, of service: String, in lab: Lab) async throws {
        try await self.waitForOffers { driver in
            driver.offers(in: lab.networkId).values.count { $0.contains { $0.path == service } } == count
        }
    }

    /// Returns once the offers of connected members satisfy a condition.
    func waitForOffers(_ isSatisfied: (NodeDriver) -> Bool) async throws {
        let events = self.events.listen()
        while !isSatisfied(self.driver) {
            _ = try await events.first { if case .servicesChanged = $0 { true } else { false } }
        }
    }

    /// Sends a request to `peer`, or to the next provider in turn, and returns the body of the answer.
    func request(
        _ path: String,
        _ body: [UInt8] = [],
        isIdempotent: Bool = false,
        timeLimit: Duration = .seconds(30),
        in lab: Lab,
        of peer: LabNode? = nil
    ) async throws -> [UInt8] {
        let header = RequestHeader(path: try RequestPath(path), isIdempotent: isIdempotent, timeLimit: timeLimit)
        return try await self.driver.request(header, body: body, in: lab.networkId, to: peer?.peerId).1
    }
}

/// Something that happens, to be waited for.
struct Mark: Sendable {
    private let stream: AsyncStream<Void>
    private let continuation: AsyncStream<Void>.Continuation

    init() {
        (self.stream, self.continuation) = AsyncStream.makeStream(of: Void.self)
    }

    func set() { self.continuation.yield() }

    /// Returns once it has happened, for as many waits as it happens.
    func wait() async throws { _ = try await self.stream.first { true } }
}

/// Suspends until the task is cancelled.
func untilCancelled() async {
    let (stream, _) = AsyncStream.makeStream(of: Void.self)
    for await _ in stream {}
}

extension Lab {
    /// Runs members, the first of which is connected to all others.
    static func runStar(
        _ count: Int,
        over wire: Wire = .memory,
        _ body: (Lab, [LabNode]) async throws -> Void
    ) async throws {
        try await self.run(count, over: wire) { lab, nodes in
            for other in nodes.dropFirst() {
                try await nodes[0].driver.reach(other.peerId, in: lab.networkId)
                // That side is admitted later.
                while !other.driver.admittedPeers().contains(nodes[0].peerId) {
                    try Task.checkCancellation()
                    await Task.yield()
                }
            }
            try await body(lab, nodes)
        }
    }
}

extension IncomingRequest {
    /// Runs `body`, and fails the request with an error that it throws.
    func failOnError(_ body: () async throws -> Void) async {
        do {
            try await body()
        } catch let failure as ServiceFailure {
            await self.fail(failure)
        } catch {
            await self.fail(ServiceFailure(kind: .handler, message: "\(error)"))
        }
    }
}

/// Runs `body`; an error that it throws fails the test.
func expectSuccess(sourceLocation: SourceLocation = #_sourceLocation, _ body: () async throws -> Void) async {
    do {
        try await body()
    } catch {
        Issue.record("\(error)", sourceLocation: sourceLocation)
    }
}
