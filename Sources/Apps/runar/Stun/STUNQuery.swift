internal import Identity
internal import NodeService
internal import Platform
internal import Traversal

/// Asks one STUN server from a socket of its own.
struct STUNQuery {
    /// The addresses of the server, tried in order until one answers.
    private let servers: [SocketAddress]
    private let isClassifying: Bool

    init(_ servers: [SocketAddress], isClassifying: Bool) {
        self.servers = servers
        self.isClassifying = isClassifying
    }

    /// Returns the report of the first server that answers.
    ///
    /// - Throws: ``CommandFailure`` or ``DatagramError`` of the last one.
    func run() async throws -> StunReport {
        for server in servers.dropLast() {
            if let report = try? await run(server) { return report }  // the last one reports the failure
        }
        guard let server = servers.last else { throw STUNFailure.noAnswer }
        do {
            return try await run(server)
        } catch let failure as STUNFailure {
            let known = CommandFailure(failure)
            throw CommandFailure(known.code, known.status, "\(server): \(known.message)")
        }
    }

    private func run(_ server: SocketAddress) async throws -> StunReport {
        let everywhere = server.isIPv6 ? IPAddress.v6(high: 0, low: 0, scope: 0) : .v4(0)
        let sockets = try DatagramSockets(at: [SocketAddress(everywhere, port: 0)])
        defer { sockets.close() }
        var random = SystemRandom()
        var discovery = NATDiscovery(
            server: server,
            own: Self.ownAddresses(of: sockets),
            isClassifying: isClassifying,
            using: &random
        )
        let (inputs, feed) = AsyncStream.makeStream(of: NATDiscovery.Input.self)
        let start = ContinuousClock.now
        return try await withThrowingTaskGroup(of: Void.self) { group in
            defer { group.cancelAll() }
            group.addTask {
                for await datagram in sockets.datagrams {
                    feed.yield(.datagramReceived(datagram.bytes, from: datagram.source))
                }
            }
            feed.yield(.started)
            for await input in inputs {
                var effects: [NATDiscovery.Effect] = []
                discovery.handle(input, at: start.duration(to: .now), into: &effects)
                for effect in effects {
                    switch effect {
                    case .send(let bytes, let place): try sockets.send(bytes, to: place)
                    case .wake(let moment):
                        // An earlier wake that was replaced finds nothing to do.
                        group.addTask {
                            try await Task.sleep(until: start + moment, clock: .continuous)
                            feed.yield(.timeReached)
                        }
                    case .finish(let report): return StunReport(report, server: server, isClassified: isClassifying)
                    case .fail(let failure): throw failure
                    }
                }
            }
            throw CancellationError()
        }
    }

    /// The local addresses of the sockets.
    private static func ownAddresses(of sockets: DatagramSockets) -> [SocketAddress] {
        let ports = sockets.addresses.map(\.port)
        return (NetworkInterface.all() ?? []).flatMap(\.addresses)
            .flatMap { ip in ports.map { SocketAddress(ip, port: $0) } }
    }
}
