internal import Concurrency
public import Identity
internal import Logging
internal import Node

/// A member that was found without its address being typed.
public struct DiscoveredPeer: Hashable, Sendable {
    /// The means by which a member was found.
    public enum Source: String, Hashable, Sendable, CaseIterable {
        /// Its announcements arrive on the local network.
        case localNetwork
        /// Members published its record in the network's hash table, and it answered.
        case hashTable
    }

    /// The id of the member.
    public let peerId: PeerId
    /// In which network.
    public let networkId: NetworkId
    /// The addresses at which it can be dialled, the most promising first.
    public let addresses: [SocketAddress]
    /// The means by which it was found.
    public let sources: Set<Source>
}

/// Finds members on the local network, by beacons that only members of the same network can read.
///
/// A node runs discovery by itself unless ``RunarNodeConfig/discoveryGroups`` is nil; this type starts and stops it at run
/// time and lists the discovered members.
public struct DiscoveryService: Sendable {
    let node: RunarNode

    /// Looks for members from now on, whenever the node runs.
    ///
    /// - Throws: ``NodeError/noLocalNetwork(_:)`` when the node runs and the local network could not be opened.
    public func start() throws {
        try node.setDiscovering()
    }

    /// Announces to the local network that the node leaves, and stops announcing there.
    public func stop() async {
        await node.unsetDiscovering()
    }

    /// Looks for the members of a network, of which this device becomes one with `token`.
    ///
    /// - Throws: ``NodeError/badToken(_:)`` with the reason; then nothing was stored.
    public func addNetwork(networkId: NetworkId, token: AccessToken) throws {
        try node.addNetworkToken(networkId: networkId, token: token)
    }

    /// The members that currently announce themselves on the local network, ascending.
    public func getDiscoveredPeers(for networkId: NetworkId) -> [DiscoveredPeer] {
        guard let driver = try? node.running() else { return [] }  // a stopped node discovers no peers
        return driver.heardPeers(in: networkId).map { peer, addresses in
            DiscoveredPeer(peerId: peer, networkId: networkId, addresses: addresses, sources: [.localNetwork])
        }
    }

    /// Whether members are looked for at this moment.
    public var isRunning: Bool { (try? node.running().isDiscovering) ?? false }  // not while the node is stopped

    /// The names of the network interfaces on which members are looked for at this moment.
    public var interfaces: [String] { (try? node.running().discoveryInterfaces) ?? [] }  // the same

    /// The names of the network interfaces on which members are not looked for because there are more than 32, the least
    /// likely ones: bridges, and pairs of containers.
    public var leftOutInterfaces: [String] { (try? node.running().leftOutInterfaces) ?? [] }  // the same
}
