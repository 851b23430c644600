internal import HTTPTypes
internal import Hummingbird
internal import HummingbirdCore

/// Finds the route of a request with Hummingbird's router, within stricter rules for paths.
struct RouteTable: Sendable {
    /// Answers a request to a route; the parameters are decoded.
    typealias Answer = @Sendable (Route, [String: String], Request, ConsoleContext) async throws -> Response

    private static let prefix = "/api/"

    private let responder: RouterResponder<ConsoleContext>
    private let templates: Set<String>

    init(_ routes: [Route], answer: @escaping Answer) {
        let router = Router(context: ConsoleContext.self)
        router.add(middleware: NoRouteMiddleware())
        let byTemplate = Dictionary(grouping: routes, by: \.template)
        for (template, routes) in byTemplate {
            let path = RouterPath(template)
            for route in routes {
                router.on(path, method: route.method.http) { request, context in
                    try await answer(route, Self.parameters(context), request, context)
                }
            }
            let allowed = routes.map(\.method.rawValue).joined(separator: ", ")
            for method in HTTPRequest.Method.standard where !routes.contains(where: { $0.method.http == method }) {
                router.on(path, method: method) { _, context -> Response in
                    _ = try Self.parameters(context)
                    throw RouteFailure(
                        405,
                        "wrong-method",
                        "this path allows only \(allowed)",
                        context: ["allow": allowed]
                    )
                }
            }
        }
        templates = Set(byTemplate.keys)
        responder = router.buildResponder()
    }

    /// Whether a path belongs to programs, and not to pages.
    func covers(_ path: String) -> Bool { path.hasPrefix(Self.prefix) || templates.contains(path) }

    /// Answers a request to a path.
    ///
    /// - Throws: ``RouteFailure`` with 404 or 405 if no route fits, and the errors of `answer`.
    func respond(to request: Request, at path: String, _ context: ConsoleContext) async throws -> Response {
        // The router skips empty segments.
        guard path.first == "/", path.last != "/", !path.contains("//") else { throw RouteFailure.noRoute }
        return try await responder.respond(to: request, context: context)
    }

    private static func parameters(_ context: ConsoleContext) throws(RouteFailure) -> [String: String] {
        var parameters: [String: String] = [:]
        for (name, text) in context.parameters {
            guard let value = PercentText.decode(text), !value.isEmpty else { throw .noRoute }
            parameters[String(name)] = value
        }
        return parameters
    }
}

/// Replaces the router's own answer for a path without a route.
private struct NoRouteMiddleware: RouterMiddleware {
    @concurrent
    func handle(
        _ request: Request,
        context: ConsoleContext,
        next: @concurrent (Request, ConsoleContext) async throws -> Response
    ) async throws -> Response {
        do {
            return try await next(request, context)
        } catch let error as HTTPError where error.status == .notFound {
            throw RouteFailure.noRoute
        }
    }
}

extension RouteFailure {
    fileprivate static var noRoute: RouteFailure {
        RouteFailure(404, "no-such-path", "there is nothing at this path")
    }
}

extension Route.Method {
    fileprivate var http: HTTPRequest.Method {
        switch self {
        case .get: .get
        case .post: .post
        case .put: .put
        case .patch: .patch
        case .delete: .delete
        }
    }
}

extension HTTPRequest.Method {
    /// The methods of RFC 9110, section 9, and PATCH.
    fileprivate static let standard: [Self] = [.get, .head, .post, .put, .patch, .delete, .options, .trace, .connect]
}
