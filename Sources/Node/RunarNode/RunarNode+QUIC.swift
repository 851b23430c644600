internal import Bytes
internal import Identity
internal import Platform
internal import QUIC
internal import Transport

extension RunarNode {
    /// Opens the stores of a node that will speak QUIC; a device key is made if there is none yet.
    ///
    /// - Throws: ``KeychainError`` or ``StorageError`` when a store cannot be read. A key that is there but unreadable
    ///   is never replaced.
    public convenience init(config: RunarNodeConfig) throws {
        try self.init(config: config, clock: .system())
    }

    /// Opens a node without blocking the caller's actor, such as an app's main actor, on key storage or the database.
    ///
    /// - Throws: ``KeychainError`` or ``StorageError``, as ``init(config:)`` does.
    @concurrent public static func open(config: sending RunarNodeConfig) async throws -> RunarNode {
        try RunarNode(config: config)
    }

    /// The same by another clock.
    package convenience init(config: RunarNodeConfig, clock: NodeClock) throws {
        try self.init(
            config: config,
            clock: clock,
            localNetwork: { endpoint, config in
                try config.discoveryGroups.map { groups in
                    try MulticastSocket.open(
                        .init(
                            groups: groups,
                            bound: endpoint.localAddresses,
                            interfaces: config.network.discoveryInterfaces
                        )
                    )
                }
            },
            addressWatch: { endpoint, _ in
                try MulticastSocket.open(.init(groups: .none, bound: endpoint.localAddresses))
            }
        ) { key, config in
            var configuration = QUICConfiguration(
                identity: key,
                addresses: try config.network.listenAddresses(
                    config.listenAddresses,
                    of: NetworkInterface.all() ?? [],
                    kind: \.kind
                ),
                resetSecret: try Self.resetSecret(in: config.keyStorage)
            )
            configuration.limits.unadmitted = UnadmittedLimits()
            return try QUICEndpoint.bind(configuration)
        }
    }

    /// The secret behind this node's stateless resets (RFC 9000, section 10.3), 32 bytes, kept over restarts.
    private static func resetSecret(in storage: any KeyStorage) throws -> SecretBytes {
        if let secret = try storage.retrieve(id: KeyId.reset.rawValue) { return secret }
        var random = SystemRandom()
        var bytes = random.bytes(count: 32)
        let secret = SecretBytes(consuming: &bytes)
        try storage.store(secret, id: KeyId.reset.rawValue)
        return secret
    }
}
