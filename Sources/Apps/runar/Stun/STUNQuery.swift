internal import CommandModel
internal import Concurrency
internal import Identity
internal import NodeModel
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
        let driver = ProtocolDriver(timeReached: NATDiscovery.Input.timeReached)
        let start = ContinuousClock.now
        return try await withThrowingTaskGroup(of: Void.self) { group in
            defer { group.cancelAll() }
            group.addTask {
                for await datagram in sockets.datagrams {
                    driver.offer(.datagramReceived(datagram.bytes, from: datagram.source))
                }
            }
            driver.offer(.started)
            return try await driver.run(
                now: { start.duration(to: .now) },
                sleep: { try await Task.sleep(until: start + $0, clock: .continuous) },
                handle: { discovery.handle($0, at: $1, into: &$2) },
                perform: { (effect: NATDiscovery.Effect) -> ProtocolStep<StunReport> in
                    switch effect {
                    case .send(let bytes, let place):
                        try sockets.send(bytes, to: place)
                        return .next
                    case .wake(let time): return .wake(at: time)
                    case .finish(let report):
                        return .end(StunReport(report, server: server, isClassified: isClassifying))
                    case .fail(let failure): throw failure
                    }
                }
            )
        }
    }

    /// The local addresses of the sockets.
    private static func ownAddresses(of sockets: DatagramSockets) -> [SocketAddress] {
        let ports = sockets.addresses.map(\.port)
        return (NetworkInterface.all() ?? []).flatMap(\.addresses)
            .flatMap { ip in ports.map { SocketAddress(ip, port: $0) } }
    }
}
