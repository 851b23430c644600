#if canImport(Security)
internal import Platform

extension NodeStores {
    /// A service's stores: the Keychain, and a directory of their own for the database.
    static func ofService(_ keychain: RunarKeychainConfig, statePath: String?) throws -> NodeStores {
        let keys = try KeychainStorage(service: keychain.serviceName, accessGroup: keychain.accessGroup)
            .wrappedBySecureEnclave(isRequired: keychain.useSecureEnclave)
        if let statePath { return NodeStores(keys: keys, statePath: statePath, lock: nil) }
        let home = try DataDirectory(at: directory(ofService: keychain.serviceName))
        return NodeStores(keys: keys, statePath: home.file(stateName), lock: try home.lockForNode())
    }
}

#if os(iOS)
extension RunarNodeConfig {
    /// A configuration for an app's everyday use: keys in the Keychain behind a finger or a face, and `production` as the
    /// default network.
    public static func createProductionConfig(appIdentifier: String, accessGroup: String? = nil) -> RunarNodeConfig {
        let config = RunarNodeConfig(nodeId: "ios-node-\(identifier())", defaultNetworkId: "production")
        config.keychainConfig = .iOSConfig(serviceName: appIdentifier, accessGroup: accessGroup)
        return config
    }
}
#else
extension RunarNodeConfig {
    /// A configuration for an app's everyday use: keys in the Keychain behind a finger or the person's password, and
    /// `production` as the default network.
    public static func createProductionConfig(appIdentifier: String) -> RunarNodeConfig {
        let config = RunarNodeConfig(nodeId: "macos-node-\(identifier())", defaultNetworkId: "production")
        config.keychainConfig = .macOSConfig(serviceName: appIdentifier)
        return config
    }
}
#endif
#endif
