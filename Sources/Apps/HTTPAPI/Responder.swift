internal import HTTPTypes
internal import Hummingbird
internal import HummingbirdCore
internal import NIOCore

/// Answers the requests of a server: finds the route, applies the rules, and runs the route.
final class Responder: Sendable {
    private let configuration: HTTPServer.Configuration
    private let table: RouteTable
    private let answerer: RouteAnswerer
    private let requests = OpenRequests()

    init(_ configuration: HTTPServer.Configuration) {
        self.configuration = configuration
        table = RouteTable(configuration.routes)
        answerer = RouteAnswerer(configuration: configuration, streams: OpenStreams())
    }

    /// Ends the answers that last.
    func endStreams() { answerer.streams.endAll() }

    /// Waits until all answers were written, or until the task is cancelled; the server has stopped listening.
    func drain() async { await requests.drain() }

    func respond(to request: Request, on channel: any Channel) async -> Response {
        let ticket = requests.enter()
        return HTTPAnswer.holding(ticket, until: await answer(request, channel))
    }

    private func answer(_ request: Request, _ channel: any Channel) async -> Response {
        let patience = TimeAmount(configuration.limits.patience)
        let body = IncomingBody(request, channel: channel, patience: patience)
        var answer: Response
        do {
            answer = try await route(request, body, channel)
        } catch {
            let failure = error as? RouteFailure ?? RouteFailure(500, "internal", "unexpected: \(error)")
            answer = HTTPAnswer.failure(failure, configuration.fields)
        }
        if request.method == .head { answer = HTTPAnswer.withoutBody(answer, channel, within: patience) }
        if await body.discard(), !requests.isDraining { return answer }
        return HTTPAnswer.closing(answer, channel, within: patience)
    }

    /// - Throws: ``RouteFailure``.
    private func route(_ request: Request, _ body: IncomingBody, _ channel: any Channel) async throws -> Response {
        // The first one is in the head. RFC 9112, section 3.2: two could mean different hosts to different readers.
        guard request.headers[values: HTTPAnswer.host].isEmpty else {
            throw RouteFailure(400, "several-hosts", "send one Host field")
        }
        let path = String((request.head.path ?? "").prefix { $0 != "?" })
        let (finding, template) = table.find(request.method.rawValue, path)
        let head = RequestHead(
            method: request.method.rawValue,
            path: path,
            template: template,
            host: request.head.authority,
            fields: HeaderFields(request.headers),
            localAddress: channel.localAddress?.plain,
            remoteAddress: channel.remoteAddress?.plain
        )
        if let refusal = configuration.authorize(head) {
            return try HTTPAnswer.answer(refusal, configuration.fields)
        }
        switch finding {
        case .route(let route, let parameters):
            return try await answerer.answer(route, parameters, head, request, body, channel)
        case .otherMethods(let allowed):
            throw RouteFailure(405, "wrong-method", "this path allows only \(allowed)", context: ["allow": allowed])
        case .none:
            return try HTTPAnswer.answer(configuration.fallback(head), configuration.fields)
        }
    }
}
