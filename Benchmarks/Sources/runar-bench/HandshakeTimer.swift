/// Times many handshakes, a few of them concurrently, and prints their rate.
struct HandshakeTimer {
    let count: Int
    let inFlight: Int

    /// Runs `handshake` for 0..<count and prints the result.
    func measure(_ handshake: @escaping @Sendable (Int) async throws -> Void) async throws {
        let lanes = max(1, inFlight)
        let each = max(1, count / lanes)
        let started = ContinuousClock.now
        let latencies = try await withThrowingTaskGroup(of: [Duration].self) { group in
            for lane in 0..<lanes {
                group.addTask {
                    var latencies: [Duration] = []
                    for index in lane * each..<(lane + 1) * each {
                        let began = ContinuousClock.now
                        try await handshake(index)
                        latencies.append(ContinuousClock.now - began)
                    }
                    return latencies
                }
            }
            return try await group.reduce(into: [Duration]()) { $0 += $1 }
        }
        let elapsed = ContinuousClock.now - started
        Output.result([
            "perSecond": Double(latencies.count) / elapsed.seconds,
            "p50Microseconds": latencies.percentile(0.5).microseconds,
        ])
    }
}
