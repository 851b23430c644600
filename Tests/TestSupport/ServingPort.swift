/// Runs `body` with the port that `serve` reports, then ends `serve` by a cancellation and waits for it.
package func withPort(
    of serve: @Sendable @escaping (_ onReady: @Sendable @escaping (UInt16) -> Void) async throws -> Void,
    _ body: @Sendable @escaping (UInt16) async throws -> Void
) async throws {
    let (ports, continuation) = AsyncStream.makeStream(of: UInt16.self)
    try await withThrowingTaskGroup(of: Void.self) { group in
        group.addTask {
            defer { continuation.finish() }
            try await serve { continuation.yield($0) }
        }
        for await port in ports {
            try await body(port)
            break
        }
        group.cancelAll()
        try await group.waitForAll()
    }
}
