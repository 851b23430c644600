internal import HTTPAPI

/// The routes of a console for the sessions of browsers.
struct SessionRoutes: Sendable {
    private let configuration: Console.Configuration

    init(_ configuration: Console.Configuration) {
        self.configuration = configuration
    }

    var routes: [Route] {
        let (sessions, configuration) = (configuration.sessions, configuration)
        return [
            Route(.post, ConsoleAccess.exchangePath, body: .json()) { request in
                let session = Self.exchange(request, sessions)
                if case .success = session { configuration.onSignIn() }
                return Self.answer(session)
            },
            Route(.post, "\(ConsoleAccess.exchangePath)/renew") { _ in
                Self.answer(.success(sessions.makeSession()))
            },
            Route(.delete, "\(ConsoleAccess.exchangePath)/all") { _ in
                guard let key = configuration.replaceKey() else {
                    return .failure(RouteFailure(507, "not-kept", "the new key could not be stored: check the disk"))
                }
                sessions.replaceKey(key)
                return .json(Array("{}".utf8))
            },
        ]
    }

    private static func exchange(
        _ request: RouteRequest,
        _ sessions: ConsoleSessions
    ) -> Result<ConsoleSessions.Session, RouteFailure> {
        let form = try? JSONBody.decode(ConsoleSessions.SecretForm.self, from: request.body)  // replaced below
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
            return .json(JSONBody.bytes(session))
        case .failure(let failure): return .failure(failure)
        }
    }
}
