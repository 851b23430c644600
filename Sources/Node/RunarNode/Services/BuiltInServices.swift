internal import Concurrency
internal import Essentials
internal import Identity
internal import Node
internal import Services

/// The services of the node itself: `$registry` lists the services, `$dht` clears cached records.
enum BuiltInServices {
    /// Makes `$registry`: the services of this device, and those that connected devices offer.
    static func makeRegistry() -> RunarService {
        let registry = RunarService(
            name: "Registry",
            path: "$registry",
            version: "1",
            description: "The services and their states"
        )
        registry.registerAction(
            "services/list",
            options: ActionOptions(description: "All services of the network", output: "a list of services")
        ) { (_: RunarValue?, context: RunarContext) -> [RunarServiceInfo] in
            context.node.serviceInfos(in: context.network)
        }
        registry.registerAction(
            "services/{service}",
            options: ActionOptions(description: "One service", output: "a service, or null")
        ) { (_: RunarValue?, context: RunarContext) -> RunarServiceInfo? in
            context.node.serviceInfos(in: context.network).first { $0.servicePath == context.parameters["service"] }
        }
        registry.registerAction(
            "services/{service}/state",
            options: ActionOptions(description: "The state of a service", output: "a state, or \"unknown\"")
        ) { (_: RunarValue?, context: RunarContext) -> RunarServiceState in
            let name = context.parameters["service"]
            let infos = context.node.serviceInfos(in: context.network)
            return infos.first { $0.servicePath == name }?.state ?? .unknown
        }
        registry.registerAction(
            "services/{service}/pause",
            options: ActionOptions(description: "Pauses a service", output: "its state")
        ) { (_: RunarValue?, context: RunarContext) -> RunarServiceState in
            try await Self.change(from: .running, to: .paused, context)
        }
        registry.registerAction(
            "services/{service}/resume",
            options: ActionOptions(description: "Resumes a paused service", output: "its state")
        ) { (_: RunarValue?, context: RunarContext) -> RunarServiceState in
            try await Self.change(from: .paused, to: .running, context)
        }
        return registry
    }

    /// `$dht`: the cache of values read from and written to the hash table of the request's network.
    static func makeTableService() -> RunarService {
        let service = RunarService(
            name: "Hash table",
            path: "$dht",
            version: "1",
            description: "The device's cache of the network's hash table"
        )
        let actions = HostedService.cacheActions(
            clear: { context in
                let network = try Self.ownNetwork(context)
                context.node.clearCache(networkId: network)
            },
            delete: { key, context in
                let network = try Self.ownNetwork(context)
                context.node.deleteCache(networkId: network, key: Data(key.utf8))
            },
            revoke: { pattern, context in
                let network = try Self.ownNetwork(context)
                return context.node.revokeCache(networkId: network, pattern: pattern)
            }
        )
        for action in actions { service.register(action) }
        return service
    }

    // MARK: - Actions

    /// The service of this device that the path of a call names.
    private static func service(of context: RunarContext) throws -> HostedService? {
        let name = context.parameters["service"] ?? ""
        if let builtIn = context.node.services.builtIn.first(where: { $0.service.path == name }) { return builtIn }
        return context.node.services.located.first { $0.network == context.network && $0.hosted.service.path == name }?
            .hosted
    }

    private static func change(
        from: RunarServiceState,
        to state: RunarServiceState,
        _ context: RunarContext
    ) async throws -> RunarServiceState {
        try Self.checkOwn(context)
        let name = context.parameters["service"] ?? ""
        guard let hosted = try Self.service(of: context), !name.hasPrefix("$") else {
            throw RunarError.failure(.noService, message: "Service not found", context: name)
        }
        @Sendable func check() throws {
            let found = hosted.state
            guard found != from else { return }
            throw RunarError.failure(
                .serviceNotRunning,
                message: "Service is not \(from.title) - it is in \(found.title) state",
                context: name
            )
        }
        // Before it has the mutex, too, which takes long while the service starts.
        try check()
        return try await hosted.withExclusiveAccess {
            try check()
            context.node.set(state, of: hosted)
            return state
        }
    }

    private static func ownNetwork(_ context: RunarContext) throws -> NetworkId {
        try Self.checkOwn(context)
        guard let network = context.networkId else { throw RunarError.invalidParameters }
        return network
    }

    /// Refuses callers on other devices: services and memory are the device's own business.
    private static func checkOwn(_ context: RunarContext) throws(RunarError) {
        guard context.peer == nil else {
            throw .failure(.refused, message: "only the device itself may do that", context: context.path)
        }
    }
}

extension RunarServiceInfo {
    /// A service that only others have.
    init(_ offer: ServiceOffer, in network: NetworkKey, providers: [PeerId]) {
        self.init(
            networkId: network.text,
            servicePath: offer.path,
            name: offer.path,
            version: offer.version,
            description: "",
            state: offer.isRunning ? .running : .paused,
            actions: offer.actions.map { action in
                RunarActionInfo(
                    name: action.name,
                    description: "",
                    input: "",
                    output: "",
                    isIdempotent: action.isIdempotent,
                    isStreaming: action.streams
                )
            },
            registeredAt: nil,
            startedAt: nil,
            providers: providers
        )
    }
}
