internal import APIDescription
internal import CommandModel
internal import Foundation
internal import HTTPAPI
internal import Identity
package import NodeModel
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
    /// The web console, if this node has one.
    let console: NodeConsole?
    /// Only one passphrase is checked concurrently, because each check takes 128 MiB.
    let passphraseGate = PassphraseGate()

    package init(_ handler: RequestHandler, console: NodeConsole? = nil) {
        self.handler = handler
        self.console = console
    }

    var node: RunarNode { handler.node }

    /// The record of recent activity.
    ///
    /// - Throws: ``CommandFailure`` when it has no console.
    var watch: NodeWatch {
        get throws(CommandFailure) {
            if let watch = handler.watch { return watch }
            throw Self.noConsole
        }
    }

    /// All operations, for requests of every origin.
    var operations: [APIOperation] {
        nodeOperations + networkOperations + peerOperations + dataOperations + keyOperations
            + oneTimeKeyOperations + circleOperations + accountOperations + codeOperations + lanOperations
    }

    /// The routes of ``operations``.
    var routes: [Route] { operations.map(\.route) }

    /// The routes of ``commandOperations``.
    var commandRoutes: [Route] { commandOperations.map(\.route) }

    /// An operation whose answer is the report that `answer` makes.
    func serve<Path, Form, Answer>(
        _ operation: Operation<Path, Form, Answer>,
        _ answer: @escaping @Sendable (EndpointRequest<Path, Form>) async throws -> Answer
    ) -> APIOperation {
        respond(to: operation) { request in
            let report = try await perform(operation) { try await answer(request) }
            return operation.endpoint.report(report)
        }
    }

    /// An operation that `body` performs, and that has no other answer.
    func serveAction<Path, Form>(
        _ operation: Operation<Path, Form, DoneReport>,
        _ body: @escaping @Sendable (EndpointRequest<Path, Form>) async throws -> Void
    ) -> APIOperation {
        serve(operation) { request in
            try await body(request)
            return DoneReport(done: true)
        }
    }

    /// An operation that streams updates as lines until it is done.
    ///
    /// `prepare` checks the request: an error that it throws becomes an HTTP status, an error of the returned work becomes
    /// the last line.
    func stream<Path, Form, Answer>(
        _ operation: Operation<Path, Form, Answer>,
        _ prepare:
            @escaping @Sendable (EndpointRequest<Path, Form>) async throws -> (
                @Sendable (@escaping RequestHandler.Tell) async throws -> Answer
            )
    ) -> APIOperation {
        respond(to: operation) { request in
            let work = try await prepare(request)
            return .lines { lines in
                await whileSayingAlive(on: lines) {
                    do {
                        let report = try await perform(operation) {
                            try await work { update in await lines.write(AnswerLine.bytes(update)) }
                        }
                        await lines.write(AnswerLine.bytes(result: report))
                    } catch {
                        await lines.write(AnswerLine.bytes(failure: FailureView(failure(error, in: request.network))))
                    }
                }
            }
        }
    }

    /// An operation that streams updates as lines until it ends, and that has no other answer.
    func streamUpdates<Path, Form>(
        _ operation: Operation<Path, Form, DoneReport>,
        _ prepare:
            @escaping @Sendable (EndpointRequest<Path, Form>) async throws -> (
                @Sendable (@escaping RequestHandler.Tell) async throws -> Void
            )
    ) -> APIOperation {
        stream(operation) { request in
            let work = try await prepare(request)
            return { tell in
                try await work(tell)
                return DoneReport(done: true)
            }
        }
    }

    /// An operation that makes its answer itself.
    ///
    /// The access is checked here, before the form is read and `answer` runs.
    func respond<Path, Form, Answer>(
        to operation: Operation<Path, Form, Answer>,
        _ answer: @escaping @Sendable (EndpointRequest<Path, Form>) async throws -> RouteAnswer
    ) -> APIOperation {
        let rules = EndpointRules(
            check: { _, request in try check(operation.access, of: request) },
            failure: { error, request in .failure(failure(error, in: request.network)) }
        )
        return APIOperation(endpoint: operation.endpoint.respond(rules, answer), access: operation.access)
    }

    private func perform<Path, Form, Answer>(
        _ operation: Operation<Path, Form, Answer>,
        _ body: () async throws -> Answer
    ) async throws -> Answer {
        if operation.needsNetwork, !node.isRunning { throw NodeError.notRunning }
        let answer = try await body()
        handler.watch?.noteChanges(operation.changes)
        return answer
    }

    private func failure(_ error: any Error, in network: NetworkName?) -> RouteFailure {
        if let failure = error as? RouteFailure { return failure }
        return RouteFailure(handler.failure(error, in: network))
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

extension EndpointRequest {
    /// The network in the path, nil for the only one.
    var network: NetworkName? { route.network }
}
