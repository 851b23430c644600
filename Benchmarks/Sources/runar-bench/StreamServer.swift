internal import Identity
internal import Transport

/// Answers the streams of every connection of an endpoint.
///
/// A stream begins with a block of 64 bytes. `E`: the block is sent back. `B`: the bytes after it are counted and the count
/// is sent back in 8 bytes. Streams of one connection are served one after the other, as the other drivers do.
struct StreamServer {
    static let blockBytes = 64
    static let readBytes = 1 << 20

    let endpoint: any Endpoint

    func run() async throws {
        guard let address = endpoint.localAddresses.first else { throw BenchError("the endpoint has no address") }
        Output.result(["id": endpoint.localPeerId.base64Encoded, "address": "\(address)"])
        Output.endWithInput()
        await serveConnections()
    }

    /// Serves until the endpoint is closed.
    func serveConnections() async {
        let endpoint = endpoint
        await withDiscardingTaskGroup { group in
            while let connection = await Self.next(of: endpoint) {
                group.addTask { await Self.serve(connection) }
            }
        }
    }

    private static func next(of endpoint: any Endpoint) async -> (any Connection)? {
        do {
            return try await endpoint.accept()
        } catch {
            Output.complain("accept: \(error)")
            return nil
        }
    }

    private static func serve(_ connection: any Connection) async {
        do {
            while let stream = try await connection.acceptStream() { try await serve(stream) }
        } catch {
            return  // The peer closed: measurements end that way.
        }
    }

    private static func serve(_ stream: any Stream) async throws {
        var (block, isFinal) = try await stream.read(atMost: blockBytes)
        while block.count < blockBytes, !isFinal {
            let more = try await stream.read(atMost: blockBytes - block.count)
            block += more.bytes
            isFinal = more.isFinal
        }
        guard block.count == blockBytes else { return }
        guard block[0] == UInt8(ascii: "B") else { return try await stream.write(block, finish: true) }
        var total: UInt64 = 0
        while !isFinal {
            let more = try await stream.read(atMost: readBytes)
            total += UInt64(more.bytes.count)
            isFinal = more.isFinal
        }
        try await stream.write((0..<8).map { UInt8(truncatingIfNeeded: total >> (8 * $0)) }, finish: true)
    }
}
