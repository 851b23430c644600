internal import Identity
internal import Transport

/// The transport of the command's nodes.
enum NodeTransport {
    /// Opens a port for a key.
    ///
    /// - Throws: ``TransportError``.
    static func bind(_ key: Ed25519PrivateKey, at addresses: [SocketAddress]) throws -> any Endpoint {
        throw TransportError.initializationFailed("this build has no transport")
    }
}
