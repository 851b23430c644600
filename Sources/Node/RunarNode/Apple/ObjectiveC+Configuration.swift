#if canImport(ObjectiveC)
public import Foundation

// How a node is set up, for Objective-C. Each class is a view of the configuration of Swift: what is set in the one is
// read in the other.

/// The configuration of a node, for Objective-C: the document's fields of ``RunarNode/RunarNodeConfig``.
@objc(RunarNodeConfig) public final class ObjectiveCConfig: NSObject {
    /// The configuration that a node is made with; in Swift its other fields can be set here.
    public let config: RunarNodeConfig

    /// A configuration with the document's defaults; where the keys are must still be said.
    @objc public convenience init(nodeId: String, defaultNetworkId: String) {
        self.init(RunarNodeConfig(nodeId: nodeId, defaultNetworkId: defaultNetworkId))
    }

    init(_ config: RunarNodeConfig) {
        self.config = config
    }

    /// For tests: nothing outlives the process, and only this machine can connect.
    @objc public static func createTestConfig() -> ObjectiveCConfig { ObjectiveCConfig(.createTestConfig()) }

    /// For an app's everyday use: keys in the Keychain, and `production` as the default network.
    @objc public static func createProductionConfig(appIdentifier: String) -> ObjectiveCConfig {
        ObjectiveCConfig(.createProductionConfig(appIdentifier: appIdentifier))
    }

    #if os(iOS)
    /// Returns the configuration for an app's everyday use, with keys that a group of apps shares.
    @objc public static func createProductionConfig(appIdentifier: String, accessGroup: String?) -> ObjectiveCConfig {
        ObjectiveCConfig(.createProductionConfig(appIdentifier: appIdentifier, accessGroup: accessGroup))
    }
    #endif

    /// The label that this device's person gave it.
    @objc public var nodeId: String { self.config.nodeId }

    /// The network of services, requests and events that name none, by id or name.
    @objc public var defaultNetworkId: String { self.config.defaultNetworkId }

    /// Further networks, by id or name.
    @objc public var networkIds: [String] {
        get { self.config.networkIds }
        set { self.config.networkIds = newValue }
    }

    /// The default time limit of a request, in milliseconds.
    @objc public var requestTimeoutMs: UInt64 {
        get { self.config.requestTimeoutMs }
        set { self.config.requestTimeoutMs = newValue }
    }

    /// The minimum level of logged messages; a number that is no level changes nothing.
    @objc public var logLevel: ObjectiveCLogLevel {
        get { ObjectiveCLogLevel(rawValue: self.config.logLevel.rawValue) ?? .info }
        set { if let level = RunarLogLevel(rawValue: newValue.rawValue) { self.config.logLevel = level } }
    }

    /// Discovery and the number of peers; nil for the standard.
    @objc public var networkConfig: ObjectiveCNetworkConfig? {
        get { self.config.networkConfig.map(ObjectiveCNetworkConfig.init) }
        set { self.config.networkConfig = newValue?.config }
    }

    /// The location and the protection of the keys.
    @objc public var keychainConfig: ObjectiveCKeychainConfig? {
        get { self.config.keychainConfig.map(ObjectiveCKeychainConfig.init) }
        set { self.config.keychainConfig = newValue?.config }
    }

    /// The directory for everything of this device; nil for the system's place.
    @objc public var homePath: String? {
        get { self.config.homePath }
        set { self.config.homePath = newValue }
    }
}

/// The discovery and the peer limit of a node, for Objective-C: ``RunarNode/RunarNetworkConfig``.
@objc(RunarNetworkConfig) public final class ObjectiveCNetworkConfig: NSObject {
    /// The configuration of Swift.
    public let config: RunarNetworkConfig

    /// The standard.
    @objc public convenience override init() {
        self.init(RunarNetworkConfig())
    }

    init(_ config: RunarNetworkConfig) {
        self.config = config
    }

    /// The standard.
    @objc public static func defaultConfig() -> ObjectiveCNetworkConfig { ObjectiveCNetworkConfig() }

    /// Whether members are looked for on the local network.
    @objc public var enableDiscovery: Bool {
        get { self.config.enableDiscovery }
        set { self.config.enableDiscovery = newValue }
    }

    /// The IPv4 group in which they are looked for.
    @objc public var multicastGroup: String {
        get { self.config.multicastGroup }
        set { self.config.multicastGroup = newValue }
    }

    /// The UDP port of the group.
    @objc public var discoveryPort: UInt16 {
        get { self.config.discoveryPort }
        set { self.config.discoveryPort = newValue }
    }

    /// The most peers connected concurrently.
    @objc public var maxPeers: Int {
        get { self.config.maxPeers }
        set { self.config.maxPeers = newValue }
    }

    /// Whether only Wi-Fi is used.
    @objc public var useWiFiOnly: Bool {
        get { self.config.useWiFiOnly }
        set { self.config.useWiFiOnly = newValue }
    }

    /// Whether members are also looked for over cellular interfaces.
    @objc public var allowCellularDiscovery: Bool {
        get { self.config.allowCellularDiscovery }
        set { self.config.allowCellularDiscovery = newValue }
    }

    /// The one network interface to use, such as "en0"; nil for all.
    @objc public var bindToInterface: String? {
        get { self.config.bindToInterface }
        set { self.config.bindToInterface = newValue }
    }

    /// Whether IPv6 is used beside IPv4.
    @objc public var enableIPv6: Bool {
        get { self.config.enableIPv6 }
        set { self.config.enableIPv6 = newValue }
    }
}

/// The location and the protection of a node's keys, for Objective-C: ``RunarNode/RunarKeychainConfig``.
@objc(RunarKeychainConfig) public final class ObjectiveCKeychainConfig: NSObject {
    /// The configuration of Swift.
    public let config: RunarKeychainConfig

    /// Keys of a service, readable while the device is unlocked.
    @objc public convenience init(serviceName: String) {
        self.init(RunarKeychainConfig(serviceName: serviceName))
    }

    init(_ config: RunarKeychainConfig) {
        self.config = config
    }

    /// For tests.
    @objc public static func testConfig() -> ObjectiveCKeychainConfig { ObjectiveCKeychainConfig(.testConfig()) }

    /// For an iPhone or iPad: a finger or a face, on this device alone.
    @objc public static func iOSConfig(serviceName: String, accessGroup: String?) -> ObjectiveCKeychainConfig {
        ObjectiveCKeychainConfig(.iOSConfig(serviceName: serviceName, accessGroup: accessGroup))
    }

    /// For a Mac: a finger, or the person's password.
    @objc public static func macOSConfig(serviceName: String) -> ObjectiveCKeychainConfig {
        ObjectiveCKeychainConfig(.macOSConfig(serviceName: serviceName))
    }

    /// The namespace that separates the keys of this app from others'; it names the device's identity.
    @objc public var serviceName: String { self.config.serviceName }

    /// The group of apps that share the keys.
    @objc public var accessGroup: String? {
        get { self.config.accessGroup }
        set { self.config.accessGroup = newValue }
    }

    /// Whether a person must show a finger or face before the keys can be read; where the system does not enforce it,
    /// starting the node fails with 2003.
    @objc public var requireBiometric: Bool {
        get { self.config.requireBiometric }
        set { self.config.requireBiometric = newValue }
    }

    /// Whether the keys can be read while the device is locked, so that the node can run in the background.
    @objc public var allowBackgroundAccess: Bool {
        get { self.config.allowBackgroundAccess }
        set { self.config.allowBackgroundAccess = newValue }
    }

    /// Whether stored keys are wrapped by a key of the Secure Enclave, where there is one.
    @objc public var useSecureEnclave: Bool {
        get { self.config.useSecureEnclave }
        set { self.config.useSecureEnclave = newValue }
    }

    /// In which state of the device the keys can be read; a number that is no state changes nothing.
    @objc public var accessibleWhen: ObjectiveCKeychainAccessible {
        get { ObjectiveCKeychainAccessible(rawValue: self.config.accessibleWhen.rawValue) ?? .whenUnlocked }
        set { if let state = KeychainAccessible(rawValue: newValue.rawValue) { self.config.accessibleWhen = state } }
    }

    /// Whether a finger is asked for before the keys are read, or what ``allowApplicationPassword`` lets pass instead.
    @objc public var useTouchID: Bool {
        get { self.config.useTouchID }
        set { self.config.useTouchID = newValue }
    }

    /// Whether the person's password, or the device's passcode, does in place of the finger of ``useTouchID``.
    @objc public var allowApplicationPassword: Bool {
        get { self.config.allowApplicationPassword }
        set { self.config.allowApplicationPassword = newValue }
    }
}

/// The minimum level of a node's log, for Objective-C: the numbers of ``RunarNode/RunarLogLevel``.
@objc(RunarLogLevel) public enum ObjectiveCLogLevel: Int, CaseIterable, Sendable {
    /// Every frame.
    case trace = 0
    /// Topics, addresses and decisions.
    case debug = 1
    /// Normal events of the node.
    case info = 2
    /// Possible problems.
    case warn = 3
    /// Failures.
    case error = 4
}

/// In which state of the device a key can be read, for Objective-C: the numbers of ``RunarNode/KeychainAccessible``.
@objc(KeychainAccessible) public enum ObjectiveCKeychainAccessible: Int, CaseIterable, Sendable {
    /// While the device is unlocked.
    case whenUnlocked = 0
    /// While the device is unlocked; never on another device.
    case whenUnlockedThisDeviceOnly = 1
    /// From the first unlocking after a start.
    case afterFirstUnlock = 2
    /// From the first unlocking after a start; never on another device.
    case afterFirstUnlockThisDeviceOnly = 3
}
#endif
