internal import Certificates
internal import Console
internal import HTTPAPI
internal import TestSupport

/// Runs `body` with the port of a console that is open to the network and shows `certificate`.
func withNetworkConsole(
    certificate: ServerCertificate? = nil,
    sessions: ConsoleSessions = ConsoleSessions(key: secretOfTests),
    routes: [Route] = [],
    _ change: (inout Console.Configuration) -> Void = { _ in },
    _ body: @Sendable @escaping (UInt16) async throws -> Void
) async throws {
    var random = SystemRandomNumberGenerator()
    let shown =
        try certificate
        ?? ServerCertificate.make(addresses: [], hostName: nil, at: 1_800_000_000, using: &random)
    try await withConsole(
        sessions: sessions,
        routes: routes,
        {
            $0.place = .network(port: 0, shown)
            change(&$0)
        },
        body
    )
}
