internal import APIDescription
internal import CommandModel
internal import Concurrency
internal import HTTPAPI
package import Logging
internal import Platform

/// The control of a running connection by a Unix socket, which only its user can open.
package struct VPNControl: Sendable {
    private static let socketName = "vpn.sock"
    private static let answerByteLimit = 1 << 20
    private static let readByteCount = 65_536

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
        var configuration = HTTPServer.Configuration(
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
        configuration.limits.drain = .seconds(1)
        defer { Posix.unlink(path) }
        // The data directory is closed to others as well.
        try await HTTPServer(configuration).run { _ in _ = Posix.setMode(0o600, of: path) }
    }

    // MARK: Other processes

    /// The state of the running connection.
    ///
    /// - Throws: ``CommandFailure``.
    package func status() async throws -> VPNStatusReport { try await send("GET", "/status") }

    /// Requests the end of the running connection; its process ends when the tunnel is removed.
    ///
    /// - Throws: ``CommandFailure``.
    package func disconnect() async throws -> VPNStatusReport { try await send("POST", "/disconnect") }

    private func send(_ method: String, _ target: String) async throws -> VPNStatusReport {
        let head = "\(method) \(target) HTTP/1.1\r\nHost: vpn\r\nConnection: close\r\nContent-Length: 0\r\n\r\n"
        let end = Promise<Result<[UInt8], CommandFailure>>()
        let status = SystemThread.start { [path] in
            end.fulfil(Result { () throws(CommandFailure) in try Self.exchange(Array(head.utf8), at: path) })
        }
        guard status == 0 else { throw Self.broken }
        return try Self.read(try await end.waitIgnoringCancellation().get())
    }

    private static func exchange(_ request: [UInt8], at path: String) throws(CommandFailure) -> [UInt8] {
        let descriptor = UnixSocket.make()
        guard descriptor >= 0 else { throw broken }
        defer { Posix.close(descriptor) }
        guard UnixSocket.connect(descriptor, to: path) else {
            throw CommandFailure(
                "vpn-not-running",
                .unavailable,
                "no connection runs on this data: check --data and the user, or start one with `runar vpn connect`"
            )
        }
        guard Posix.write(request, to: descriptor) == nil else { throw broken }
        var answer: [UInt8] = []
        while answer.count <= answerByteLimit {
            let piece = Posix.read(descriptor, atMost: readByteCount)
            if piece.isEmpty { return answer }
            answer += piece
        }
        throw broken
    }

    private static func read(_ answer: [UInt8]) throws -> VPNStatusReport {
        let separator = Array("\r\n\r\n".utf8)
        guard let end = answer.indices.first(where: { answer[$0...].starts(with: separator) }) else { throw broken }
        let status = String(decoding: answer[..<end], as: UTF8.self).split(separator: " ").dropFirst().first
        guard status == "200" else { throw broken }
        return try JSONText.decode(VPNStatusReport.self, from: Array(answer[(end + separator.count)...]))
    }

    private static var broken: CommandFailure {
        CommandFailure("vpn-silent", .unavailable, "the connection does not answer: try again, or end its process")
    }
}
