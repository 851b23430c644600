internal import Circle
package import CommandModel
internal import Concurrency
internal import Foundation
package import Identity
internal import Logging
internal import Node
package import Platform
package import RunarNode
internal import SealedMessages

/// Performs requests on the one node of a home.
///
/// The process that holds the home's lock has one: a running node, or a command for its own duration.
package final class RequestHandler: Sendable {
    /// Receives updates before a request is done.
    package typealias Tell = @Sendable (NodeUpdate) async -> Void

    package let node: RunarNode
    package let keys: any KeyStorage
    package let home: DataDirectory
    let settings: Settings
    /// The state of the web console, if this node has one.
    package let consoleStatus: (any ConsoleStatus)?
    package let files: FileOffers
    /// Connects to the identity server of the settings; nil in a program without one.
    let identityConnection: IdentityConnection.Maker?
    /// The registration in progress.
    let accountProgress = AccountProgress()
    package let joins = PendingRequests<JoinAnswer>(asker: "the joiner")
    package let calls = PendingRequests<CallAnswer>(asker: "the caller")
    /// The messages that listeners have not confirmed.
    package let deliveries = PendingRequests<Void>(asker: "the listener")
    /// The one-time keys, once something needed them.
    private let keyStoreManager = Locked<KeyStoreManager?>(nil)
    /// The inner circle, once something needed it.
    private let circleManager = Locked<CircleManager?>(nil)
    /// Ends the node that serves others; nil in a command that is about to end anyway.
    private let stop: (@Sendable () -> Void)?
    /// The monotonic time at which this handler was made.
    let started: Duration
    /// The record of recent activity; nil without a console.
    package let watch: NodeWatch?

    /// The time by the clock of the node.
    package var now: NodeTime { node.clock.now() }

    /// Whether the node exists for one command only.
    var isPassing: Bool { stop == nil }

    package init(
        node: RunarNode,
        keys: any KeyStorage,
        home: DataDirectory,
        settings: Settings,
        console: (any ConsoleStatus)? = nil,
        watch: NodeWatch? = nil,
        identity: IdentityConnection.Maker? = nil,
        stop: (@Sendable () -> Void)? = nil
    ) {
        self.node = node
        started = node.clock.now().monotonic
        self.watch = watch
        self.keys = keys
        self.home = home
        files = FileOffers(directories: ReceivingDirectories(home: home))
        self.settings = settings
        consoleStatus = console
        identityConnection = identity
        self.stop = stop
    }

    /// Starts the node and puts this handler in charge of the files that peers offer.
    package func startNode() async throws {
        if let watch { _ = files.add(watch.files.listener) }
        openKeyStores()
        openCircle()
        try await node.start()
        node.receiveFiles(files.receiver(standing: settings.text(.acceptFiles)))
    }

    /// The one-time keys of this device, which answer peers from now on.
    func keyStores() throws -> KeyStoreManager {
        try keyStoreManager.withLock { manager in
            if let manager { return manager }
            let made = try KeyStoreManager(node: node)
            watch?.follow(made)
            manager = made
            return made
        }
    }

    /// Opens the one-time keys, so that peers can exchange keys and send sealed messages; if they are damaged, the node runs
    /// without.
    func openKeyStores() {
        do {
            _ = try keyStores()
        } catch {
            node.logs[.storage].error("one-time keys cannot be used: \(error)")
        }
    }

    /// The circle of this device's person, which takes mail from now on.
    func circle() throws -> CircleManager {
        let keys = try keyStores()
        return try circleManager.withLock { manager in
            if let manager { return manager }
            let made = try CircleManager(node: node, keys: keys)
            watch?.follow(made)
            manager = made
            return made
        }
    }

    /// Opens the circle, so that people can ask for trust and send thoughts; if it is damaged, the node runs without.
    func openCircle() {
        do {
            _ = try circle()
        } catch {
            node.logs[.storage].error("the circle cannot be used: \(error)")
        }
    }

    /// Ends the circle, and returns once nothing is written any longer; the next use begins it again.
    package func endCircle() async {
        let former = circleManager.withLock { manager in
            defer { manager = nil }
            return manager
        }
        await former?.end()
    }

    /// Ends the use of the one-time keys, and returns once nothing is written any longer; the next use begins it again.
    func endKeyStores() async {
        let former = keyStoreManager.withLock { manager in
            defer { manager = nil }
            return manager
        }
        await former?.end()
    }

    /// The answer to a stop of the node, and the stop itself.
    ///
    /// - Throws: ``CommandFailure`` for a node that exists for one command only.
    package func stopNode() throws(CommandFailure) -> (report: StopReport, stop: @Sendable () -> Void) {
        guard let stop else { throw Self.passingNode }
        return (StopReport(stopped: true, processId: SystemProcess.id), stop)
    }

    /// A node that lives as long as a command is ended with it.
    private static var passingNode: CommandFailure {
        CommandFailure(
            "passing-node",
            .tryAgain,
            "process \(SystemProcess.id) is a command that runs a node until it is done: end it with Control-C or kill"
        )
    }
}
