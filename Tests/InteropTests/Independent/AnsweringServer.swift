internal import Transport
internal import TransportConformance

/// Answers the requests of an independent peer, with the words of Tests/Interop/peer.py.
enum AnsweringServer {
    /// Answers the streams of a connection until it ends.
    static func serve(_ connection: any Connection) async throws {
        try await withThrowingDiscardingTaskGroup { group in
            while let stream = try await connection.acceptStream() {
                group.addTask { await answer(stream, of: connection) }
            }
        }
    }

    private static func answer(_ stream: any Stream, of connection: any Connection) async {
        do {
            var (request, isFinal) = try await stream.read(atMost: 65_536)
            let words = String(decoding: request.prefix(64), as: UTF8.self).split(separator: " ")
            if words.first == "reset", words.count == 2, let code = UInt64(words[1]) { return stream.reset(code: code) }
            while !isFinal {
                let next = try await stream.read(atMost: 65_536)
                request += next.bytes
                isFinal = next.isFinal
            }
            if words.first == "close", words.count == 3, let code = UInt64(words[1]) {
                return connection.close(code: code, reason: String(words[2]))
            }
            try await writeAll(request, to: stream)
        } catch {
            // The peer cancelled the stream, which is one of its scenarios; it reports its observations itself.
        }
    }
}
