internal import Foundation
internal import TestSupport
internal import Testing

/// The examples that the documents show and the programs that only tests use, each run as a process.
@Suite("Programs", .timeLimit(.minutes(5))) struct ProgramTests {
    @Test func `a write to a program that has ended is an error, not the end of the tests`() async throws {
        try await aside {
            let process = try ChildProcess(path: "/bin/true", arguments: [], takesLines: true)
            #expect(process.waitUntilExit() == 0)
            // A process that starts at this moment may hold the other end for an instant.
            #expect(throws: (any Error).self) { while true { try process.write("late") } }
        }
    }

    /// Runs a program to its end and expects success.
    private func run(_ path: String, _ arguments: String...) async throws {
        let (status, lines) = try await aside {
            let process = try ChildProcess(path: path, arguments: arguments)
            var lines: [String] = []
            while let line = process.nextLine() { lines.append(line) }
            return (process.waitUntilExit(), lines)
        }
        #expect(status == 0, "\(path): \(lines.joined(separator: "\n"))")
    }

    private static let products = ChildProcess.products.path(percentEncoded: false)

    @Test(arguments: ["two-nodes", "simulated-network", "hello-c"])
    func `an example runs to its end`(name: String) async throws {
        try await run("\(Self.products)/\(name)")
    }

    /// The clock of the benchmark stops when the subscriber has each event, and it fails if one is missing.
    @Test func `the program of the benchmarks loses no event, however quickly they are published`() async throws {
        struct Server: Decodable {
            let id: String
            let address: String
        }
        let subscriber = try ChildProcess("runar-bench", arguments: ["node", "server"], takesLines: true)
        let line = try #require(try await aside { subscriber.nextLine() })
        let server = try JSONDecoder().decode(Server.self, from: Data(line.utf8))
        let program = "\(Self.products)/runar-bench"
        // 6 MiB: more may wait for the subscriber, so that even a machine that delays it loses none.
        try await run(program, "node", "client", server.id, server.address, "publish", "100000", "64")
        try subscriber.endInput()
        #expect(try await aside { subscriber.waitUntilExit() } == 0)
    }

    @Test func `two devices use each example together`() async throws {
        let script = packageRoot.appending(path: "scripts/examples.sh").path(percentEncoded: false)
        try await run(script, Self.products)
    }

    /// Real time: the processes pace their requests, and a minute in `make test-long` shows whether their memory grows.
    @Test func `20 processes work together while members leave, crash and join`() async throws {
        try await run("\(Self.products)/Soak", LongTests.areRun ? "60" : "20")
    }
}
