internal import Identity
internal import Locking

#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

/// A service on a node.
final class HostedService: Sendable {
    /// How it stands.
    struct Status: Sendable {
        /// `initialized` may become `running`, `error` or `stopped`; `running` may become `paused` and `stopped`.
        var state = RunarServiceState.initialized
        var startedAt: Date?
        /// Its subscriptions, as long as it is on the node.
        var subscriptions: [Subscription] = []
    }

    let service: RunarService
    /// The network that it names, by id or name.
    let network: String
    /// Whether the node itself brought it.
    let isInternal: Bool
    let registeredAt: Date
    let status = Locked(Status())

    init(_ service: RunarService, network: String, isInternal: Bool = false) {
        self.service = service
        self.network = network
        self.isInternal = isInternal
        self.registeredAt = Date()
    }

    var state: RunarServiceState { self.status.withLock { $0.state } }

    /// Whether others can ask for it.
    var isPublic: Bool { !self.isInternal }

    /// What it says about itself.
    func info(in network: NetworkKey) -> RunarServiceInfo {
        let (state, startedAt) = self.status.withLock { ($0.state, $0.startedAt) }
        return RunarServiceInfo(
            networkId: network.text,
            servicePath: self.service.path,
            name: self.service.name,
            version: self.service.version,
            description: self.service.description,
            state: state,
            actions: self.service.table.withLock { table in table.actions.map(RunarActionInfo.init) },
            registeredAt: self.registeredAt,
            startedAt: startedAt
        )
    }
}

extension RunarActionInfo {
    init(_ action: any ServiceAction) {
        self.init(
            name: action.name,
            description: action.options.description,
            input: action.options.input,
            output: action.options.output,
            isIdempotent: action.options.isIdempotent,
            isStreaming: false
        )
    }
}
