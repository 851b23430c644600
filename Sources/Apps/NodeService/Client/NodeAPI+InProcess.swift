internal import CommandModel
internal import HTTPAPI
package import NodeModel

// A command whose own process has the node uses the same routes, without a socket.
extension NodeAPI {
    /// Answers a request as the running node of a home would.
    ///
    /// - Throws: ``CommandFailure``.
    package func perform<Answer>(
        _ request: APIRequest<Answer>,
        onUpdate: @escaping @Sendable (NodeUpdate) async throws -> Void
    ) async throws -> Answer {
        let (method, template) = (request.method, request.template)
        let found = (routes + commandRoutes).first { $0.method == method && $0.template == template }
        guard let route = found else { preconditionFailure("there is no route \(method.rawValue) \(template)") }
        var input = RouteRequest()
        input.origin = .thisProcess
        input.parameters = request.parameters
        input.query = request.query
        input.body = request.body ?? []
        await handler.wait(for: request.requiredPeers)
        let answer = await route.answer(input)
        try Task.checkCancellation()
        switch answer.content {
        case .json(let body): return try AnswerReader<Answer>.answer(body, status: answer.status)
        case .last(let body, let action):
            defer { action() }
            return try AnswerReader<Answer>.answer(body, status: 200)
        case .lines(let eventStream): return try await Self.read(eventStream, AnswerReader(onUpdate: onUpdate))
        case .empty, .bytes, .download, .file: throw AnswerReader<Answer>.unknown
        }
    }

    private static func read<Answer>(
        _ eventStream: @escaping @Sendable (LineWriter) async -> Void,
        _ reader: AnswerReader<Answer>
    ) async throws -> Answer {
        let (ends, end) = AsyncStream.makeStream(of: Result<Answer, any Error>.self)
        return try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask {
                await eventStream(
                    LineWriter { line in
                        do {
                            if let answer = try await reader.take(line: line) { end.yield(.success(answer)) }
                            return true
                        } catch {
                            end.yield(.failure(error))
                            return false
                        }
                    }
                )
                end.finish()
            }
            for await end in ends {
                // A receiver of updates that fails ends the stream, as a disconnected client does.
                if case .failure = end { group.cancelAll() }
                return try end.get()
            }
            throw CancellationError()
        }
    }
}
