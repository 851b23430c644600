internal import Identity
internal import Logging
internal import NodeStore
internal import Transport

// The UDP port of a node that may have any: that of its last run while it is free, so that other devices find it again.
extension RunarNode {
    /// Opens the endpoint of a run.
    ///
    /// - Throws: ``TransportError``, ``StorageError``.
    func makeEndpoint(_ key: Ed25519PrivateKey) async throws -> any Endpoint {
        guard config.hasAnyPort else { return try await factories.makeEndpoint(key, config) }
        let kept = try store.listeningPort()
        let endpoint = try await openEndpoint(key, preferring: kept)
        if let port = endpoint.localAddresses.first?.port, port != kept {
            try store.setListeningPort(port)
        }
        return endpoint
    }

    private func openEndpoint(_ key: Ed25519PrivateKey, preferring kept: UInt16?) async throws -> any Endpoint {
        if let kept {
            do {
                return try await factories.makeEndpoint(key, config.listening(on: kept))
            } catch let error as TransportError {
                logs[.lifecycle].notice("the port of the last run is not available: \(error)")
            }
        }
        return try await factories.makeEndpoint(key, config)
    }
}

extension NodeSettings {
    /// Whether the node may listen on any port at an address.
    var hasAnyPort: Bool { listenAddresses.contains { $0.port == 0 } }

    /// Returns these settings with a port for the addresses that may have any.
    func listening(on port: UInt16) -> NodeSettings {
        var settings = self
        settings.listenAddresses = listenAddresses.map { $0.port == 0 ? SocketAddress($0.ip, port: port) : $0 }
        return settings
    }
}
