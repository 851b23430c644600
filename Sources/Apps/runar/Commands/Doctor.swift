internal import ArgumentParser
internal import CommandKit
internal import CommandModel
internal import Identity
internal import NodeModel
internal import NodeService
internal import Platform
internal import RunarNode

/// Diagnoses the connectivity of this device.
struct Doctor: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "doctor",
        abstract: "Find out why devices do not connect, without asking a server, and suggest what to do.",
        discussion: """
            Looks at interfaces, multicast, the clock, memberships, the node and its NAT, and with PEER at the last \
            attempt to reach that peer. Needs no passphrase; it asks a running node for its state.
            """
    )

    @Argument(help: "A peer that this device should reach.")
    var peer: String?
    @OptionGroup var home: HomeOptions

    func run() async throws {
        let diagnosis = Diagnosis(DoctorFacts(node: try await nodeFacts(), askedPeer: peer))
        try Output.report(DoctorReport(diagnosis), asJSON: home.output.json)
        guard diagnosis.isHealthy else { throw ExitCode(ExitStatus.unavailable.rawValue) }
    }

    /// Returns the facts of the running node, or those of its home without the keys; nil without a home.
    private func nodeFacts() async throws -> NodeFacts? {
        let place = try home.place()
        if let client = NodeClient(home: place) {
            return try await client.perform(Operations.doctorFacts(PeerQuery(peer.map { PeerName($0) })))
        }
        guard try NodeDirectory.isMade(at: place) else { return nil }
        return try NodeFacts(idle: place, settings: home.settings())
    }
}
