internal import Console
internal import CoreMetrics
internal import Foundation
internal import HTTPAPI
internal import Logging
internal import MetricsText
internal import TestSupport

let secretOfTests = "a token of the tests"

/// Runs `body` with the port of a console that shows the registry's metrics and answers `routes`.
func withConsole(
    _ registry: MetricsRegistry = MetricsRegistry(),
    sessions: ConsoleSessions = ConsoleSessions(key: secretOfTests),
    routes: [Route] = [],
    _ change: (inout Console.Configuration) -> Void = { _ in },
    _ body: @Sendable @escaping (UInt16) async throws -> Void
) async throws {
    var logger = Logger(label: "test")
    logger.logLevel = .critical
    var configuration = Console.Configuration(
        place: .thisMachine(port: 0),
        sessions: sessions,
        routes: routes + [
            Route(.get, "/metrics") { _ in
                .text(registry.text(), contentType: MetricsRegistry.contentType)
            }
        ],
        uploads: FileManager.default.temporaryDirectory.path,
        logger: logger
    )
    change(&configuration)
    let console = Console(configuration)
    try await withPort(of: { try await console.run(onReady: $0) }, body)
}
