internal import ArgumentParser
internal import CommandKit
internal import CommandModel
internal import Platform
internal import Tunnel

/// The data plane of a tunnel, which the owner of the interface starts with inherited descriptors.
///
/// It needs no privileges, and becomes a user without any when root starts it. It ends by SIGTERM, or when its
/// supervisor does.
struct TunnelEngineCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "tunnel-engine",
        abstract: "Carry the packets of a tunnel; started by the process that owns the interface.",
        shouldDisplay: false
    )

    func run() throws {
        guard let resources = EngineResources(environment: SystemProcess.environment) else {
            throw CommandFailure(
                "usage",
                .usage,
                "this command gets its descriptors from the process that owns the tunnel; use `runar vpn connect`"
            )
        }
        let engine = try WireGuardEngine(queues: resources.queues, sockets: resources.sockets)
        if SystemUser.current.id == 0 { try SystemProcess.dropPrivileges(to: .unprivileged) }
        // Keys of sessions are in memory only.
        Posix.keepMemoryPrivate()
        try engine.run(control: resources.control, supervisor: resources.supervisor)
    }
}
