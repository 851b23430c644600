internal import CommandModel
internal import Concurrency
package import CryptoPrimitives
internal import GatewayStore
internal import Identity
package import Logging
internal import Platform
package import Tunnel
internal import WireGuard

/// The tunnel of a gateway: interface, engine, translation of addresses, and the peers of the leases.
///
/// The engine runs in a process of its own. One that ends is started again with all peers, while the interface remains. It
/// begins handshakes with the clients of which an endpoint was seen when the traffic was read, every 5 seconds.
package final class GatewayTunnel: TunnelControl {
    /// The name of the interface.
    package static let interface = "runar-exit"
    /// The name of the engine's configuration socket in the data directory.
    static let engineSocketName = "engine.sock"

    private let supervisor: TunnelSupervisor
    private let engine: any TunnelEngine
    private let rules: GatewayRules
    private let device: UAPIConfiguration
    private let peers = Locked(GatewayPeers())
    /// Held while the peers are changed at the supervisor, so that its configuration is the latest one.
    private let turn = AsyncMutex()
    private let clocks = Clocks.system()
    private let started: Promise<Void>

    /// Creates the interface and the sockets, which needs the rights of root; the engine is `program`.
    ///
    /// - Throws: ``CommandFailure``, ``TunnelError``, ``DataDirectoryError``, ``FileError``.
    package init(
        _ configuration: GatewayConfiguration,
        directory path: String,
        program: EngineProgram,
        logger: Logger
    ) throws {
        guard let uplink = configuration.uplink else {
            throw CommandFailure(
                "bad-setting",
                .configuration,
                "--uplink is missing: name the interface to the internet, such as eth0"
            )
        }
        if let interfaces = NetworkInterface.all(), !interfaces.contains(where: { $0.name == uplink }) {
            throw CommandFailure(
                "bad-setting",
                .configuration,
                "there is no interface \(uplink): give --uplink the one that leads to the internet (`ip route` shows it)"
            )
        }
        let directory = try DataDirectory(at: path)
        let socketPath = try GatewayControl.path(of: Self.engineSocketName, in: directory)
        let port = configuration.endpoints.first?.port ?? 0
        let resources = try TunnelResources(
            TunnelPlan(network: Self.network(configuration), queues: 1, port: port)
        )
        engine = UAPIEngine(
            program: program,
            interface: resources.device.name,
            queues: resources.queues,
            sockets: resources.socketDescriptors,
            // The standard path would be common to the gateways of all network namespaces.
            path: socketPath
        )
        var device = UAPIConfiguration()
        device.privateKey = .replace(try GatewayKeys(in: directory).tunnel)
        device.listenPort = resources.port
        self.device = device
        let started = Promise<Void>()
        self.started = started
        supervisor = TunnelSupervisor(resources: resources, engine: engine, configuration: device) { report in
            switch report {
            case .started: started.fulfil(())
            case .failed(let reason): logger.error("the engine does not start", metadata: ["reason": "\(reason)"])
            case .ended: logger.error("the engine ended, and is started again")
            }
        }
        rules = try GatewayRules(
            tunnel: resources.device.name,
            uplink: uplink,
            pools: Self.pools(configuration.network),
            resolvers: configuration.network.addresses(.gateway),
            redemptionPort: configuration.port
        )
    }

    /// Runs `body` while the engine runs; removes the interface and the rules afterwards.
    ///
    /// - Throws: ``TunnelError`` if the rules cannot be loaded; errors of `body`.
    package func run(while body: @escaping @Sendable () async throws -> Void) async throws {
        try await PacketFilter.load(rules)
        let outcome: Result<Void, any Error>
        do {
            try await withThrowingTaskGroup { group in
                group.addTask { await self.supervisor.run() }
                group.addTask {
                    try await self.started.wait()
                    try await body()
                }
                defer { group.cancelAll() }
                try await group.next()
            }
            outcome = .success(())
        } catch {
            outcome = .failure(error)
        }
        try await PacketFilter.remove()
        try outcome.get()
    }

    package func set(_ peers: [TunnelPeer]) async throws {
        try await apply(peers.map(UAPIPeers.change))
    }

    package func remove(_ keys: [X25519PublicKey]) async throws {
        try await apply(keys.map(UAPIPeers.removal))
    }

    package func traffic() async throws -> [PeerTraffic] {
        let status = try await engine.status()
        try await turn.withLock {
            guard peers.withLock({ $0.record(status, at: clocks.wallSeconds()) }) else { return }
            // The running engine has the endpoints.
            try await supervisor.update(UAPIConfiguration(), whole: whole)
        }
        return UAPIPeers.traffic(of: status)
    }

    /// Applies changes to the engine, and records them for an engine that is started later.
    private func apply(_ changes: [UAPIConfiguration.PeerChange]) async throws {
        try await turn.withLock {
            var change = UAPIConfiguration()
            change.peers = changes
            peers.withLock { $0.apply(changes) }
            try await supervisor.update(change, whole: whole)
        }
    }

    /// The configuration of a new engine.
    private var whole: UAPIConfiguration {
        var whole = device
        whole.peers = peers.withLock { $0.all }
        return whole
    }

    private static func network(_ configuration: GatewayConfiguration) -> TunnelNetwork {
        let network = configuration.network
        let addresses = [
            InterfaceAddress(network.ipv4(.gateway), prefixLength: LeaseNetwork.ipv4PrefixLength),
            InterfaceAddress(network.ipv6(.gateway), prefixLength: LeaseNetwork.ipv6PrefixLength),
        ]
        return TunnelNetwork(
            interface: interface,
            mtu: Int(GatewayConfiguration.mtu),
            addresses: addresses.compactMap { $0 },
            // The addresses bring their routes.
            routing: .only([])
        )
    }

    private static func pools(_ network: LeaseNetwork) -> [AddressPrefix] {
        [
            AddressPrefix(network.ipv4(.gateway), length: LeaseNetwork.ipv4PrefixLength),
            AddressPrefix(network.ipv6(.gateway), length: LeaseNetwork.ipv6PrefixLength),
        ]
        .compactMap { $0 }
    }
}
