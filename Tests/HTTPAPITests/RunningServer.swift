internal import Foundation
internal import HTTPAPI
internal import Logging
internal import TestSupport

/// Runs `body` with the port of a server on the loopback interface that answers `routes`.
func withServer(
    _ routes: [Route],
    _ change: (inout HTTPServer.Configuration) throws -> Void = { _ in },
    _ body: @Sendable @escaping (UInt16) async throws -> Void
) async throws {
    var logger = Logger(label: "test")
    logger.logLevel = .critical
    var configuration = HTTPServer.Configuration(
        address: .thisMachine(port: 0),
        routes: routes,
        uploadPrefix: FileManager.default.temporaryDirectory.appending(path: "upload-\(UUID().uuidString)-").path,
        logger: logger
    )
    try change(&configuration)
    let server = HTTPServer(configuration)
    try await withPort(of: { try await server.run(onReady: $0) }, body)
}
