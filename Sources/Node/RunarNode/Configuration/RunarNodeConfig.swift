public import CoreMetrics
internal import Essentials
public import Identity
public import Logging
public import Platform
public import Tracing

/// The configuration of a ``RunarNode``: fill one in and make a node with it, which copies it.
///
/// ``keychainConfig``, ``homePath`` or ``keyStorage`` selects the storage of the keys, and thereby the device identity:
/// ``nodeId`` is a label only.
public final class RunarNodeConfig {
    /// The label that this device's person gave it; it identifies nothing, so two devices may have the same one.
    public let nodeId: String
    /// The network of services, requests and events that name none: a network's id as text, or its name.
    ///
    /// A name of no known network is limited to this device until such a network is created or joined. An empty text is the
    /// one network that this device is a member of, if it is the only one. A name that contains a colon, which ends the
    /// network in a path, is accepted here; a path must use the network's id instead.
    public let defaultNetworkId: String
    /// Further networks, by id or name; if empty, this node participates in every network that it is a member of, otherwise
    /// only in these and the default one.
    public var networkIds: [String] = []
    /// The default time limit of a request, in milliseconds.
    public var requestTimeoutMs: UInt64 = 30_000
    /// The minimum level of logged messages; topics and addresses appear only at debug.
    public var logLevel: RunarLogLevel {
        get { RunarLogLevel(loggerLevel) }
        set { loggerLevel = newValue.loggerLevel }
    }
    /// Discovery and the number of peers; nil for the standard, and for ``discoveryGroups``.
    public var networkConfig: RunarNetworkConfig?
    /// The location and the protection of the keys.
    public var keychainConfig: RunarKeychainConfig?

    // MARK: Beyond the document

    /// The value of ``logLevel`` in the finer steps of swift-log.
    public var loggerLevel: Logger.Level = .info
    /// The collector of the node's metrics (``RunarMetric``); nil is the collector of the process, if it has one.
    public var metricsFactory: (any MetricsFactory)?
    /// The tracer of requests from device to device; nil is the tracer of the process, if it has one.
    public var tracer: (any Tracer)?
    /// The levels of subsystems that shall log more or less than the others.
    public var logLevels: [LogSubsystem: Logger.Level] = [:]
    /// The key storage that replaces the one of ``keychainConfig``: the Keychain, a vault file, or memory.
    public var keyStorage: (any KeyStorage)?
    /// The directory for everything of this device, made for its user alone if it is missing; nil for the system's place.
    ///
    /// It contains a vault with the keys, as does the system's place on a system without a Keychain, such as Linux. A key
    /// file next to the vault opens it and is made with it: a reader of the disk has the keys. Set ``homeSecret`` to protect
    /// them by a passphrase.
    public var homePath: String?
    /// The passphrase or key file that opens the vault in ``homePath``; nil for a key file next to the vault.
    ///
    /// The first start creates the vault with it, and the key file if it does not exist.
    public var homeSecret: VaultSecret?
    /// The SQLite file for everything but keys; nil keeps it in memory when ``keyStorage`` is set, and otherwise in the
    /// home.
    public var statePath: String?
    /// The local addresses to listen on; port 0 lets the system choose one port for all.
    public var listenAddresses: [SocketAddress] = RunarNodeConfig.anyAddress
    /// The largest message, request or answer, in bytes; send larger content as files.
    public var messageByteLimit = 1 << 20
    /// The messages that wait for one slow listener; beyond that senders get ``NodeError/receiverBusy(_:)``.
    ///
    /// They are 64 MiB at most, or 64 of the largest.
    public var listenerCapacity = 1024
    /// The time limit for a peer to admit this device or to confirm a message; see ``requestTimeoutMs`` for services.
    public var peerTimeout = Duration.seconds(15)
    /// The multicast groups for discovery on the local network; nil to disable it.
    ///
    /// ``networkConfig`` takes precedence.
    public var discoveryGroups: MulticastGroups? = .standard
    /// The time between two beacons on the local network, give or take a fifth; from a second to a day.
    public var discoveryInterval = Duration.seconds(10)
    /// The STUN servers that ``NATTraversal/getPublicEndpoint()`` queries in this order, four at most.
    ///
    /// Each is a `host`, a `host:port` or an address. No server gets a datagram before an app calls that.
    public var stunServers: [String] = []
    /// Whether this device participates in its networks' hash tables; one that does not stores nothing for others, finds
    /// nothing there, and keeps no connections for it.
    public var usesHashTable = true
    /// The default policy of requests to the hash table.
    public var dhtPolicy = DHTPolicy()
    /// The time for which values read from the hash table answer further reads.
    public var cacheAge = Duration.seconds(300)
    /// The time for which the latest events of each member are kept for late subscribers; above zero, at most a day.
    public var eventWindow = Duration.seconds(1800)
    /// Whether this device requests a new access token after two thirds of the old one's lifetime.
    public var renewsTokens = true
    /// Whether this device, where it owns a network, gives members new tokens on request.
    public var grantsRenewals = true

    /// Creates a configuration without a key storage, which must be set before use.
    public init(nodeId: String, defaultNetworkId: String) {
        self.nodeId = nodeId
        self.defaultNetworkId = defaultNetworkId
    }

    /// Creates a configuration over a storage for keys and a database.
    public convenience init(
        keyStorage: any KeyStorage,
        statePath: String?,
        listenAddresses: [SocketAddress] = RunarNodeConfig.anyAddress
    ) {
        self.init(nodeId: "runar-node", defaultNetworkId: "")
        self.keyStorage = keyStorage
        self.statePath = statePath
        self.listenAddresses = listenAddresses
    }

    /// Every address of this machine, at a port that the system chooses.
    public static let anyAddress = [
        SocketAddress(.v4(0), port: 0), SocketAddress(.v6(high: 0, low: 0, scope: 0), port: 0),
    ]

    /// The default time limit of a request.
    public var requestTimeout: Duration {
        get { .milliseconds(Int64(clamping: requestTimeoutMs)) }
        set { requestTimeoutMs = UInt64(max(0, min(newValue / .milliseconds(1), 0x1p53))) }
    }
}

extension RunarNodeConfig {
    /// A configuration for tests: nothing outlives the process, and only this machine can connect.
    public static func createTestConfig() -> RunarNodeConfig {
        let config = RunarNodeConfig(
            nodeId: "test-node-\(identifier().prefix(8))",
            defaultNetworkId: "test-network"
        )
        config.keychainConfig = .testConfig()
        config.keyStorage = InMemoryKeyStorage()
        config.listenAddresses = [SocketAddress(.v4(0x7F00_0001), port: 0)]
        config.discoveryGroups = nil
        return config
    }

    /// A text that no other device has, for labels.
    static func identifier() -> String { UUID().uuidString }
}

/// The mobile specification's name for it.
public typealias NodeConfig = RunarNodeConfig
