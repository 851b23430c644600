/// The two ways in which all sides are measured: one request after the other, or many concurrently.
enum Timing {
    /// Prints the median and the 99th percentile of the latencies.
    static func roundTrips(_ count: Int, _ body: () async throws -> Void) async throws {
        var latencies: [Duration] = []
        for _ in 0..<count {
            let started = ContinuousClock.now
            try await body()
            latencies.append(ContinuousClock.now - started)
        }
        Output.result([
            "p50Microseconds": latencies.percentile(0.5).microseconds,
            "p99Microseconds": latencies.percentile(0.99).microseconds,
        ])
    }

    /// Prints the rate per second of `order.argument` concurrent tasks.
    static func parallel(_ order: Order, _ body: @escaping @Sendable () async throws -> Void) async throws {
        let each = order.count / order.argument
        let started = ContinuousClock.now
        try await withThrowingTaskGroup { group in
            for _ in 0..<order.argument {
                group.addTask { for _ in 0..<each { try await body() } }
            }
            try await group.waitForAll()
        }
        Output.result(["perSecond": Double(each * order.argument) / (ContinuousClock.now - started).seconds])
    }
}
