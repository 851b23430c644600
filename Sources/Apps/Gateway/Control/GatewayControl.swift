internal import APIDescription
internal import Bytes
internal import CommandModel
internal import Concurrency
internal import GatewayStore
internal import HTTPAPI
internal import Logging
internal import Platform

/// The form that makes a gateway drain.
package struct GatewayDrainForm: Codable, Sendable {
    /// The seconds after which the gateway ends in any case.
    package let withinSeconds: UInt64?

    package init(withinSeconds: UInt64?) {
        self.withinSeconds = withinSeconds
    }
}

/// The endpoints at the socket in the data directory, for the operator's commands.
enum ControlEndpoints {
    static let clients = Endpoint<NoPath, NoForm, GatewayClientsReport>(
        .get,
        "/clients",
        .none,
        notes: EndpointNotes(summary: "The clients, without their keys")
    )
    static let drain = Endpoint<NoPath, GatewayDrainForm, GatewayDrainReport>(
        .post,
        "/drain",
        .none,
        notes: EndpointNotes(summary: "Take no further clients, and stop when the leases have ended")
    )
}

/// The state of a drain.
final class GatewayDrain: Sendable {
    private let until = Locked<UInt64?>(nil)
    private let leases: LeaseKeeper

    init(_ leases: LeaseKeeper) {
        self.leases = leases
    }

    /// Begins to drain, or changes the limit; returns the second at which the gateway ends in any case.
    func begin(withinSeconds seconds: UInt64?, at now: UInt64) -> UInt64? {
        leases.isDraining = true
        return until.withLock { until in
            until = seconds.map { now + min($0, Self.longestSeconds) }
            return until
        }
    }

    /// Whether the gateway may stop with `count` leases.
    func isDone(leases count: Int, at now: UInt64) -> Bool {
        guard leases.isDraining else { return false }
        return count == 0 || until.withLock { $0.map { $0 <= now } ?? false }
    }

    /// A lease lasts at most a week.
    private static let longestSeconds: UInt64 = 8 * 86_400
}

/// The control of a running gateway by a Unix socket, which only its user can open.
struct GatewayControl: Sendable {
    static let socketName = "gateway.sock"

    let leases: LeaseKeeper
    let drain: GatewayDrain
    let clocks: Clocks
    /// Called when a drain begins.
    let onDrain: @Sendable () -> Void

    var routes: [Route] {
        [
            ControlEndpoints.clients.serve { _ in
                GatewayClientsReport(clients: try await leases.clients())
            }
            .route,
            ControlEndpoints.drain.serve { request in
                let until = drain.begin(withinSeconds: request.form.withinSeconds, at: clocks.wallSeconds())
                onDrain()
                return GatewayDrainReport(clients: try await leases.store.leaseCount(), until: until)
            }
            .route,
        ]
    }

    /// Makes room for the socket of a data directory; call it only while holding its lock.
    ///
    /// - Throws: ``CommandFailure`` if the path is too long.
    static func socketPath(in directory: DataDirectory) throws(CommandFailure) -> String {
        let path = try path(of: socketName, in: directory)
        Posix.unlink(path)
        return path
    }

    /// Returns the path of a Unix socket in a data directory.
    ///
    /// - Throws: ``CommandFailure`` if the path is too long.
    static func path(of name: String, in directory: DataDirectory) throws(CommandFailure) -> String {
        let path = directory.file(name)
        guard path.utf8.count <= UnixSocket.pathByteLimit else {
            throw CommandFailure(
                "long-home",
                .configuration,
                "the path of the data is too long for a socket (\(UnixSocket.pathByteLimit) bytes with its name): "
                    + "choose a shorter one with --data"
            )
        }
        return path
    }

    /// Serves until the task is cancelled.
    func run(at path: String, uploadPrefix: String, logger: Logger) async throws {
        var configuration = HTTPServer.Configuration(
            address: .socket(path: path, user: Posix.user),
            routes: routes,
            uploadPrefix: uploadPrefix,
            logger: logger
        )
        configuration.limits.drain = GatewayServer.drainTime
        defer { Posix.unlink(path) }
        // The data directory is closed to others as well.
        try await HTTPServer(configuration).run { _ in _ = Posix.setMode(0o600, of: path) }
    }
}
