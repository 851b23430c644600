internal import Console
internal import Foundation
internal import Identity
internal import Platform
internal import RunarNode

/// Answers what the console's pages and other programs ask of a running node.
///
/// Reports are those that commands print with `--json`; `openapi.json` among the pages describes them all.
struct NodeAPI: Sendable {
    /// Where everything is.
    static let prefix = "/api/v1"
    /// How often a stream in which nothing happens says that it lives.
    private static let alivePause = Duration.seconds(5)

    let handler: RequestHandler
    let watch: NodeWatch
    /// One check of a passphrase at a time: each takes 128 MiB.
    let desk = PassphraseDesk()

    var node: RunarNode { handler.node }

    /// Everything that can be asked.
    var routes: [ConsoleRoute] {
        nodeRoutes + networkRoutes + peerRoutes + dataRoutes + keyRoutes + codeRoutes + lanRoutes
    }

    /// A route whose answer is the report that `answer` makes.
    func route(
        _ method: ConsoleRoute.Method,
        _ path: String,
        body: ConsoleRoute.Body = .none,
        status: Int = 200,
        _ answer: @escaping @Sendable (ConsoleRequest) async throws -> any Encodable
    ) -> ConsoleRoute {
        ConsoleRoute(method, Self.prefix + path, body: body) { request in
            do {
                return .json(JSONText.bytes(try await answer(request)), status: status)
            } catch {
                return .failure(ConsoleFailure(error))
            }
        }
    }

    /// A route that makes its answer itself.
    func special(
        _ method: ConsoleRoute.Method,
        _ path: String,
        body: ConsoleRoute.Body = .none,
        _ answer: @escaping @Sendable (ConsoleRequest) async throws -> ConsoleAnswer
    ) -> ConsoleRoute {
        ConsoleRoute(method, Self.prefix + path, body: body) { request in
            do {
                return try await answer(request)
            } catch {
                return .failure(ConsoleFailure(error))
            }
        }
    }

    /// A route that asks the node what a command would ask.
    func command(
        _ method: ConsoleRoute.Method,
        _ path: String,
        body: ConsoleRoute.Body = .none,
        status: Int = 200,
        _ command: @escaping @Sendable (ConsoleRequest) throws -> ControlRequest
    ) -> ConsoleRoute {
        special(method, path, body: body) { request in
            .json(try await perform(try command(request)), status: status)
        }
    }

    /// A route that tells what happens while the node does what a command would ask, a line each.
    func course(
        _ method: ConsoleRoute.Method,
        _ path: String,
        body: ConsoleRoute.Body = .none,
        _ command: @escaping @Sendable (ConsoleRequest) throws -> ControlRequest
    ) -> ConsoleRoute {
        special(method, path, body: body) { request in
            let question = try command(request)
            return lines { reply in await handler.answer(question, reply) }
        }
    }

    /// The JSON of the one report that a request ends with.
    ///
    /// - Throws: ``CommandFailure``.
    func perform(_ request: ControlRequest) async throws -> [UInt8] {
        let (ends, continuation) = AsyncStream.makeStream(of: ControlReply.self)
        await handler.answer(request) { continuation.yield($0) }
        continuation.finish()
        for await end in ends {
            switch end {
            case .result(let json): return Array(json.utf8)
            case .failure(let failure): throw failure
            case .update: continue
            }
        }
        throw CancellationError()
    }

    /// Replies as lines, until they end or nobody reads them any more.
    func lines(_ body: @escaping @Sendable (@escaping RequestHandler.Reply) async -> Void) -> ConsoleAnswer {
        .lines { lines in
            await withTaskGroup(of: Void.self) { group in
                group.addTask { await body { reply in await lines.write(CourseLine.bytes(reply)) } }
                group.addTask {
                    while (try? await Task.sleep(for: Self.alivePause)) != nil {  // nil: it has ended
                        guard await lines.write(CourseLine.alive) else { return }
                    }
                }
                await group.next()
                group.cancelAll()
            }
        }
    }
}

/// A line of an answer that tells what happens.
enum CourseLine {
    private struct Word: Encodable {
        let event: String
    }

    private struct Transferred: Encodable {
        var event = "transferred"
        let count: UInt64
        let total: UInt64
    }

    /// An invitation with what its QR code carries.
    private struct Invited: Encodable {
        let report: InvitationReport

        private enum CodingKeys: String, CodingKey {
            case code
        }

        func encode(to encoder: any Encoder) throws {
            try report.encode(to: encoder)
            var container = encoder.container(keyedBy: CodingKeys.self)
            try container.encode(report.qrString, forKey: .code)
        }
    }

    private struct Failed: Encodable {
        struct Content: Encodable {
            let code: String
            let message: String
            let context: [String: String]
        }

        var event = "failed"
        let error: Content
    }

    static let alive = JSONText.bytes(Word(event: "alive"))

    static func bytes(_ reply: ControlReply) -> [UInt8] {
        switch reply {
        case .result(let json): Array("{\"event\":\"done\",\"result\":\(json)}".utf8)
        case .failure(let failure):
            JSONText.bytes(
                Failed(error: Failed.Content(code: failure.code, message: failure.message, context: [:]))
            )
        case .update(let update): bytes(update)
        }
    }

    private static func bytes(_ update: ControlUpdate) -> [UInt8] {
        switch update {
        case .listening(let report): JSONText.bytes(report)
        case .message(let report): JSONText.bytes(report)
        case .fileOffered(let report): JSONText.bytes(report)
        case .fileArrived(let report): JSONText.bytes(report)
        case .transferred(let count, let total): JSONText.bytes(Transferred(count: count, total: total))
        case .event(let report): JSONText.bytes(report)
        case .subscribed(let report): JSONText.bytes(report)
        case .published(let report): JSONText.bytes(report)
        case .serving(let report): JSONText.bytes(report)
        case .called(let report): JSONText.bytes(report)
        case .callEnded: JSONText.bytes(Word(event: "callEnded"))
        case .invited(let report): JSONText.bytes(Invited(report: report))
        case .joinRequested(let report): JSONText.bytes(report)
        case .joinPending(let report): JSONText.bytes(report)
        case .pairing(let report): JSONText.bytes(report)
        // It holds a secret, and whoever asks here is in already.
        case .consoleLink: JSONText.bytes(Word(event: "consoleLink"))
        }
    }
}
