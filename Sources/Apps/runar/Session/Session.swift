internal import CommandKit
internal import CommandModel
internal import Concurrency
internal import NodeModel
internal import NodeService
internal import Platform
internal import RunarNode

/// The path of a command to the node of a home: over its socket, or in this very process.
struct Session: Sendable {
    private enum Way: Sendable {
        case socket(NodeClient, PassphraseSource)
        case api(NodeAPI)
    }

    private let way: Way

    /// Finds the running node of a home, or opens the home and, if `onNetwork`, starts a node until `body` returns.
    ///
    /// A long-running node serves other commands meanwhile, if `isServing`.
    static func with<Result>(
        _ home: HomeOptions,
        _ node: NodeOptions? = nil,
        onNetwork: Bool = false,
        isServing: Bool = false,
        _ body: (Session) async throws -> Result
    ) async throws -> Result {
        let place = try home.place()
        if let client = NodeClient(home: place) {
            let ignored = (node?.flagsOfNode ?? []).map(\.flag).sorted().joined(separator: ", ")
            if !ignored.isEmpty { Output.note("note: the running node keeps its own settings, not \(ignored)") }
            let passphrase = PassphraseSource(place: place, settings: try home.settings(node))
            return try await body(Session(way: .socket(client, passphrase)))
        }
        let settings = try home.settings(node)
        let nodeDirectory = try await NodeDirectory.open(place, settings: settings)
        defer { withExtendedLifetime(nodeDirectory) {} }
        let node = try nodeDirectory.makeNode(settings: settings)
        let handler = RequestHandler(
            node: node,
            keys: nodeDirectory.keys,
            home: nodeDirectory.directory,
            settings: settings,
            identity: IdentityConnection.overHTTP
        )
        let session = Session(way: .api(NodeAPI(handler)))
        guard onNetwork else { return try await body(session) }
        Output.note("no node runs in \(place): starting one for this command")
        Leftovers().remove(from: nodeDirectory.directory, accepting: settings.text(.acceptFiles))
        try await handler.startNode()
        do {
            let socket = isServing ? try NodeSocket(handler) : nil
            let ready = Promise<Void>()
            async let _: Void = serve(socket, ready)
            // Other commands find the home locked, and must find the socket as well.
            try await ready.wait()
            let result = try await body(session)
            await handler.endCircle()
            await node.stop()
            return result
        } catch {
            await handler.endCircle()
            await node.stop()
            throw error
        }
    }

    /// Serves other commands until the task is cancelled; `ready` is fulfilled once they are served or cannot be.
    private static func serve(_ socket: NodeSocket?, _ ready: Promise<Void>) async {
        defer { ready.fulfil(()) }
        do {
            try await socket?.run { ready.fulfil(()) }
        } catch {
            Output.note("note: other commands cannot ask this node: \(CommandFailure(error).message)")
        }
    }

    /// Whether a node answers at the socket of a home.
    static func isNodeRunning(in place: String) -> Bool { NodeClient(home: place) != nil }

    /// Sends one request, and returns the answer.
    ///
    /// A signal shuts a node that runs for this request alone down gracefully: other devices would wait for a killed one.
    ///
    /// - Throws: ``CommandFailure``; `CancellationError` after such a signal.
    static func answer<Answer>(
        to request: APIRequest<Answer>,
        _ home: HomeOptions,
        _ node: NodeOptions? = nil,
        onNetwork: Bool,
        onUpdate: @escaping @Sendable (NodeUpdate) async throws -> Void = { _ in }
    ) async throws -> Answer {
        let body: @Sendable () async throws -> Answer = {
            try await Session.with(home, node, onNetwork: onNetwork) { session in
                try await session.send(request, onUpdate: onUpdate)
            }
        }
        guard onNetwork, try !isNodeRunning(in: home.place()) else { return try await body() }
        guard let answer = try await Interruption.run(body) else { throw CancellationError() }
        return answer
    }

    /// Asks, and returns the answer.
    ///
    /// A running node refuses an operation that requires the passphrase of its vault before it does anything; then the
    /// request is sent again with the passphrase.
    ///
    /// - Throws: ``CommandFailure``.
    func send<Answer>(
        _ request: APIRequest<Answer>,
        onUpdate: @escaping @Sendable (NodeUpdate) async throws -> Void = { _ in }
    ) async throws -> Answer {
        switch way {
        case .api(let api): return try await api.perform(request, onUpdate: onUpdate)
        case .socket(let client, let passphrase):
            do {
                return try await client.perform(request, onUpdate: onUpdate)
            } catch let failure as CommandFailure where failure.code == CommandFailure.passphraseNeeded {
                return try await passphrase.opening { secret in
                    try await client.perform(request.confirmed(with: secret), onUpdate: onUpdate)
                }
            }
        }
    }
}
