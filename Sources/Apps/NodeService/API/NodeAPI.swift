internal import Console
internal import Foundation
internal import Identity
internal import Platform
internal import RunarNode

/// The HTTP API of a node, for commands, the console's pages and other programs.
///
/// `openapi.json` among the console's pages describes it: `make api-description` writes it from the operations.
package struct NodeAPI: Sendable {
    /// The path below which all routes are.
    static let prefix = "/api/v1"
    /// The path segment for the only network, or for all of them.
    static let onlyNetwork = "-"
    /// The time between two keep-alive lines of an idle stream.
    private static let alivePause = Duration.seconds(5)

    let handler: RequestHandler
    /// Only one passphrase is checked concurrently, because each check takes 128 MiB.
    let passphraseGate = PassphraseGate()

    package init(_ handler: RequestHandler) {
        self.handler = handler
    }

    var node: RunarNode { handler.node }

    /// The record of recent activity.
    ///
    /// - Throws: ``CommandFailure`` when it has no console.
    var watch: NodeWatch {
        get throws(CommandFailure) {
            if let watch = handler.watch { return watch }
            throw RequestHandler.noConsole
        }
    }

    /// All operations, for requests of every origin.
    var operations: [APIOperation] {
        nodeOperations + networkOperations + peerOperations + dataOperations + keyOperations
            + oneTimeKeyOperations + circleOperations + codeOperations + lanOperations
    }

    /// The routes of ``operations``.
    var routes: [Route] { operations.map(\.route) }

    /// The routes of ``commandOperations``.
    var commandRoutes: [Route] { commandOperations.map(\.route) }

    /// An operation without a form whose answer is the report that `answer` makes.
    func route<Report: Encodable & Sendable>(
        _ method: Route.Method,
        _ path: String,
        _ access: OperationAccess,
        body: Route.Body = .none,
        status: Int = 200,
        needsNetwork: Bool = false,
        changes: [ActivityChanged.Subject] = [],
        _ answer: @escaping @Sendable (RouteRequest) async throws -> Report
    ) -> APIOperation {
        let input = RouteInput<NoForm>(body: body)
        return route(method, path, access, input, status: status, needsNetwork: needsNetwork, changes: changes) {
            request,
            _ in
            try await answer(request)
        }
    }

    /// An operation whose answer is the report that `answer` makes.
    ///
    /// One that needs the network is refused while the node does not run, and one that ends with its client is cancelled
    /// when that disconnects; `changes` are the subjects that pages reload after it.
    func route<Form, Report: Encodable & Sendable>(
        _ method: Route.Method,
        _ path: String,
        _ access: OperationAccess,
        _ input: RouteInput<Form>,
        status: Int = 200,
        needsNetwork: Bool = false,
        endsWithClient: Bool = false,
        changes: [ActivityChanged.Subject] = [],
        _ answer: @escaping @Sendable (RouteRequest, Form) async throws -> Report
    ) -> APIOperation {
        special(
            method,
            path,
            access,
            input,
            endsWithClient: endsWithClient,
            answers: { .report(try SchemaReader.schema(of: Report.self), status: status) },
            { request, form in
                .json(
                    JSONText.bytes(try await perform(needsNetwork, changes) { try await answer(request, form) }),
                    status: status
                )
            }
        )
    }

    /// An operation that makes its answer itself.
    ///
    /// The access is checked here, before the form is read and the handler runs.
    func special<Form>(
        _ method: Route.Method,
        _ path: String,
        _ access: OperationAccess,
        _ input: RouteInput<Form>,
        endsWithClient: Bool = false,
        answers: @escaping @Sendable () throws -> APIShape.Answer,
        _ answer: @escaping @Sendable (RouteRequest, Form) async throws -> RouteAnswer
    ) -> APIOperation {
        let route = Route(
            method,
            Self.prefix + path,
            body: input.body,
            endsWithClient: endsWithClient
        ) { request in
            do {
                try check(access, of: request)
                return try await answer(request, input.form(of: request))
            } catch {
                return .failure(failure(error, of: request))
            }
        }
        return APIOperation(route: route, access: access) { try APIShape(route, access, input, answers()) }
    }

    /// An operation that streams updates as lines until it is done.
    ///
    /// `prepare` checks the request: an error that it throws becomes an HTTP status, an error of the returned work becomes
    /// the last line. `updates` are the kinds of lines before that.
    func eventStream<Form, Report: Encodable & Sendable>(
        _ method: Route.Method,
        _ path: String,
        _ access: OperationAccess,
        _ input: RouteInput<Form>,
        updates: [UpdateKind],
        needsNetwork: Bool = false,
        changes: [ActivityChanged.Subject] = [],
        _ prepare:
            @escaping @Sendable (RouteRequest, Form) async throws -> (
                @Sendable (@escaping RequestHandler.Tell) async throws -> Report
            )
    ) -> APIOperation {
        special(
            method,
            path,
            access,
            input,
            answers: { .lines(try AnswerLine.schemas(of: updates, result: Report.self)) },
            { request, form in
                let work = try await prepare(request, form)
                return .lines { lines in
                    await whileSayingAlive(on: lines) {
                        do {
                            let report = try await perform(needsNetwork, changes) {
                                try await work { update in await lines.write(AnswerLine.bytes(update)) }
                            }
                            await lines.write(AnswerLine.bytes(result: report))
                        } catch {
                            await lines.write(AnswerLine.bytes(failure: FailureView(failure(error, of: request))))
                        }
                    }
                }
            }
        )
    }

    private func perform<Report: Sendable>(
        _ needsNetwork: Bool,
        _ changes: [ActivityChanged.Subject],
        _ body: () async throws -> Report
    ) async throws -> Report {
        if needsNetwork, !node.isRunning { throw NodeError.notRunning }
        let report = try await body()
        handler.watch?.noteChanges(changes)
        return report
    }

    private func failure(_ error: any Error, of request: RouteRequest) -> RouteFailure {
        if let failure = error as? RouteFailure { return failure }
        return RouteFailure(handler.failure(error, in: request.network))
    }

    /// Writes keep-alive lines until `body` ends or the client disconnects.
    private func whileSayingAlive(on lines: LineWriter, _ body: @escaping @Sendable () async -> Void) async {
        await withTaskGroup(of: Void.self) { group in
            group.addTask { await body() }
            group.addTask {
                while (try? await Task.sleep(for: Self.alivePause)) != nil {  // nil: it has ended
                    guard await lines.write(AnswerLine.alive) else { return }
                }
            }
            await group.next()
            group.cancelAll()
        }
    }
}
