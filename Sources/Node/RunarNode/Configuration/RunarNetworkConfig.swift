/// The discovery, the peer limit and the network interfaces of a node.
///
/// All fields exist on every system. The documentation of a field states if only some systems use it.
public final class RunarNetworkConfig {
    /// Whether members are looked for on the local network.
    public var enableDiscovery = true
    /// The IPv4 group in which they are looked for.
    public var multicastGroup = "239.255.42.98"
    /// The UDP port of the group.
    public var discoveryPort: UInt16 = 4242
    /// The most peers connected concurrently.
    ///
    /// A further peer is refused and notified of the reason. Surplus idle connections are closed earlier.
    public var maxPeers = 100

    /// Whether only Wi-Fi is used: the node listens on the addresses that Wi-Fi interfaces have when it starts.
    public var useWiFiOnly = false
    /// Whether members are also looked for over cellular interfaces.
    public var allowCellularDiscovery = true
    /// The one network interface to use, such as "en0"; the node listens on the addresses that it has at the start.
    public var bindToInterface: String?
    /// Whether IPv6 is used in addition to IPv4.
    public var enableIPv6 = true

    /// The standard.
    public init() {}

    /// The standard.
    public static func defaultConfig() -> RunarNetworkConfig { RunarNetworkConfig() }
}
