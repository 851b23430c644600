internal import Console
internal import CoreMetrics
internal import Logging
internal import MetricsText

let secretOfTests = "a token of the tests"

/// Runs `body` with the port of a console that shows the registry's metrics.
func withConsole(_ registry: MetricsRegistry, _ body: @Sendable @escaping (UInt16) async throws -> Void) async throws {
    var logger = Logger(label: "test")
    logger.logLevel = .critical
    let console = Console(
        Console.Configuration(
            port: 0,
            token: secretOfTests,
            metrics: { (registry.text(), MetricsRegistry.contentType) },
            logger: logger
        )
    )
    let (ports, continuation) = AsyncStream.makeStream(of: UInt16.self)
    try await withThrowingTaskGroup(of: Void.self) { group in
        group.addTask {
            defer { continuation.finish() }
            try await console.run { continuation.yield($0) }
        }
        for await port in ports {
            try await body(port)
            break
        }
        group.cancelAll()
        try await group.waitForAll()
    }
}
