internal import ArgumentParser
internal import CommandKit
internal import CommandModel
internal import Concurrency
internal import Foundation
internal import Identity
internal import NodeModel
internal import NodeService
internal import Platform
internal import RunarNode

/// Publishes an event.
struct Publish: NetworkCommand {
    static let configuration = CommandConfiguration(
        commandName: "publish",
        abstract: "Publish an event to a topic, for every member of the network that subscribed to it.",
        discussion: """
            `runar publish home/door open`; without a text, or with -, the event is what standard input has. Events of \
            one device arrive in the order in which it published them. Other members keep them for half an hour, for \
            those who come back.
            """
    )

    @Argument(help: "The topic, as in home/door.")
    var topic: String
    @Argument(help: "The event, at most 262144 bytes, in quotation marks; - is standard input.")
    var text: String?
    @Option(help: "The network; not needed if there is one only.")
    var network: String?
    @OptionGroup var home: HomeOptions
    @OptionGroup var node: NodeOptions

    func validate() throws {
        guard text != nil || !Posix.isTerminal(0) else {
            throw ValidationError("Give a topic and an event in quotation marks: `runar publish TOPIC \"TEXT\"`.")
        }
    }

    func request() throws -> APIRequest<PublishedReport> {
        let topic = try TopicArgument(topic, network: network)
        guard !topic.path.isPattern else {
            throw CommandFailure(
                "bad-topic",
                .usage,
                "\"\(topic.path.path)\" matches many topics: publish the event to one, without *, > and {}"
            )
        }
        let event = Joined(TopicForm(topic.path.path), ContentForm(try content()))
        return Operations.publish(topic.network, event)
    }

    private func content() throws -> [UInt8] {
        guard let text, text != "-" else {
            let advice = "send it with `runar send PEER --file PATH`, and publish where it is"
            return try InputText.bytes("-", limit: RunarNode.eventByteLimit, otherwise: advice)
        }
        return Array(text.utf8)
    }
}

/// Prints the events of a topic.
struct Subscribe: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "subscribe",
        abstract: "Print the events of a topic as they come, until interrupted; with --json an object on each line.",
        discussion: """
            In the topic `*` matches one segment and a trailing `>` one or more, as in `runar subscribe 'home/>'`. \
            Every event after the first line is printed; those that were lost because this reader was slow, or because \
            no member keeps them, are counted.
            """
    )

    @Argument(help: "The topic, or a pattern in quotation marks.")
    var topic: String
    @Flag(help: "Begin with the events of the last half hour that members still keep.")
    var includePast = false
    @Option(help: ArgumentHelp("End after this many events.", valueName: "count"))
    var count: Int?
    @Option(help: "The network; not needed if there is one only.")
    var network: String?
    @OptionGroup var home: HomeOptions
    @OptionGroup var node: NodeOptions

    func validate() throws {
        if let count, count < 1 { throw ValidationError("--count is 1 or more.") }
    }

    func run() async throws {
        let topic = try TopicArgument(topic, network: network)
        let request = Operations.subscribe(
            topic.network,
            SubscriptionForm(topic: topic.path.path, past: includePast)
        )
        let asJSON = home.output.json
        let left = Locked(count)
        let (ends, continuation) = AsyncStream.makeStream(of: Void.self)
        _ = try await Interruption.run {
            try await Session.with(home, node, onNetwork: true, isServing: true) { session in
                try await withThrowingTaskGroup(of: Void.self) { group in
                    group.addTask {
                        _ = try await session.send(request) { update in
                            // One that is too many may be on its way when the last one is shown.
                            guard left.withLock({ $0 != 0 }) else { return }
                            try Self.show(update, asJSON: asJSON)
                            guard case .published = update else { return }
                            let isLast = left.withLock { left in
                                left = left.map { $0 - 1 }
                                return left == 0
                            }
                            if isLast { continuation.finish() }
                        }
                    }
                    group.addTask { for await _ in ends {} }
                    try await group.next()
                    group.cancelAll()
                }
            }
        }
    }

    private static func show(_ update: NodeUpdate, asJSON: Bool) throws {
        switch update {
        case .subscribed(let report):
            if asJSON { try Output.json(report) } else { for line in report.lines { Output.note(line) } }
        case .published(let report):
            guard !asJSON else { return try Output.json(report) }
            for remark in report.remarks { Output.note(remark) }
            try Output.line(report.line)
        case .event(let report): if asJSON { try Output.json(report) } else { Output.note(report.line) }
        default: break
        }
    }
}
