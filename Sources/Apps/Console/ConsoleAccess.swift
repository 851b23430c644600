internal import HTTPAPI
internal import Identity

/// The rules for a request to a console with pages: host, origin and, for routes, the token.
struct ConsoleAccess: Sendable {
    /// The path at which a secret becomes a token.
    static let exchangePath = "/api/v1/session"
    /// The paths below are for programs, with or without a route.
    private static let prefix = "/api/"

    let sessions: ConsoleSessions
    let isForNetwork: Bool

    /// Whether a path belongs to programs, and not to pages.
    static func isForPrograms(_ head: RequestHead) -> Bool { head.template != nil || head.path.hasPrefix(prefix) }

    /// Returns nil for a request that is let through, or the refusal.
    func refusal(of head: RequestHead) -> RouteAnswer? {
        let isForPrograms = Self.isForPrograms(head)
        let request = AccessRules.Request(
            host: head.host,
            origin: head.fields["Origin"],
            fetchSite: head.fields["Sec-Fetch-Site"],
            localAddress: head.localAddress
        )
        switch rules(for: head)?.evaluate(request, forPage: !isForPrograms) ?? .foreignHost {
        case .allowed: break
        case .foreignHost:
            let name = isForNetwork ? "its IP address" : "localhost or 127.0.0.1"
            return .failure(RouteFailure(421, "foreign-host", "open this server as \(name), with its port"))
        case .foreignOrigin:
            return .failure(RouteFailure(403, "foreign-origin", "requests from pages of other origins are refused"))
        }
        let isExchange = head.method == "POST" && head.template == Self.exchangePath
        guard isForPrograms, !isExchange, !sessions.admits(head.fields["Authorization"]) else { return nil }
        return Self.noToken
    }

    private func rules(for head: RequestHead) -> AccessRules? {
        isForNetwork ? .network : head.localAddress.map { .loopback(port: $0.port) }
    }

    private static var noToken: RouteAnswer {
        var answer = RouteAnswer.failure(
            RouteFailure(
                401,
                "no-token",
                "open the console with `runar console`; programs send Authorization: Bearer and the node's token"
            )
        )
        answer.fields = HeaderFields(valid: [("WWW-Authenticate", "Bearer realm=\"runar\"")])
        return answer
    }
}
