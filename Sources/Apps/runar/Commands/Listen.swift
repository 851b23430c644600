internal import ArgumentParser
internal import CommandKit
internal import CommandModel
internal import Foundation
internal import Identity
internal import NodeModel
internal import NodeService
internal import Platform

/// Prints messages and files as they arrive.
struct Listen: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "listen",
        abstract: "Print messages as they arrive, until interrupted; with --json an object on each line.",
        discussion: """
            On a terminal you are asked about offered files; elsewhere they are refused unless --accept-files names a \
            directory for them.
            """
    )

    @Flag(help: "Also print which peers connect, disconnect, are refused or revoked.")
    var events = false
    @Option(help: ArgumentHelp("End after this many messages and files.", valueName: "count"))
    var count: Int?
    @OptionGroup var home: HomeOptions
    @OptionGroup var node: NodeOptions

    func validate() throws {
        if let count, count < 1 { throw ValidationError("--count is 1 or more.") }
    }

    func run() async throws {
        var listening = ListenForm()
        listening.events = events
        listening.acceptFiles = try home.settings(node).text(.acceptFiles)
        listening.asksAboutFiles = listening.acceptFiles == nil && Posix.isTerminal(0) && Prompt.isPossible
        let request = Operations.listen(listening)
        let (arrivals, continuation) = AsyncStream.makeStream(of: Void.self)
        let asJSON = home.output.json
        let offers = OfferDialogue()
        _ = try await Interruption.run {
            try await Session.with(home, node, onNetwork: true, isServing: true) { session in
                try await withThrowingTaskGroup(of: Void.self) { group in
                    group.addTask {
                        _ = try await session.send(request) { update in
                            try await Self.show(update, asJSON: asJSON, offers, session)
                            if update.isArrival { continuation.yield() }
                        }
                    }
                    group.addTask { await offers.run(session) }
                    if let count { group.addTask { await Self.wait(for: count, arrivals) } }
                    try await group.next()
                    group.cancelAll()
                }
            }
        }
    }

    private static func wait(for count: Int, _ arrivals: AsyncStream<Void>) async {
        var left = count
        for await _ in arrivals {
            left -= 1
            if left <= 0 { return }
        }
    }

    private static func show(
        _ update: NodeUpdate,
        asJSON: Bool,
        _ offers: OfferDialogue,
        _ session: Session
    ) async throws {
        func show(_ report: some Encodable, _ line: String) throws {
            try offers.aroundQuestion { if asJSON { try Output.json(report) } else { try Output.line(line) } }
        }
        switch update {
        case .listening(let report):
            if asJSON { try Output.json(report) } else { Output.note(report.line) }
        case .message(let report, let delivery):
            try show(report, report.line)
            _ = try await session.send(Operations.confirmDelivery(RequestNumber(delivery)))
        case .fileArrived(let report): try show(report, report.line)
        case .fileFailed(let report): try show(report, report.line)
        case .event(let report): try show(report, report.line)
        case .fileOffered(let offer): offers.ask(offer)
        case .offerEnded(let report): offers.end(report)
        default: break
        }
    }
}

extension NodeUpdate {
    /// Whether a message or a file has arrived.
    var isArrival: Bool {
        switch self {
        case .message, .fileArrived: true
        default: false
        }
    }
}
