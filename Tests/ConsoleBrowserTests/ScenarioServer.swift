internal import Foundation
internal import TestSupport

/// The result of a scenario, as `run.py serve` writes it.
struct ScenarioResult: Decodable, Sendable {
    let name: String
    let status: Int32
    let lines: [String]
}

/// The one process that plays the scenarios of all tests, several at the same time.
///
/// It ends with its input, and so with the process of the tests; its nodes and browsers end with it.
actor ScenarioServer {
    /// The end of the server, or a line that is no result.
    struct Failure: Error, CustomStringConvertible {
        let description: String
    }

    private let process: ChildProcess
    private var results: [String: ScenarioResult] = [:]
    /// The task that waits for the next result, if one does.
    private var reading: Task<Void, any Error>?

    /// Starts `script` with the variables of `environment`.
    init(script: String, environment: [String: String]) throws {
        process = try ChildProcess(script: script, arguments: ["serve"], takesLines: true, environment: environment)
    }

    /// Plays a scenario and returns its result.
    func play(_ name: String) async throws -> ScenarioResult {
        try process.write(name)
        while true {
            if let result = results.removeValue(forKey: name) { return result }
            try await nextResult().value
        }
    }

    /// Returns the task that reads the next result, which may be that of any waiting test.
    private func nextResult() -> Task<Void, any Error> {
        if let reading { return reading }
        let task = Task {
            defer { reading = nil }
            guard let line = try await aside({ [process] in process.nextLine() }) else {
                throw Failure(description: "the process that plays the scenarios has ended")
            }
            do {
                let result = try JSONDecoder().decode(ScenarioResult.self, from: Data(line.utf8))
                results[result.name] = result
            } catch {
                throw Failure(description: "the process that plays the scenarios wrote: \(line)")
            }
        }
        reading = task
        return task
    }
}
