internal import ArgumentParser
internal import CommandModel
internal import Foundation
internal import NodeModel
internal import NodeService

/// A conversation on the terminal.
struct Chat: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "chat",
        abstract: "Open the conversation with a person or a stream on this terminal.",
        discussion: """
            Return sends, Alt-Return begins another line, the arrows and Page Up scroll, Control-F searches, and \
            Control-C ends. `/send PATH` sends an image, audio or video. Without a running node one is started until the end.
            """
    )

    /// The thoughts that are loaded per request.
    private static let page = 100

    @OptionGroup var conversation: ConversationOptions
    @OptionGroup var node: NodeOptions

    func run() async throws {
        guard ChatTerminal.isPossible else {
            throw CommandFailure(
                "no-terminal",
                .usage,
                "a chat needs a terminal: programs use `runar circle say` and `runar circle follow`"
            )
        }
        let name = conversation.name
        try await Session.with(conversation.home, node, onNetwork: true, isServing: true) { session in
            let report = try await session.send(Operations.thoughts(name, ThoughtsQuery(limit: Self.page)))
            try await ChatTerminal.run(ChatScreen(report, columns: 80, lines: 24)) { effect in
                try await Self.perform(effect, in: name, session)
            } following: { tell in
                _ = try await session.send(Operations.followThoughts(name)) { update in
                    switch update {
                    case .circle(let report): tell(.circle(report))
                    case .thought(let thought): tell(.thought(thought))
                    default: break
                    }
                }
            }
        }
    }

    /// Performs an effect, and returns its results for the screen.
    private static func perform(
        _ effect: ChatScreen.Effect,
        in name: ConversationName,
        _ session: Session
    ) async throws -> [ChatScreen.Input] {
        switch effect {
        case .send(let text): return await send(text, session) { Operations.sendThought(name, ThoughtForm(text)) }
        case .sendFile(let path):
            return await send(ChatCommand.sendPrefix + path, session) {
                Operations.sendThought(name, ThoughtForm(try Attachment(file: path)))
            }
        case .loadOlder(let number):
            let query = ThoughtsQuery(before: number, limit: page)
            return [.older(try await session.send(Operations.thoughts(name, query)).thoughts)]
        case .search(let text):
            return [.found(try await session.thoughts(in: name, limit: 1_000, search: text).thoughts)]
        case .noteOpened(let first, let last):
            _ = try await session.send(Operations.noteOpened(name, OpenedForm(first: first, last: last)))
            return []
        case .end: return []
        }
    }

    /// Sends a thought; `line` returns to the screen if that fails.
    private static func send(
        _ line: String,
        _ session: Session,
        _ request: () throws -> APIRequest<ThoughtReport>
    ) async -> [ChatScreen.Input] {
        do {
            let thought = try await session.send(try request())
            let circle = try? await session.send(Operations.circle())  // nil: the keys come later
            return [.said(thought)] + (circle.map { [.circle($0)] } ?? [])
        } catch {
            return [.notSent(line, why: CommandFailure(error).message)]
        }
    }
}
