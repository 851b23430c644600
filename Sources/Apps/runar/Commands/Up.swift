internal import ArgumentParser
internal import Foundation
internal import Locking
internal import Platform
internal import RunarNode

/// Runs the node.
struct Up: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Run the node: connect to the members of your networks and serve other commands.",
        discussion: """
            Ends with Control-C, SIGTERM or `runar stop`. Prints who comes and goes; with --json an object on each \
            line, the first with "event":"ready".
            """
    )

    @Flag(help: "Run in the background; returns once the node is ready. It logs to node.log in the home.")
    var detach = false
    @Flag(help: .hidden)
    var endWithInput = false
    @OptionGroup var home: HomeOptions
    @OptionGroup var node: NodeOptions

    func run() async throws {
        if detach { return try await BackgroundNode.start(home, node) }
        let place = try home.place()
        let settings = try home.settings(node)
        if let directory = settings.text(.acceptFiles) { try RequestHandler.checkDirectory(directory) }
        // The lock of a running node is not waited for: it may run for weeks.
        let isRunning = Session.isNodeRunning(in: place)
        let nodeHome = try await NodeHome.open(place, settings: settings, waiting: !isRunning)
        let asJSON = home.output.json
        let endsWithInput = endWithInput
        let (stops, stop) = AsyncStream.makeStream(of: Void.self)
        let handler = RequestHandler(
            node: try nodeHome.makeNode(settings: settings),
            keys: nodeHome.keys,
            home: nodeHome.directory,
            settings: settings,
            stop: { stop.yield() }
        )
        let events = handler.node.eventStream
        let server = try ControlServer(home: nodeHome, handler: handler)
        _ = try await Interruption.run {
            try await handler.startNode()
            Self.sayReady(handler, asJSON: asJSON)
            await withDiscardingTaskGroup { group in
                group.addTask { await server.run() }
                group.addTask {
                    for await event in events { Self.tell(EventReport(event), asJSON: asJSON) }
                }
                if endsWithInput {
                    group.addTask {
                        await Self.inputEnds()
                        stop.yield()
                    }
                }
                for await _ in stops { break }
                group.cancelAll()
            }
        }
        await handler.node.stop()
        withExtendedLifetime(nodeHome) {}
    }

    private static func sayReady(_ handler: RequestHandler, asJSON: Bool) {
        let report = ReadyReport(
            processId: SystemProcess.id,
            peerId: handler.node.peerId.base64Encoded,
            addresses: handler.node.listenAddresses.map(\.description)
        )
        if asJSON {
            Output.json(report)
        } else {
            Output.line("ready: peer \(handler.node.peerId.text)")
            Output.line("listens on \(report.addresses.joined(separator: ", "))")
        }
    }

    private static func tell(_ report: EventReport, asJSON: Bool) {
        if asJSON { Output.json(report) } else { Output.line(report.line) }
    }

    /// Returns when standard input ends: whoever started this node is gone.
    private static func inputEnds() async {
        let (ends, continuation) = AsyncStream.makeStream(of: Void.self)
        let thread = Thread {
            while !Posix.read(0, atMost: 256).isEmpty {}
            continuation.finish()
        }
        thread.start()
        for await _ in ends {}
    }
}

/// That a node serves from now on.
struct ReadyReport: Codable {
    var event = "ready"
    let processId: Int32
    let peerId: String
    let addresses: [String]
}
