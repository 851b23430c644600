internal import APIDescription
internal import CommandModel
internal import Concurrency
internal import Platform

/// The operator's side of ``GatewayControl``: one request of HTTP/1.1 for each connection.
package struct GatewayControlClient: Sendable {
    private static let answerByteLimit = 64 << 20
    private static let readByteCount = 65_536
    private let path: String

    /// Connects to the gateway of the data directory at `directory`.
    package init(directory: String) {
        path = FilePath.joining(directory, GatewayControl.socketName)
    }

    /// The clients of the running gateway.
    ///
    /// - Throws: ``CommandFailure``.
    package func clients() async throws -> GatewayClientsReport { try await send("GET", "/clients", []) }

    /// Makes the running gateway drain.
    ///
    /// - Throws: ``CommandFailure``.
    package func drain(withinSeconds seconds: UInt64?) async throws -> GatewayDrainReport {
        try await send("POST", "/drain", JSONText.bytes(GatewayDrainForm(withinSeconds: seconds)))
    }

    private func send<Answer: Decodable & Sendable>(
        _ method: String,
        _ target: String,
        _ body: [UInt8]
    ) async throws -> Answer {
        let head =
            "\(method) \(target) HTTP/1.1\r\nHost: gateway\r\nConnection: close\r\n"
            + "Content-Type: application/json\r\nContent-Length: \(body.count)\r\n\r\n"
        let request = Array(head.utf8) + body
        let end = Promise<Result<[UInt8], CommandFailure>>()
        let status = SystemThread.start { [path] in
            end.fulfil(Result { () throws(CommandFailure) in try Self.exchange(request, at: path) })
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
                "gateway-not-running",
                .unavailable,
                "no gateway runs on this data: check --data, or start it with `runar gateway serve`"
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

    private static func read<Answer: Decodable>(_ answer: [UInt8]) throws -> Answer {
        let separator = Array("\r\n\r\n".utf8)
        guard let end = answer.indices.first(where: { answer[$0...].starts(with: separator) }) else { throw broken }
        let status = String(decoding: answer[..<end], as: UTF8.self).split(separator: " ").dropFirst().first
        guard status == "200" else { throw broken }
        return try JSONText.decode(Answer.self, from: Array(answer[(end + separator.count)...]))
    }

    private static var broken: CommandFailure {
        CommandFailure("gateway-silent", .unavailable, "the running gateway does not answer: try again, or restart it")
    }
}
