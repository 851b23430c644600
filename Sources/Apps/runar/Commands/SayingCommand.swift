internal import CommandKit
internal import NodeModel
internal import NodeService

/// A command that adds a thought to a conversation.
///
/// A person is shown the first step of the delivery if it follows within a second; a program gets the report at once.
protocol SayingCommand: ReportingCommand where Answer == ThoughtReport {
    var conversation: String { get }
}

extension SayingCommand {
    func run() async throws {
        let (request, name) = (try await request(), ConversationName(conversation))
        // Without a running node nothing is delivered.
        let waits = try !home.output.json && Session.isNodeRunning(in: home.place())
        let report = try await Session.with(home) { session in
            let thought = try await session.send(request)
            return waits ? try await session.firstStep(of: thought, in: name) : thought
        }
        try show(report)
    }
}
