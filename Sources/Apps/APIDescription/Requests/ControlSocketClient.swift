package import CommandModel
internal import Concurrency
internal import Platform

/// The requests to a program of this machine over its Unix socket: one of HTTP/1.1 for each connection.
package struct ControlSocketClient: Sendable {
    private static let readByteCount = 65_536

    private let path: String
    private let answerByteLimit: Int
    private let absent: CommandFailure
    private let silent: CommandFailure

    /// Prepares requests to the socket at `path`.
    ///
    /// - Parameters:
    ///   - path: The path of the socket.
    ///   - answerByteLimit: The most bytes of an answer with its head.
    ///   - absent: The failure if no program listens.
    ///   - silent: The failure if it does not answer, or refuses.
    package init(path: String, answerByteLimit: Int, absent: CommandFailure, silent: CommandFailure) {
        self.path = path
        self.answerByteLimit = answerByteLimit
        self.absent = absent
        self.silent = silent
    }

    /// Sends a request, and decodes the answer with status 200.
    ///
    /// - Throws: ``CommandFailure``, and the errors of ``JSONText/decode(_:from:)``.
    package func send<Answer: Decodable & Sendable>(
        _ method: String,
        _ target: String,
        _ body: [UInt8] = []
    ) async throws -> Answer {
        let head =
            "\(method) \(target) HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n"
            + "Content-Type: application/json\r\nContent-Length: \(body.count)\r\n\r\n"
        let request = Array(head.utf8) + body
        let end = Promise<Result<[UInt8], CommandFailure>>()
        // A thread of its own: the calls block.
        let status = SystemThread.start {
            end.fulfil(Result { () throws(CommandFailure) in try exchange(request) })
        }
        guard status == 0 else { throw silent }
        return try read(try await end.waitIgnoringCancellation().get())
    }

    private func exchange(_ request: [UInt8]) throws(CommandFailure) -> [UInt8] {
        let descriptor = UnixSocket.make()
        guard descriptor >= 0 else { throw silent }
        defer { Posix.close(descriptor) }
        guard UnixSocket.connect(descriptor, to: path) else { throw absent }
        guard Posix.write(request, to: descriptor) == nil else { throw silent }
        var answer: [UInt8] = []
        while answer.count <= answerByteLimit {
            let piece = Posix.read(descriptor, atMost: Self.readByteCount)
            if piece.isEmpty { return answer }
            answer += piece
        }
        throw silent
    }

    private func read<Answer: Decodable>(_ answer: [UInt8]) throws -> Answer {
        let separator = Array("\r\n\r\n".utf8)
        guard let end = answer.indices.first(where: { answer[$0...].starts(with: separator) }) else { throw silent }
        let status = String(decoding: answer[..<end], as: UTF8.self).split(separator: " ").dropFirst().first
        guard status == "200" else { throw silent }
        return try JSONText.decode(Answer.self, from: Array(answer[(end + separator.count)...]))
    }
}
