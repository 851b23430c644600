internal import ArgumentParser
internal import CommandKit
internal import CommandModel
internal import Foundation
internal import Logging
internal import NodeModel
internal import NodeService
internal import Platform

/// Runs the node.
struct Up: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "up",
        abstract: "Run the node: connect to the members of your networks and serve other commands.",
        discussion: """
            Ends with Control-C, SIGTERM, SIGHUP or `runar stop`, after the work in progress with peers or ten seconds; a \
            second signal ends it at once. Prints which peers connect and disconnect; with --json an object on each \
            line, the first with "event":"ready". Under systemd it reports readiness and notifies the watchdog.
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
        let nodeDirectory = try await NodeDirectory.open(place, settings: settings, waiting: !isRunning)
        Leftovers().remove(from: nodeDirectory.directory, accepting: settings.text(.acceptFiles))
        let console = try NodeConsole(settings: settings, home: nodeDirectory.directory)
        let (stops, stop) = AsyncStream.makeStream(of: Void.self)
        if let logs = console?.logs { LoggingSystem.bootstrap { RingLogHandler(label: $0, ring: logs) } }
        let node = try nodeDirectory.makeNode(settings: settings, metrics: console?.tap)
        let watch = console.map {
            NodeWatch(node: node, tap: $0.tap, logs: $0.logs, home: nodeDirectory.directory, settings: settings)
        }
        let handler = RequestHandler(
            node: node,
            keys: nodeDirectory.keys,
            home: nodeDirectory.directory,
            settings: settings,
            console: console,
            watch: watch,
            identity: IdentityConnection.overHTTP,
            stop: { stop.yield() }
        )
        let run = NodeRun(
            handler: handler,
            socket: try NodeSocket(handler, console: console),
            console: console,
            manager: ServiceManager(),
            asJSON: home.output.json
        )
        if endWithInput {
            let thread = Thread {
                // The input ends with the process that started this node.
                while !Posix.read(0, atMost: 256).isEmpty {}
                stop.yield()
            }
            thread.start()
        }
        try await run.run(stops: stops, stop: stop)
        withExtendedLifetime(nodeDirectory) {}
    }
}
