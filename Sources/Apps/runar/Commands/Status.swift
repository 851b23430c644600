internal import ArgumentParser
internal import CommandKit
internal import CommandModel
internal import Identity
internal import NodeModel
internal import NodeService
internal import Platform

/// Shows whether a node runs.
struct Status: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "status",
        abstract: "Show whether the node runs, its identity and the settings in effect."
    )

    @Flag(help: "Show this device's peer id as a QR code, for the device that issues a token to scan.")
    var qr = false
    @OptionGroup var home: HomeOptions
    @OptionGroup var node: NodeOptions

    func run() async throws {
        let report = try await report()
        guard qr, !home.output.json else { return try Output.report(report, asJSON: home.output.json) }
        guard let peer = report.peerId else {
            throw CommandFailure("no-peer-id", .data, "the peer id is not known yet: start the node with `runar up`")
        }
        try TerminalCode.show(peer)
    }

    private func report() async throws -> StatusReport {
        let place = try home.place()
        guard let client = NodeClient(home: place) else { return try idle(place) }
        return try await client.perform(Operations.status())
    }

    /// Without a node there is no need for the keys.
    private func idle(_ place: String) throws -> StatusReport {
        let directory = try NodeDirectory.existing(place)
        let peer = NodeDirectory.lastPeerId(in: directory.path)
        return StatusReport(idle: directory, peer: peer, configuration: try home.settings(node).reports)
    }
}

/// Ends the running node.
struct Stop: AsyncParsableCommand {
    static let configuration = CommandConfiguration(commandName: "stop", abstract: "Stop the running node.")

    /// The time that a node has for its shutdown.
    private static let patience = Duration.seconds(15)

    @OptionGroup var home: HomeOptions

    func run() async throws {
        let place = try home.place()
        guard let client = NodeClient(home: place) else {
            _ = try NodeDirectory.existing(place)
            return try Output.report(StopReport(stopped: false, processId: nil), asJSON: home.output.json)
        }
        let report = try await client.perform(Operations.stop())
        try await Self.waitUntilFree(place)
        try Output.report(report, asJSON: home.output.json)
    }

    /// Waits until the node has released the home, so that the next command finds it free.
    private static func waitUntilFree(_ place: String) async throws {
        let directory = try DataDirectory(at: place)
        let deadline = ContinuousClock.now + patience
        while true {
            do throws(DataDirectoryError) {
                _ = try directory.lockForNode()
                return
            } catch {
                guard case .inUse(_, let process) = error else { throw error }
                guard ContinuousClock.now < deadline else {
                    throw CommandFailure(
                        "still-running",
                        .tryAgain,
                        "the node (process \(process ?? 0)) has not ended yet: try again, or end that process"
                    )
                }
                try await Task.sleep(for: .milliseconds(10))
            }
        }
    }
}
