internal import Concurrency
internal import Essentials
internal import Identity
internal import Logging
internal import Node
internal import Services

/// Answers the requests of other devices with the services of a node.
struct RequestHost: Sendable {
    /// The nodes for one of whose requests the current task runs the handler.
    @TaskLocal private static var serving: Set<ObjectIdentifier> = []

    let node: RunarNode

    /// Whether this task is a handler for a request of another device to `node`: the node's run waits for its end.
    static func isServing(_ node: RunarNode) -> Bool { Self.serving.contains(ObjectIdentifier(node)) }

    /// Calls `body` as if no request of another device were being handled, for tasks that outlive the request.
    static func outsideRequests<Result>(_ body: () -> Result) -> Result { Self.$serving.withValue([], operation: body) }

    /// Answers a request.
    func serve(_ incoming: IncomingRequest) async {
        let serving = Self.serving.union([ObjectIdentifier(node)])
        await Self.$serving.withValue(serving) { await answer(incoming) }
    }

    private func answer(_ incoming: IncomingRequest) async {
        let path = incoming.header.path.text
        do {
            let route = node.services.route(incoming.header.path, in: incoming.network)
            guard let hosted = route.hosted else { throw ServiceFailure(kind: .noService, context: path) }
            guard let action = route.action else { throw ServiceFailure(kind: .noAction, context: path) }
            let state = hosted.state
            guard state == .running else {
                let message = ServiceFailures.notRunning(path, state: state).message
                throw ServiceFailure(kind: .notRunning, message: message, context: path)
            }
            let context = self.context(of: incoming, hosted, route)
            if let action = action as? any StreamingServiceAction {
                try await serve(incoming, action, of: hosted, context)
            } else {
                try await serve(incoming, action, of: hosted, context)
            }
        } catch let failure as ServiceFailure {
            await incoming.fail(failure)
        } catch {
            await incoming.fail(ServiceFailure(handler: error, path))
        }
    }

    private func serve(
        _ incoming: IncomingRequest,
        _ action: any ServiceAction,
        of hosted: HostedService,
        _ context: RunarContext
    ) async throws {
        let encoding = incoming.header.contentType.encoding
        // If a sequence was sent to an action that takes one value, its first item is the value.
        let request = RunarRequest(
            context: context,
            payload: Data(try await incoming.nextItem() ?? []),
            encoding: encoding
        )
        let answer = try await hosted.answer(request, action, in: hosted.service.encoding ?? encoding ?? .json)
        try await incoming.respond([UInt8](answer.bytes), answer.contentType)
    }

    /// Answers with a sequence.
    private func serve(
        _ incoming: IncomingRequest,
        _ action: any StreamingServiceAction,
        of hosted: HostedService,
        _ context: RunarContext
    ) async throws {
        let encoding = incoming.header.contentType.encoding
        let reply = hosted.service.encoding ?? encoding ?? .json
        let sink = IncomingSink(incoming, reply.contentType)
        try await action.run(IncomingSource(incoming, encoding ?? .json), sink, in: reply, context)
        try await sink.finish()
    }

    private func context(
        of incoming: IncomingRequest,
        _ hosted: HostedService,
        _ route: ServiceHost.Route
    ) -> RunarContext {
        let fields = incoming.header.metadata.map { ($0.name, $0.value) }
        return RunarContext(
            path: route.path.text,
            parameters: route.parameters,
            networkId: incoming.network,
            peer: incoming.peer,
            deadline: .now + incoming.header.timeLimit,
            metadata: Dictionary(fields) { first, _ in first },
            node: node,
            network: route.network,
            encoding: hosted.service.encoding ?? .json
        )
    }
}
