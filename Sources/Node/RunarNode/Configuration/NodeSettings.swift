internal import CoreMetrics
package import Identity
internal import Logging
package import Platform
internal import Tracing

/// The configuration that a node keeps: checked, and independent of later changes.
package struct NodeSettings: Sendable {
    /// The longest time between two beacons, and the longest for which events are kept; more is taken for a mistake.
    private static let longestPause = Duration.seconds(86_400)

    let nodeId: String
    let defaultNetworkId: String
    let networkIds: [String]
    let requestTimeout: Duration
    let loggerLevel: Logger.Level
    let metricsFactory: any MetricsFactory
    let tracer: (any Tracer)?
    let logLevels: [LogSubsystem: Logger.Level]
    let network: NetworkSettings
    let guarding: KeyGuarding
    package let keyStorage: PrefetchedKeys
    let statePath: String?
    /// Held as long as the node lives where the keys are in a directory of their own.
    let homeLock: FileLock?
    package internal(set) var listenAddresses: [SocketAddress]
    let messageByteLimit: Int
    let listenerCapacity: Int
    let peerTimeout: Duration
    package let discoveryGroups: MulticastGroups?
    let discoveryInterval: Duration
    let stunServers: [String]
    let usesHashTable: Bool
    let dhtPolicy: DHTPolicy
    let cacheAge: Duration
    let eventWindow: Duration
    let renewsTokens: Bool
    let grantsRenewals: Bool

    /// - Throws: ``RunarError`` when something in it cannot be; ``KeychainError`` when the keys cannot be opened.
    init(_ config: RunarNodeConfig) throws {
        nodeId = config.nodeId
        defaultNetworkId = config.defaultNetworkId
        networkIds = config.networkIds
        guard config.requestTimeoutMs > 0 else {
            throw RunarError.failure(.invalidParameters, message: "requestTimeoutMs must be above 0")
        }
        requestTimeout = config.requestTimeout
        loggerLevel = config.loggerLevel
        metricsFactory = config.metricsFactory ?? MetricsSystem.factory
        tracer = config.tracer
        logLevels = config.logLevels
        let network = try NetworkSettings(config)
        self.network = network
        guarding = KeyGuarding(config.keychainConfig)
        let stores = try NodeStores.open(config)
        keyStorage = PrefetchedKeys(config.keychainConfig == nil ? stores.keys : GuardedKeys(stores.keys, guarding))
        statePath = stores.statePath
        homeLock = stores.lock
        let listenAddresses = config.listenAddresses.filter { network.allowsIPv6 || !$0.isIPv6 }
        guard !listenAddresses.isEmpty else {
            throw RunarError.failure(
                .invalidParameters,
                message: "listenAddresses has no address to listen on, or IPv6 alone while enableIPv6 is off"
            )
        }
        self.listenAddresses = listenAddresses
        messageByteLimit = config.messageByteLimit
        listenerCapacity = config.listenerCapacity
        peerTimeout = config.peerTimeout
        discoveryGroups = network.discoveryGroups
        guard config.discoveryInterval <= Self.longestPause else {
            throw RunarError.failure(.invalidParameters, message: "discoveryInterval must be at most a day")
        }
        discoveryInterval = config.discoveryInterval
        guard config.stunServers.count <= STUNPlace.limit else {
            throw RunarError.failure(
                .invalidParameters,
                message: "stunServers has \(config.stunServers.count) servers: name \(STUNPlace.limit) at most"
            )
        }
        stunServers = config.stunServers
        usesHashTable = config.usesHashTable
        dhtPolicy = config.dhtPolicy
        cacheAge = config.cacheAge
        guard config.eventWindow > .zero, config.eventWindow <= Self.longestPause else {
            throw RunarError.failure(.invalidParameters, message: "eventWindow must be above 0 and at most a day")
        }
        eventWindow = config.eventWindow
        renewsTokens = config.renewsTokens
        grantsRenewals = config.grantsRenewals
    }
}

/// The values that a node keeps of its ``RunarNetworkConfig``.
package struct NetworkSettings: Sendable {
    let discoveryGroups: MulticastGroups?
    /// The most connected peers; nil for the default of the protocol.
    let maxPeers: Int?
    let allowsIPv6: Bool
    let usesWiFiOnly: Bool
    let discoversOverCellular: Bool
    let interface: String?

    init(_ config: RunarNodeConfig) throws(RunarError) {
        guard let network = config.networkConfig else {
            discoveryGroups = config.discoveryGroups
            maxPeers = nil
            (allowsIPv6, usesWiFiOnly, discoversOverCellular) = (true, false, true)
            interface = nil
            return
        }
        guard network.maxPeers > 0 else {
            throw .failure(.invalidParameters, message: "maxPeers must be above 0")
        }
        discoveryGroups = network.enableDiscovery ? try Self.groups(network) : nil
        maxPeers = network.maxPeers
        allowsIPv6 = network.enableIPv6
        usesWiFiOnly = network.useWiFiOnly
        discoversOverCellular = network.allowCellularDiscovery
        interface = network.bindToInterface
    }

    private static func groups(_ network: RunarNetworkConfig) throws(RunarError) -> MulticastGroups {
        guard let ipv4 = SocketAddress("\(network.multicastGroup):\(network.discoveryPort)"),
            let standard = MulticastGroups.standard(port: network.discoveryPort),
            let groups = MulticastGroups(ipv4: ipv4, ipv6: network.enableIPv6 ? standard.ipv6 : nil)
        else {
            throw .failure(
                .invalidParameters,
                message: "\(network.multicastGroup) port \(network.discoveryPort) is no IPv4 multicast group with a"
                    + " port: write one like 239.255.42.98 and 4242"
            )
        }
        return groups
    }
}
