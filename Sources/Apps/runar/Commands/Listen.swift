internal import ArgumentParser
internal import Foundation
internal import Identity
internal import NodeService
internal import Platform

/// Prints what arrives.
struct Listen: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Print messages as they arrive, until interrupted; with --json an object on each line.",
        discussion: """
            On a terminal you are asked about offered files; elsewhere they are declined unless --accept-files names a \
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
        let request = APIRequest.listen(listening)
        let (arrivals, continuation) = AsyncStream.makeStream(of: Void.self)
        let asJSON = home.output.json
        _ = try await Interruption.run {
            try await Session.with(home, node, onNetwork: true, isServing: true) { session in
                try await withThrowingTaskGroup(of: Void.self) { group in
                    group.addTask {
                        _ = try await session.send(request) { update in
                            try await Self.show(update, asJSON: asJSON, session)
                            if update.isArrival { continuation.yield() }
                        }
                    }
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

    private static func show(_ update: NodeUpdate, asJSON: Bool, _ session: Session) async throws {
        switch update {
        case .listening(let report):
            if asJSON { try Output.json(report) } else { Output.note(report.line) }
        case .message(let report, let delivery):
            if asJSON { try Output.json(report) } else { try Output.line(report.line) }
            _ = try await session.send(.confirmDelivery(delivery))
        case .fileArrived(let report): if asJSON { try Output.json(report) } else { try Output.line(report.line) }
        case .fileFailed(let report): if asJSON { try Output.json(report) } else { try Output.line(report.line) }
        case .event(let report): if asJSON { try Output.json(report) } else { try Output.line(report.line) }
        case .fileOffered(let offer): await answer(offer, session)
        default: break
        }
    }

    /// Asks the person.
    private static func answer(_ offer: FileOfferReport, _ session: Session) async {
        let size = ByteCountText.text(of: Double(offer.bytes))
        let directory = FileManager.default.currentDirectoryPath
        do {
            let isAccepted = try await Prompt.accepts(
                "\(PeerId.typed(offer.peerId)) offers \(offer.name) (\(size)). Save it in \(directory)?",
                otherwise: ""
            )
            _ = try await session.send(.answerOffer(offer.number, directory: isAccepted ? directory : nil))
        } catch {
            let failure = CommandFailure(error)
            // An interruption ends the whole command.
            if failure.code != "cancelled" { Output.note("error: \(failure.message)") }
        }
    }
}

extension NodeUpdate {
    /// Whether a message or a file has come.
    var isArrival: Bool {
        switch self {
        case .message, .fileArrived: true
        default: false
        }
    }
}
