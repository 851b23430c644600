internal import Bytes
package import Transport

/// Bytes that look random and are the same for the same seed.
package func pattern(_ count: Int, seed: UInt64) -> [UInt8] {
    var generator = SeededGenerator(seed: seed)
    var bytes: [UInt8] = []
    bytes.reserveCapacity(count + 8)
    while bytes.count < count {
        var word = generator.next()
        for _ in 0..<8 {
            bytes.append(UInt8(truncatingIfNeeded: word))
            word >>= 8
        }
    }
    return Array(bytes.prefix(count))
}

/// Reads a stream to its end.
package func readAll(_ stream: any Stream, atMost maximum: Int = 65_536) async throws -> [UInt8] {
    var all: [UInt8] = []
    while true {
        let (bytes, isFinal) = try await stream.read(atMost: maximum)
        try check(bytes.count <= maximum, "a read of at most \(maximum) bytes returned \(bytes.count)")
        try check(isFinal || !bytes.isEmpty, "a read returned nothing before the end of the stream")
        all += bytes
        if isFinal { return all }
    }
}

/// Reads exactly `count` bytes, which must arrive before the end.
package func read(_ count: Int, from stream: any Stream) async throws -> [UInt8] {
    var all: [UInt8] = []
    while all.count < count {
        let (bytes, isFinal) = try await stream.read(atMost: count - all.count)
        all += bytes
        try check(!isFinal || all.count == count, "the stream ended after \(all.count) of \(count) bytes")
    }
    return all
}

/// Writes `bytes` in pieces and finishes.
package func writeAll(_ bytes: [UInt8], to stream: any Stream, pieces: Int = 65_536) async throws {
    var start = 0
    repeat {
        let end = min(start + pieces, bytes.count)
        try await stream.write(Array(bytes[start..<end]), finish: end == bytes.count)
        start = end
    } while start < bytes.count
}

/// Opens a stream and returns both ends, after one byte from the opener.
package func openStream(
    from opener: any Connection,
    to acceptor: any Connection
) async throws -> (opened: any Stream, accepted: any Stream) {
    let opened = try opener.openStream()
    try await opened.write([0x2A], finish: false)
    let accepted = try required(await acceptor.acceptStream(), "no stream arrived on a living connection")
    try checkEqual(try await read(1, from: accepted), [0x2A], "the first byte of a stream")
    return (opened, accepted)
}

/// Echoes the content of each stream until the connection ends.
package func serveEchoes(on connection: any Connection) async throws {
    try await withThrowingDiscardingTaskGroup { group in
        while let stream = try await connection.acceptStream() {
            group.addTask {
                do {
                    try await writeAll(try await readAll(stream), to: stream)
                } catch is TransportError {
                    // The other side gave up; the next stream may be better.
                }
            }
        }
    }
}

/// Sends `bytes` on a new stream and checks the echo.
package func checkEcho(of bytes: [UInt8], on connection: any Connection) async throws {
    let stream = try connection.openStream()
    async let back = readAll(stream)
    try await writeAll(bytes, to: stream)
    let echo = try await back
    try check(echo == bytes, "an echo of \(bytes.count) bytes came back differently, in \(echo.count) bytes")
}
