public import Identity
public import Logging
public import Platform

/// How a ``RunarNode`` is set up.
public struct RunarNodeConfig: Sendable {
    /// Where the keys are: the Keychain, a vault file, or memory.
    public var keyStorage: any KeyStorage
    /// The SQLite file for everything but keys; nil keeps it in memory.
    public var statePath: String?
    /// The local addresses to listen on; port 0 lets the system choose one port for all.
    public var listenAddresses: [SocketAddress]
    /// What is logged; topics and addresses only at debug.
    public var logLevel: Logger.Level = .notice
    /// The largest message, in bytes; larger things go as files.
    public var messageByteLimit = 1 << 20
    /// Messages and events that wait for one slow listener before senders are told that it is busy.
    public var listenerCapacity = 1024
    /// How long to wait for a peer's answer.
    public var requestTimeout = Duration.seconds(15)
    /// Where other members are looked for on the local network; nil to keep silent there.
    public var discoveryGroups: MulticastGroups? = .standard
    /// The time between two beacons on the local network, give or take a fifth; at least a second.
    public var discoveryInterval = Duration.seconds(10)
    /// Whether this device takes part in its networks' hash tables; one that does not stores nothing for others, finds
    /// nothing there, and keeps no connections for it.
    public var usesHashTable = true
    /// How requests to the hash table are tried, unless a call says otherwise.
    public var dhtPolicy = DHTPolicy()
    /// How long what was read from the hash table answers further reads.
    public var cacheAge = Duration.seconds(300)
    /// Whether this device asks for a new access token when two thirds of the old one's life are over.
    public var renewsTokens = true
    /// Whether this device, where it owns a network, gives members new tokens when they ask.
    public var grantsRenewals = true

    /// Creates a configuration that listens on every address of this machine.
    public init(
        keyStorage: any KeyStorage,
        statePath: String?,
        listenAddresses: [SocketAddress] = [
            SocketAddress(.v4(0), port: 0), SocketAddress(.v6(high: 0, low: 0, scope: 0), port: 0),
        ]
    ) {
        self.keyStorage = keyStorage
        self.statePath = statePath
        self.listenAddresses = listenAddresses
    }

    /// A configuration for tests: nothing outlives the process, and only this machine can connect.
    public static func createTestConfig() -> RunarNodeConfig {
        var config = RunarNodeConfig(
            keyStorage: InMemoryKeyStorage(),
            statePath: nil,
            listenAddresses: [SocketAddress(.v4(0x7F00_0001), port: 0)]
        )
        config.discoveryGroups = nil
        return config
    }
}

/// The mobile specification's name for it.
public typealias NodeConfig = RunarNodeConfig
