internal import Concurrency
internal import HTTPTypes
internal import Hummingbird
internal import HummingbirdCore
internal import NIOCore
internal import Platform

/// Handles requests to routes: reads the body within bounds, checks the token, and writes the answer.
struct RouteAnswerer: Sendable {
    /// The path at which a secret becomes a token.
    static let exchangePath = "/api/v1/session"

    let configuration: Console.Configuration
    /// The streamed answers of this server.
    let streams: OpenStreams

    /// Reads the body of a request and answers it.
    ///
    /// - Throws: ``RouteFailure``.
    func answer(
        _ route: Route,
        _ parameters: [String: String],
        _ request: Request,
        _ context: ConsoleContext
    ) async throws -> Response {
        var question = RouteRequest()
        question.origin = configuration.place.origin
        question.parameters = parameters
        question.query = try Self.query(of: request)
        guard let body = context.body else { preconditionFailure("a request is routed without its body") }
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
            let name = ".console.upload-\(String(UInt64.random(in: .min ... .max), radix: 36))"
            question.file = try await body.store(at: FilePath.joining(configuration.uploads, name), limit: limit)
        }
        let file = question.file
        let cleanUp: @Sendable () -> Void = {
            if let file { try? SystemFileSystem().remove(file.path) }  // the route may have moved it
        }
        // Again: the token may have been revoked while the body arrived.
        do throws(RouteFailure) {
            if route.template != Self.exchangePath { try checkToken(of: request) }
        } catch {
            cleanUp()
            throw error
        }
        let answer =
            route.endsWithClient
            ? await Self.whileConnected(context.channel) { [question] in await route.answer(question) }
            : await route.answer(question)
        if case .lines(let eventStream) = answer {
            // The end of a connection cancels streamed answers, and routes that are marked; other requests run to their
            // end.
            let lists = [streams, configuration.sessions.streams]
            let token = request.headers[.authorization]
            let lines = OutgoingBody.lines(
                eventStream,
                for: context.channel,
                in: lists,
                while: { admits(token) },
                finally: cleanUp
            )
            return HTTPAnswer.lines(lines)
        }
        cleanUp()
        return try HTTPAnswer.answer(answer)
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

    private func admits(_ authorization: String?) -> Bool {
        configuration.place.origin == .socket || configuration.sessions.admits(authorization)
    }

    /// Refuses a request without a valid token; at the socket none is needed.
    ///
    /// - Throws: ``RouteFailure``.
    func checkToken(of request: Request) throws(RouteFailure) {
        guard admits(request.headers[.authorization]) else {
            throw RouteFailure(
                401,
                "no-token",
                "open the console with `runar console`; programs send Authorization: Bearer and the node's token"
            )
        }
    }
}
