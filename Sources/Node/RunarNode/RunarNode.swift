@_exported public import Bytes
internal import Concurrency
internal import Database
@_exported public import Identity
@_exported public import Kademlia
internal import Logging
@_exported public import Node
internal import NodeStore
@_exported public import Platform
package import Transport

/// A device in its owner's private networks: it keeps the keys and memberships, connects to other members and
/// exchanges messages with them.
///
/// Nothing is on the network before ``start()``. Names, networks and tokens can be managed on a node that was never
/// started; listeners and subscriptions outlive a ``stop()``.
///
/// ```swift
/// let node = try RunarNode(config: config)
/// try await node.start()
/// try await node.joinNetwork(networkId: metadata.networkId, accessToken: token)
/// try await node.sendToPeer("hello", peerId: friend)
/// ```
public final class RunarNode: Sendable {
    /// Makes the endpoint of a node from its key.
    package typealias EndpointFactory = @Sendable (Ed25519PrivateKey, NodeSettings) async throws -> any Endpoint

    /// Opens the local network for an endpoint, or returns nil when there is none.
    package typealias LinkFactory = @Sendable (any Endpoint, NodeSettings) throws -> (any DiscoveryLink)?

    /// This device's identity: the SHA-256 of its public key.
    public var peerId: PeerId { device.withLock { $0 } }

    /// The id behind ``peerId``; ``renewDevice()`` changes it.
    let device: Locked<PeerId>

    let config: NodeSettings
    let store: NodeStore
    package let logs: NodeLogs
    package let clock: NodeClock
    let phases = NodePhases()
    let settings: AppSettings
    let tables: TableMemory
    let broadcasts: NodeBroadcasts
    /// The subscriptions to events.
    let router: EventRouter
    /// The services of this device, and the meaning of network names on it.
    let services: ServiceHost
    let factories: LinkFactories
    let mailService: MailService
    /// The host of the exchanges of one-time keys; nil if the app has none.
    let keyExchangeHost = Locked<(any KeyExchangeHost)?>(nil)

    /// Opens the stores of a node over another transport: the in-memory one in tests.
    ///
    /// `outgoingMailLimit` bounds the mails of one network that wait for their delivery; nil is the default of the protocol.
    package init(
        config: RunarNodeConfig,
        clock: NodeClock = .system(),
        outgoingMailLimit: Int? = nil,
        localNetwork makeLink: @escaping LinkFactory = { _, _ in nil },
        addressWatch makeAddressWatch: @escaping LinkFactory = { _, _ in nil },
        transport makeEndpoint: @escaping EndpointFactory
    ) throws {
        let config = try NodeSettings(config)
        self.config = config
        let names = NetworkNames(default: config.defaultNetworkId)
        services = ServiceHost(names)
        router = EventRouter(names)
        self.clock = clock
        factories = LinkFactories(makeEndpoint: makeEndpoint, makeLink: makeLink, makeAddressWatch: makeAddressWatch)
        settings = AppSettings(isDiscovering: config.discoveryGroups != nil)
        tables = TableMemory(maximumAge: config.cacheAge)
        broadcasts = NodeBroadcasts(capacity: config.listenerCapacity, messageByteLimit: config.messageByteLimit)
        logs = NodeLogs(Self.logger(of: config), levels: config.logLevels)
        store = try config.statePath.map { try NodeStore(path: $0) } ?? NodeStore()
        if let migration = store.database.migration {
            logs[.storage].notice(
                "state of version \(migration.found) was brought to \(NodeStore.format.version); a copy is in \(migration.copy)"
            )
        }
        mailService = MailService(store: store, outgoingLimit: outgoingMailLimit)
        device = Locked(try Self.peerId(of: config))
        addBuiltInServices()
        networksChanged()
    }

    deinit {
        phases.cancel()
        broadcasts.finish()
        router.finish()
        mailService.close()
    }
}
