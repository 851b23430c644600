#if os(Linux)
internal import Platform

extension NodeStores {
    /// A service's stores: a directory of their own, with a vault for the keys.
    static func ofService(_ keychain: RunarKeychainConfig, statePath: String?) throws -> NodeStores {
        try inDirectory(directory(ofService: keychain.serviceName), statePath: statePath)
    }
}

extension RunarNodeConfig {
    /// A configuration for an application's everyday use: keys and state in a directory of the user alone, named after
    /// the application, and `production` as the default network.
    public static func createProductionConfig(appIdentifier: String) -> RunarNodeConfig {
        let config = RunarNodeConfig(nodeId: "linux-node-\(identifier())", defaultNetworkId: "production")
        config.keychainConfig = RunarKeychainConfig(serviceName: appIdentifier)
        return config
    }
}
#endif
