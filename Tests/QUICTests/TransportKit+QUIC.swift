internal import Identity
internal import QUIC
internal import Transport
internal import TransportConformance

extension TransportKit {
    /// Endpoints on loopback, changed by `change` before they open their ports.
    static func quic(
        on host: String = "127.0.0.1",
        _ change: @escaping @Sendable (inout QUICConfiguration) -> Void = { _ in }
    ) -> TransportKit {
        TransportKit(
            maximumUnreadBytes: QUICLimits().streamWindow + QUICLimits().sendHighWater + (1 << 20),
            minimumStreamCount: QUICLimits().concurrentStreams,
            makeEndpoint: { try loopbackEndpoint(on: host, change) },
            absentAddress: {
                let endpoint = try loopbackEndpoint(on: host)
                let address = try address(of: endpoint)
                await endpoint.close(code: 0)
                return address
            },
            silentAddress: { _ in try await SilentPort.shared.address(on: host) }
        )
    }
}

/// An endpoint with a key of its own on a free port of loopback.
func loopbackEndpoint(
    on host: String = "127.0.0.1",
    _ change: (inout QUICConfiguration) -> Void = { _ in }
) throws -> QUICEndpoint {
    let address = try SocketAddress(parsing: host.contains(":") ? "[\(host)]:0" : "\(host):0")
    var configuration = QUICConfiguration(identity: Ed25519PrivateKey(), addresses: [address])
    // The patience of a busy machine.
    configuration.timers.handshake = .seconds(15)
    change(&configuration)
    return try QUICEndpoint.bind(configuration)
}

/// Ports that are bound and never answer.
actor SilentPort {
    static let shared = SilentPort()
    private var sockets: [String: RawSocket] = [:]

    func address(on host: String) throws -> SocketAddress {
        if let known = sockets[host] { return known.address }
        let socket = try RawSocket(on: host)
        sockets[host] = socket
        return socket.address
    }
}
