internal import Concurrency
internal import HTTPTypes
internal import Hummingbird
internal import HummingbirdCore
internal import NIOCore
internal import Platform

/// Answers requests, one step of the rules after the other.
final class ConsoleResponder: Sendable {
    /// Behind which a secret becomes a token.
    private static let sessionPath = "/api/v1/session"

    private let configuration: Console.Configuration
    private let pages = PageTable()
    private let routes: RouteTable
    /// Whether the kernel has said who asks, so that no token is needed; there are no pages then.
    private let isOpenToUser: Bool
    /// The answers that last, of this server alone.
    private let streams = OpenStreams()
    /// Nil until the port is known.
    private let rules = Locked<AccessRules?>(nil)

    init(_ configuration: Console.Configuration) {
        self.configuration = configuration
        let sessions = configuration.sessions
        let own = [
            ConsoleRoute(.post, Self.sessionPath, body: .json()) { request in
                let session = Self.exchange(request, sessions)
                if case .success = session { configuration.onSignIn() }
                return Self.answer(session)
            },
            ConsoleRoute(.post, "\(Self.sessionPath)/renew") { _ in Self.answer(.success(sessions.makeSession())) },
            ConsoleRoute(.delete, "\(Self.sessionPath)/all") { _ in
                guard let key = configuration.replaceKey() else {
                    return .failure(ConsoleFailure(507, "not-kept", "the new key cannot be kept: look at the disk"))
                }
                sessions.replaceKey(key)
                return .json(Array("{}".utf8))
            },
        ]
        isOpenToUser = configuration.place.origin == .socket
        routes = RouteTable((isOpenToUser ? [] : own) + configuration.routes)
    }

    /// Takes the rules once the port is known.
    func use(_ rules: AccessRules) { self.rules.withLock { $0 = rules } }

    /// Ends the answers that last.
    func endStreams() { streams.endAll() }

    func respond(to request: Request, _ context: ConsoleContext) async -> Response {
        var body = IncomingBody(request, channel: context.channel, patience: TimeAmount(configuration.patience))
        let answer: Response
        do throws(ConsoleFailure) {
            answer = try await respond(to: request, context, &body)
        } catch {
            answer = ConsoleResponse.failure(error)
        }
        if await body.discard() { return answer }
        return ConsoleResponse.closing(answer, context.channel)
    }

    private func respond(
        to request: Request,
        _ context: ConsoleContext,
        _ body: inout IncomingBody
    ) async throws(ConsoleFailure) -> Response {
        let parts = (request.head.path ?? "").split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
        let path = String(parts.first ?? "")
        let isForPrograms = isOpenToUser || routes.covers(path)
        if !isOpenToUser { try check(request, context, forPage: !isForPrograms) }
        guard isForPrograms else { return try page(path, request) }
        let isExchange = request.method == .post && path == Self.sessionPath
        if !isExchange { try checkToken(of: request) }
        switch routes.match(request.method.rawValue, path) {
        case .nothing: throw ConsoleFailure(404, "no-such-path", "there is nothing at this path")
        case .otherMethods(let methods):
            let names = methods.map(\.rawValue).joined(separator: ", ")
            throw ConsoleFailure(405, "wrong-method", "this path is asked with \(names)", context: ["allow": names])
        case .route(let route, let parameters):
            var question = ConsoleRequest()
            question.origin = configuration.place.origin
            question.parameters = parameters
            guard let query = PercentText.query(parts.count == 2 ? parts[1] : "") else {
                throw ConsoleFailure(400, "bad-query", "what stands behind the question mark is broken")
            }
            question.query = query
            return try await ask(route, question, request, context, isExchange: isExchange, &body)
        }
    }

    private func admits(_ authorization: String?) -> Bool {
        isOpenToUser || configuration.sessions.admits(authorization)
    }

    private func checkToken(of request: Request) throws(ConsoleFailure) {
        guard admits(request.headers[.authorization]) else {
            throw ConsoleFailure(
                401,
                "no-token",
                "open the console with `runar console`; programs send Authorization: Bearer and the node's token"
            )
        }
    }

    private func check(_ request: Request, _ context: ConsoleContext, forPage: Bool) throws(ConsoleFailure) {
        let question = AccessRules.Request(
            host: request.head.authority,
            origin: request.headers[.origin],
            fetchSite: request.headers[ConsoleResponse.fetchSite],
            localAddress: context.channel.localAddress?.plain
        )
        switch rules.withLock({ $0 })?.judge(question, forPage: forPage) ?? .foreignHost {
        case .allowed: return
        case .foreignHost:
            let name =
                configuration.place.origin == .thisMachine ? "localhost or 127.0.0.1" : "by its address in numbers"
            throw ConsoleFailure(421, "foreign-host", "call this server \(name), with its port")
        case .foreignOrigin:
            throw ConsoleFailure(403, "foreign-origin", "pages of other origins get nothing here")
        }
    }

    private func page(_ path: String, _ request: Request) throws(ConsoleFailure) -> Response {
        guard let page = pages[path] else { throw ConsoleFailure(404, "no-such-page", "there is no such page") }
        guard request.method == .get else {
            throw ConsoleFailure(405, "wrong-method", "a page can only be read", context: ["allow": "GET"])
        }
        let answer = pages.answer(page, accepting: request.headers[.acceptEncoding])
        return ConsoleResponse.page(page, answer, isKnown: answer.isKnown(by: request.headers[.ifNoneMatch]))
    }

    private func ask(
        _ route: ConsoleRoute,
        _ asked: ConsoleRequest,
        _ request: Request,
        _ context: ConsoleContext,
        isExchange: Bool,
        _ body: inout IncomingBody
    ) async throws(ConsoleFailure) -> Response {
        var question = asked
        switch route.body {
        case .none: break
        case .json(let limit):
            question.body = try await body.bytes(limit: limit)
            let type = request.headers[.contentType]?.split(separator: ";").first?.lowercased()
            guard question.body.isEmpty || type == "application/json" else {
                throw ConsoleFailure(415, "no-json", "send JSON with Content-Type: application/json")
            }
        case .bytes(let limit): question.body = try await body.bytes(limit: limit)
        case .file(let limit):
            let name = ".console.upload-\(String(UInt64.random(in: .min ... .max), radix: 36))"
            question.file = try await body.store(at: FilePath.joining(configuration.uploads, name), limit: limit)
        }
        let file = question.file
        let cleanUp: @Sendable () -> Void = {
            if let file { try? SystemFileSystem().remove(file.path) }  // whoever answered may have moved it
        }
        // Again: the token may have been taken back while the body came.
        do throws(ConsoleFailure) {
            if !isExchange { try checkToken(of: request) }
        } catch {
            cleanUp()
            throw error
        }
        let answer = await route.answer(question)
        if case .lines(let course) = answer {
            // Only what lasts is cancelled by the end of a connection; all else is done once it was asked.
            let lists = [streams, configuration.sessions.streams]
            let token = request.headers[.authorization]
            let lines = OutgoingBody.lines(
                course,
                for: context.channel,
                in: lists,
                while: { self.admits(token) },
                finally: cleanUp
            )
            return ConsoleResponse.lines(lines)
        }
        cleanUp()
        return try ConsoleResponse.answer(answer)
    }

    private static func exchange(
        _ request: ConsoleRequest,
        _ sessions: ConsoleSessions
    ) -> Result<ConsoleSessions.Session, ConsoleFailure> {
        struct Question: Decodable { let secret: String }
        guard let question = try? ConsoleJSON.decode(Question.self, from: request.body) else {  // said in other words
            return .failure(ConsoleFailure(400, "bad-json", "send {\"secret\": …}"))
        }
        guard let session = sessions.exchange(question.secret) else {
            let advice = "this link was used before, or is older than a minute: run `runar console` again"
            return .failure(ConsoleFailure(401, "wrong-secret", advice))
        }
        return .success(session)
    }

    private static func answer(_ session: Result<ConsoleSessions.Session, ConsoleFailure>) -> ConsoleAnswer {
        struct Report: Encodable {
            let token: String
            let expires: UInt64
        }
        switch session {
        case .success(let session):
            return .json(ConsoleJSON.bytes(Report(token: session.token, expires: session.expires)))
        case .failure(let failure): return .failure(failure)
        }
    }
}
