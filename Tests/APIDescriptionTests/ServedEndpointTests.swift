internal import Foundation
internal import HTTPAPI
internal import Logging
internal import TestSupport
internal import Testing

@testable internal import APIDescription

/// Over sockets, by an independent client.
@Suite(
    "Endpoints of a server",
    .timeLimit(.minutes(15)),
    .enabled(if: ConsoleVisitor.missing.isEmpty, Comment(rawValue: ConsoleVisitor.missing))
)
struct ServedEndpointTests {
    private func withAccounts(_ body: @Sendable @escaping (UInt16) async throws -> Void) async throws {
        let endpoints = Accounts.served
        let configuration = HTTPServer.Configuration(
            address: .thisMachine(port: 0),
            routes: try endpoints.map(\.route) + [Accounts.document.route(of: endpoints)],
            uploadPrefix: FileManager.default.temporaryDirectory.appending(path: "upload-\(UUID().uuidString)-").path,
            logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
        )
        let server = HTTPServer(configuration)
        try await withPort(of: { try await server.run(onReady: $0) }, body)
    }

    @Test func `a form, a path, a token and a query arrive, and fields and statuses return`() async throws {
        try await withAccounts { port in
            let json = ["Content-Type", "application/json"]
            let answers = try await ConsoleVisitor.fetch(
                port,
                [
                    .init("POST", "/accounts/a%2Fb", [json], body: #"{"keys":[]}"#),
                    .init("POST", "/accounts/ada", [json], body: #"{"keys":[{"id":"k","kind":"cat"}]}"#),
                    .init("GET", "/accounts/ada?limit=9", []),
                    .init("DELETE", "/accounts/ada", [["Authorization", "Bearer right"]]),
                    .init("DELETE", "/accounts/ada", []),
                    .init("PUT", "/accounts/ada", []),
                ]
            )
            #expect(answers.map(\.status) == [201, 400, 200, 204, 401, 405])
            #expect(answers[0].headers["x-auth-token"] == "token-of-a/b" && answers[0].body.contains(#""name":"a/b""#))
            #expect(answers[1].body.contains(#""field":"keys.Index 0.kind""#))
            #expect(answers[2].body.contains(#""limit":"9""#))
            #expect(answers[3].length == 0 && answers[4].headers["www-authenticate"] == "Bearer")
        }
    }

    @Test func `HEAD has the status and the fields of GET, also of the description`() async throws {
        try await withAccounts { port in
            for path in ["/accounts/ada", "/accounts/bob", "/motto", "/openapi.json"] {
                let answers = try await ConsoleVisitor.fetch(port, [.init("GET", path, []), .init("HEAD", path, [])])
                let fields = answers.map { $0.headers.filter { $0.key != "date" } }
                #expect(answers[0].status == answers[1].status && fields[0] == fields[1], "\(path)")
                #expect(answers[0].length > 0 && answers[1].length == 0, "\(path)")
            }
        }
    }
}
