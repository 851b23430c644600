internal import Platform

/// Asks the node that already runs on a home.
struct ControlClient: Sendable {
    private let connection: ControlConnection

    /// Connects to the node of a home, or returns nil if none runs there.
    init?(home: String) {
        let path = FilePath.joining(home, ControlServer.socketName)
        let descriptor = UnixSocket.make()
        guard descriptor >= 0 else { return nil }
        guard UnixSocket.connect(descriptor, to: path), UnixSocket.peerUser(of: descriptor) == Posix.user else {
            Posix.close(descriptor)
            return nil
        }
        connection = ControlConnection(descriptor: descriptor)
    }

    /// Sends the request and returns the JSON of its report.
    ///
    /// - Throws: ``CommandFailure`` of the node, or that it went away.
    func perform(
        _ request: ControlRequest,
        onUpdate: @Sendable (ControlUpdate) async -> Void
    ) async throws -> [UInt8] {
        defer { connection.close() }
        let isSent = await connection.write(JSONText.bytes(request))
        return try await withTaskCancellationHandler {
            for await frame in connection.frames {
                switch try Self.reply(in: frame) {
                case .update(let update): await onUpdate(update)
                case .result(let json): return Array(json.utf8)
                case .failure(let failure): throw failure
                }
            }
            try Task.checkCancellation()
            let what = isSent ? "ended before it answered" : "does not take requests"
            throw CommandFailure("node-gone", .unavailable, "the running node \(what): try again")
        } onCancel: {
            connection.close()
        }
    }

    private static func reply(in frame: [UInt8]) throws(CommandFailure) -> ControlReply {
        do {
            return try JSONText.decode(ControlReply.self, from: frame)
        } catch {
            throw CommandFailure(
                "unknown-reply",
                .software,
                "the running node answers what this command does not know: stop it and start it with this version"
            )
        }
    }
}
