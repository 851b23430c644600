internal import APIDescription
internal import CommandModel
internal import HTTPAPI
package import Logging
internal import Platform

/// The control of a running connection by a Unix socket, which only its user can open.
package struct VPNControl: Sendable {
    private static let socketName = "vpn.sock"

    private static let status = Endpoint<NoPath, NoForm, VPNStatusReport>(
        .get,
        "/status",
        .none,
        notes: EndpointNotes(summary: "The state of the connection")
    )
    private static let disconnect = Endpoint<NoPath, NoForm, VPNStatusReport>(
        .post,
        "/disconnect",
        .none,
        notes: EndpointNotes(summary: "End the connection")
    )

    private let path: String

    /// Uses the socket of the data directory at `directory`.
    package init(directory: String) {
        path = FilePath.joining(directory, Self.socketName)
    }

    // MARK: The process of the connection

    /// Serves until the task is cancelled; call it only while holding the lock of the data directory.
    ///
    /// - Throws: ``CommandFailure`` if the path is too long.
    package func run(_ controller: VPNController, uploadPrefix: String, logger: Logger) async throws {
        guard path.utf8.count <= UnixSocket.pathByteLimit else {
            throw CommandFailure(
                "long-home",
                .configuration,
                "the path of the data is too long for a control socket (\(UnixSocket.pathByteLimit) bytes with its name): "
                    + "choose a shorter one with --data"
            )
        }
        Posix.unlink(path)
        let configuration = HTTPServer.Configuration(
            address: .socket(path: path, user: Posix.user),
            routes: [
                Self.status.serve { _ in VPNStatusReport(controller) }.route,
                Self.disconnect.serve { _ in
                    controller.disconnect()
                    return VPNStatusReport(controller, isEnding: true)
                }.route,
            ],
            uploadPrefix: uploadPrefix,
            logger: logger
        )
        defer { Posix.unlink(path) }
        // The data directory is closed to others as well.
        try await HTTPServer(configuration).run { _ in _ = Posix.setMode(0o600, of: path) }
    }

    // MARK: Other processes

    /// The state of the running connection.
    ///
    /// - Throws: ``CommandFailure``.
    package func status() async throws -> VPNStatusReport { try await client.send("GET", "/status") }

    /// Requests the end of the running connection; its process ends when the tunnel is removed.
    ///
    /// - Throws: ``CommandFailure``.
    package func disconnect() async throws -> VPNStatusReport { try await client.send("POST", "/disconnect") }

    private var client: ControlSocketClient {
        ControlSocketClient(
            path: path,
            answerByteLimit: 1 << 20,
            absent: CommandFailure(
                "vpn-not-running",
                .unavailable,
                "no connection runs on this data: check --data and the user, or start one with `runar vpn connect`"
            ),
            silent: CommandFailure(
                "vpn-silent",
                .unavailable,
                "the connection does not answer: try again, or end its process"
            )
        )
    }
}
