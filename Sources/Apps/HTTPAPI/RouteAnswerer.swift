internal import Concurrency
internal import HTTPTypes
internal import HummingbirdCore
internal import NIOCore
internal import Platform

/// Runs routes: reads the body within bounds, applies the rules again, and makes the answer.
struct RouteAnswerer: Sendable {
    let configuration: HTTPServer.Configuration
    /// The streamed answers of this server.
    let streams: OpenStreams

    /// Reads the body of a request and answers it.
    ///
    /// - Throws: ``RouteFailure``.
    func answer(
        _ route: Route,
        _ parameters: [String: String],
        _ head: RequestHead,
        _ request: Request,
        _ body: IncomingBody,
        _ channel: any Channel
    ) async throws -> Response {
        var question = RouteRequest()
        question.origin = configuration.address.origin
        question.parameters = parameters
        question.query = try Self.query(of: request)
        question.fields = head.fields
        question.host = head.host
        question.remoteAddress = head.remoteAddress
        try await read(body, of: request, for: route, into: &question)
        let file = question.file
        let cleanUp: @Sendable () -> Void = {
            if let file { try? SystemFileSystem().remove(file.path) }  // the route may have moved it
        }
        // Again: the right to the route may have ended while the body arrived.
        if let refusal = configuration.authorize(head) {
            cleanUp()
            return try HTTPAnswer.answer(refusal, configuration.fields)
        }
        let answer =
            route.endsWithClient
            ? await Self.whileConnected(channel) { [question] in await route.answer(question) }
            : await route.answer(question)
        guard case .lines(let eventStream) = answer.content, request.method != .head else {
            cleanUp()
            return try HTTPAnswer.answer(answer, configuration.fields)
        }
        // The end of a connection cancels streamed answers, and routes that are marked; other requests run to their end.
        let authorize = configuration.authorize
        let lines = OutgoingBody.lines(
            eventStream,
            for: channel,
            in: [streams, configuration.streams],
            while: { authorize(head) == nil },
            finally: cleanUp
        )
        return HTTPAnswer.lines(lines, of: answer, configuration.fields)
    }

    /// - Throws: ``RouteFailure``.
    private func read(
        _ body: IncomingBody,
        of request: Request,
        for route: Route,
        into question: inout RouteRequest
    ) async throws(RouteFailure) {
        switch route.body {
        case .none: break
        case .json(let limit):
            question.body = try await body.bytes(limit: limit)
            let type = request.headers[.contentType]?.split(separator: ";").first?.lowercased()
            guard question.body.isEmpty || type == "application/json" else {
                throw RouteFailure(415, "no-json", "send JSON with Content-Type: application/json")
            }
        case .bytes(let limit): question.body = try await body.bytes(limit: limit)
        case .file(let limit):
            let number = String(UInt64.random(in: .min ... .max), radix: 36)
            question.file = try await body.store(at: configuration.uploadPrefix + number, limit: limit)
        }
    }

    /// Runs `body`, which is cancelled when the client disconnects, to its end.
    private static func whileConnected(
        _ channel: any Channel,
        _ body: @escaping @Sendable () async -> RouteAnswer
    ) async -> RouteAnswer {
        let disconnection = Promise<Void>()
        DisconnectHandler.whenGone(from: channel) { disconnection.fulfil(()) }
        return await withTaskGroup(of: RouteAnswer?.self) { group in
            group.addTask { await body() }
            group.addTask {
                try? await disconnection.wait()  // cancelled: the answer exists
                return nil
            }
            var answer: RouteAnswer?
            while let next = await group.next() {
                answer = answer ?? next
                group.cancelAll()
            }
            guard let answer else { preconditionFailure("a route ended without an answer") }
            return answer
        }
    }

    private static func query(of request: Request) throws(RouteFailure) -> [String: String] {
        let parts = (request.head.path ?? "").split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
        guard let query = PercentText.query(parts.count == 2 ? parts[1] : "") else {
            throw RouteFailure(400, "bad-query", "the query of the address is malformed")
        }
        return query
    }
}
