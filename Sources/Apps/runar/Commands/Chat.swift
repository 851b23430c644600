internal import ArgumentParser
internal import Foundation
internal import NodeService

/// A conversation on the terminal.
struct Chat: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Open the conversation with a person on this terminal.",
        discussion: """
            Return sends, Alt-Return begins another line, the arrows and Page Up scroll, Control-F searches, and \
            Control-C ends. Without a running node one is started until the end.
            """
    )

    /// The thoughts that are loaded at a time.
    private static let page = 100

    @OptionGroup var person: PersonOptions
    @OptionGroup var node: NodeOptions

    func run() async throws {
        guard ChatTerminal.isPossible else {
            throw CommandFailure(
                "no-terminal",
                .usage,
                "a chat needs a terminal: programs use `runar circle say` and `runar circle follow`"
            )
        }
        let name = person.name
        try await Session.with(person.home, node, onNetwork: true, isServing: true) { session in
            let report = try await session.ask(.thoughts(with: name, limit: Self.page))
            try await ChatTerminal.run(ChatScreen(report, columns: 80, lines: 24)) { effect in
                try await Self.perform(effect, with: name, session)
            } following: { tell in
                _ = try await session.ask(.follow(name)) { update in
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
        with name: PersonName,
        _ session: Session
    ) async throws -> [ChatScreen.Input] {
        switch effect {
        case .send(let text):
            do {
                let thought = try await session.ask(.say(text, to: name))
                return [.said(thought), .circle(try await session.ask(.circle))]
            } catch {
                return [.notSent(text, why: CommandFailure(error).message)]
            }
        case .loadOlder(let number):
            return [.older(try await session.ask(.thoughts(with: name, before: number, limit: page)).thoughts)]
        case .search(let text):
            return [.found(try await session.ask(.thoughts(with: name, limit: 1_000, search: text)).thoughts)]
        case .noteOpened(let first, let last):
            _ = try await session.ask(.noteOpened(name, from: first, to: last))
            return []
        case .end: return []
        }
    }
}
