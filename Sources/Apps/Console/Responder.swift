internal import Concurrency
internal import HTTPTypes
internal import Hummingbird
internal import HummingbirdCore
internal import NIOCore

/// Answers requests, one step of the rules after the other.
final class Responder: Sendable {
    private let configuration: Console.Configuration
    private let pages = PageTable()
    private let router: RouteTable
    private let answerer: RouteAnswerer
    /// Nil until the port is known.
    private let rules = Locked<AccessRules?>(nil)

    init(_ configuration: Console.Configuration) {
        self.configuration = configuration
        let sessions = configuration.sessions
        let own = [
            Route(.post, RouteAnswerer.exchangePath, body: .json()) { request in
                let session = Self.exchange(request, sessions)
                if case .success = session { configuration.onSignIn() }
                return Self.answer(session)
            },
            Route(.post, "\(RouteAnswerer.exchangePath)/renew") { _ in
                Self.answer(.success(sessions.makeSession()))
            },
            Route(.delete, "\(RouteAnswerer.exchangePath)/all") { _ in
                guard let key = configuration.replaceKey() else {
                    return .failure(RouteFailure(507, "not-kept", "the new key could not be stored: check the disk"))
                }
                sessions.replaceKey(key)
                return .json(Array("{}".utf8))
            },
        ]
        // At the socket the kernel authenticates clients, and there are no pages.
        let isOpenToUser = configuration.place.origin == .socket
        answerer = RouteAnswerer(configuration: configuration, streams: OpenStreams())
        router = RouteTable((isOpenToUser ? [] : own) + configuration.routes, answer: answerer.answer)
    }

    /// Takes the rules once the port is known.
    func use(_ rules: AccessRules) { self.rules.withLock { $0 = rules } }

    /// Ends the answers that last.
    func endStreams() { answerer.streams.endAll() }

    func respond(to request: Request, _ context: ConsoleContext) async -> Response {
        let body = IncomingBody(request, channel: context.channel, patience: TimeAmount(configuration.patience))
        var context = context
        context.body = body
        let answer: Response
        do {
            answer = try await route(request, context)
        } catch {
            let failure = error as? RouteFailure ?? RouteFailure(500, "internal", "unexpected: \(error)")
            answer = HTTPAnswer.failure(failure)
        }
        if await body.discard() { return answer }
        return HTTPAnswer.closing(answer, context.channel)
    }

    /// - Throws: ``RouteFailure``.
    private func route(_ request: Request, _ context: ConsoleContext) async throws -> Response {
        // The first one is in the head. RFC 9112, section 3.2: two could mean different hosts to different readers.
        guard request.headers[values: HTTPAnswer.host].isEmpty else {
            throw RouteFailure(400, "several-hosts", "send one Host field")
        }
        let path = String((request.head.path ?? "").prefix { $0 != "?" })
        if configuration.place.origin != .socket {
            let isForPrograms = router.covers(path)
            try check(request, context, forPage: !isForPrograms)
            guard isForPrograms else { return try page(path, request) }
        }
        let isExchange = request.method == .post && path == RouteAnswerer.exchangePath
        if !isExchange { try answerer.checkToken(of: request) }
        return try await router.respond(to: request, at: path, context)
    }

    private func check(_ request: Request, _ context: ConsoleContext, forPage: Bool) throws(RouteFailure) {
        let question = AccessRules.Request(
            host: request.head.authority,
            origin: request.headers[.origin],
            fetchSite: request.headers[HTTPAnswer.fetchSite],
            localAddress: context.channel.localAddress?.plain
        )
        switch rules.withLock({ $0 })?.evaluate(question, forPage: forPage) ?? .foreignHost {
        case .allowed: return
        case .foreignHost:
            let name =
                configuration.place.origin == .thisMachine ? "localhost or 127.0.0.1" : "its IP address"
            throw RouteFailure(421, "foreign-host", "open this server as \(name), with its port")
        case .foreignOrigin:
            throw RouteFailure(403, "foreign-origin", "requests from pages of other origins are refused")
        }
    }

    private func page(_ path: String, _ request: Request) throws(RouteFailure) -> Response {
        guard let page = pages[path] else { throw RouteFailure(404, "no-such-page", "there is no such page") }
        guard request.method == .get else {
            throw RouteFailure(405, "wrong-method", "pages can only be read: use GET", context: ["allow": "GET"])
        }
        let answer = pages.answer(page, accepting: request.headers[.acceptEncoding])
        return HTTPAnswer.page(page, answer, isKnown: answer.isKnown(by: request.headers[.ifNoneMatch]))
    }

    private static func exchange(
        _ request: RouteRequest,
        _ sessions: ConsoleSessions
    ) -> Result<ConsoleSessions.Session, RouteFailure> {
        let form = try? ConsoleJSON.decode(ConsoleSessions.SecretForm.self, from: request.body)  // replaced below
        guard let question = form else {
            return .failure(RouteFailure(400, "bad-json", "send {\"secret\": …}"))
        }
        guard let session = sessions.exchange(question.secret) else {
            let advice = "this link was used before, or is older than a minute: run `runar console` again"
            return .failure(RouteFailure(401, "wrong-secret", advice))
        }
        return .success(session)
    }

    private static func answer(_ session: Result<ConsoleSessions.Session, RouteFailure>) -> RouteAnswer {
        switch session {
        case .success(let session):
            return .json(ConsoleJSON.bytes(session))
        case .failure(let failure): return .failure(failure)
        }
    }
}
