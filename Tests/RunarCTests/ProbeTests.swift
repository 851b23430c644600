internal import Foundation
internal import TestSupport
internal import Testing

/// A program in C that calls every function (Tests/Helpers/CProbe), in short; scripts/sanitize-c.sh runs it at length
/// under the address sanitizer.
@Suite("A program in C", .timeLimit(.minutes(15))) struct ProbeTests {
    /// Runs it to its end, which must be a good one.
    private func probe(_ arguments: String...) async throws {
        let (status, output) = try await aside {
            let process = try ChildProcess("CProbe", arguments: arguments)
            var output: [String] = []
            while let line = process.nextLine() { output.append(line) }
            return (process.waitUntilExit(), output)
        }
        #expect(status == 0, "\(arguments): \(output)")
    }

    /// The numbers of requests and nodes; `make sanitize` has more.
    private static let requests = ProcessInfo.processInfo.environment["RUNAR_C_REQUESTS"] ?? "5000"
    private static let nodes = ProcessInfo.processInfo.environment["RUNAR_C_NODES"] ?? "20"

    @Test func `every function does what it says, and refuses what it does not expect`() async throws {
        try await probe("calls")
    }

    @Test func `callbacks come once each while the node stops and none after it is freed`() async throws {
        try await probe("late")
    }

    @Test func `requests leave no memory behind`() async throws {
        try await probe("requests", Self.requests)
    }

    @Test func `nodes leave no memory behind`() async throws {
        try await probe("nodes", Self.nodes)
    }
}
