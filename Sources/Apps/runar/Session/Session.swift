internal import Platform
internal import RunarNode

/// The way of a command to the node of a home: over the control socket, or in this very process.
struct Session: Sendable {
    private enum Way: Sendable {
        case socket(home: String)
        case handler(RequestHandler)
    }

    private let way: Way

    /// Whether a node was running before this command.
    var isRemote: Bool {
        if case .socket = way { return true }
        return false
    }

    /// Finds the running node of a home, or opens the home and, if `onNetwork`, starts a node until `body` returns.
    ///
    /// A node that may be there for long serves other commands meanwhile, if `isServing`.
    static func with<Result>(
        _ home: HomeOptions,
        _ node: NodeOptions? = nil,
        onNetwork: Bool = false,
        isServing: Bool = false,
        _ body: (Session) async throws -> Result
    ) async throws -> Result {
        let place = try home.place()
        if isNodeRunning(in: place) {
            let ignored = (node?.flagsOfNode ?? []).map(\.flag).sorted().joined(separator: ", ")
            if !ignored.isEmpty { Output.note("note: the running node keeps its own settings, not \(ignored)") }
            return try await body(Session(way: .socket(home: place)))
        }
        let settings = try home.settings(node)
        let nodeHome = try await NodeHome.open(place, settings: settings)
        defer { withExtendedLifetime(nodeHome) {} }
        let node = try nodeHome.makeNode(settings: settings)
        let handler = RequestHandler(node: node, keys: nodeHome.keys, home: nodeHome.directory, settings: settings)
        guard onNetwork else { return try await body(Session(way: .handler(handler))) }
        Output.note("no node runs in \(place): starting one for this command")
        try await handler.startNode()
        do {
            let server = isServing ? try ControlServer(home: nodeHome, handler: handler) : nil
            async let _: Void? = server?.run()
            let result = try await body(Session(way: .handler(handler)))
            await node.stop()
            return result
        } catch {
            await node.stop()
            throw error
        }
    }

    /// Whether somebody answers on the control socket.
    static func isNodeRunning(in place: String) -> Bool { ControlClient(home: place) != nil }

    /// Asks, and returns the report.
    ///
    /// - Throws: ``CommandFailure``.
    func ask<R: Report>(
        _ request: ControlRequest,
        for type: R.Type = R.self,
        onUpdate: @escaping @Sendable (ControlUpdate) async -> Void = { _ in }
    ) async throws -> R {
        let json: [UInt8]
        switch way {
        case .socket(let home):
            guard let client = ControlClient(home: home) else {
                throw CommandFailure("node-gone", .unavailable, "the running node has just stopped: try again")
            }
            json = try await client.perform(request, onUpdate: onUpdate)
        case .handler(let handler):
            await handler.waitForCompany(of: request)
            json = try await Self.perform(request, by: handler, onUpdate: onUpdate)
        }
        do {
            return try JSONText.decode(R.self, from: json)
        } catch {
            throw CommandFailure(
                "unknown-reply",
                .software,
                "the running node answers what this command does not know: stop it and start it with this version"
            )
        }
    }

    private static func perform(
        _ request: ControlRequest,
        by handler: RequestHandler,
        onUpdate: @escaping @Sendable (ControlUpdate) async -> Void
    ) async throws -> [UInt8] {
        let (ends, continuation) = AsyncStream.makeStream(of: ControlReply.self)
        await handler.answer(request) { reply in
            if case .update(let update) = reply { await onUpdate(update) } else { continuation.yield(reply) }
        }
        continuation.finish()
        for await end in ends {
            switch end {
            case .result(let json): return Array(json.utf8)
            case .failure(let failure): throw failure
            case .update: continue
            }
        }
        throw CommandFailure("cancelled", .tryAgain, "the command was cancelled before it was done")
    }
}
