internal import Transport

/// The client's side of the stream measurements, over any connection.
struct StreamClient {
    private static let warmUps = 300

    let connection: any Connection

    func bulk(mebibytes: Int, chunk: Int) async throws {
        Output.result(["megabytesPerSecond": try await throughput(mebibytes: mebibytes, chunk: chunk)])
    }

    /// Megabytes per second of one stream, until the server has counted the last one.
    func throughput(mebibytes: Int, chunk: Int) async throws -> Double {
        let total = mebibytes << 20
        let bytes = [UInt8](repeating: 0x5A, count: chunk)
        let stream = try connection.openStream()
        try await stream.write(block("B"), finish: false)
        let started = ContinuousClock.now
        var left = total
        while left > 0 {
            let count = min(left, chunk)
            left -= count
            try await stream.write(count == chunk ? bytes : Array(bytes.prefix(count)), finish: left == 0)
        }
        let answer = try await readAll(stream)
        let elapsed = ContinuousClock.now - started
        let counted = answer.reversed().reduce(0) { $0 << 8 | Int($1) }
        guard counted == total else { throw BenchError("the server counted \(counted) of \(total) bytes") }
        return Double(total) / elapsed.seconds / 1e6
    }

    func roundTrips(count: Int) async throws {
        for _ in 0..<Self.warmUps { try await roundTrip() }
        var latencies: [Duration] = []
        latencies.reserveCapacity(count)
        for _ in 0..<count {
            let started = ContinuousClock.now
            try await roundTrip()
            latencies.append(ContinuousClock.now - started)
        }
        Output.result([
            "p50Microseconds": latencies.percentile(0.5).microseconds,
            "p99Microseconds": latencies.percentile(0.99).microseconds,
        ])
    }

    func parallelRoundTrips(count: Int, inFlight: Int) async throws {
        let each = count / inFlight
        let started = ContinuousClock.now
        try await withThrowingTaskGroup { group in
            for _ in 0..<inFlight {
                group.addTask { for _ in 0..<each { try await roundTrip() } }
            }
            try await group.waitForAll()
        }
        Output.result(["perSecond": Double(each * inFlight) / (ContinuousClock.now - started).seconds])
    }

    private func roundTrip() async throws {
        let stream = try connection.openStream()
        try await stream.write(block("E"), finish: true)
        let answer = try await readAll(stream)
        guard answer.count == StreamServer.blockBytes else { throw BenchError("the echo has \(answer.count) bytes") }
    }

    private func block(_ kind: Unicode.Scalar) -> [UInt8] {
        var block = [UInt8](repeating: 0, count: StreamServer.blockBytes)
        block[0] = UInt8(ascii: kind)
        return block
    }

    private func readAll(_ stream: any Stream) async throws -> [UInt8] {
        var (bytes, isFinal) = try await stream.read(atMost: StreamServer.readBytes)
        while !isFinal {
            let more = try await stream.read(atMost: StreamServer.readBytes)
            bytes += more.bytes
            isFinal = more.isFinal
        }
        return bytes
    }
}
