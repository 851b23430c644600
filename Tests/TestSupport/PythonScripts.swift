internal import Foundation

/// The scripts of the tests, and the Python environments that have the packages they need.
package enum PythonScripts {
    /// The Python for a script; those with otdf-python have an environment of their own.
    static func python(for script: String) -> String {
        packageRoot.appending(path: "\(environment(for: script))/bin/python3").path
    }

    /// Returns the reason why a script cannot run, or an empty string; the script reports it for the argument `check`.
    ///
    /// A reason is printed behind `consequence`, so that no test is left out silently.
    package static func missing(for script: String, otherwise consequence: String) -> String {
        let reason = check(script)
        if !reason.isEmpty { print("\(consequence): \(reason)") }
        return reason
    }

    private static func check(_ script: String) -> String {
        guard FileManager.default.isExecutableFile(atPath: python(for: script)) else {
            return "there is no \(environment(for: script)); run ./scripts/python-env.sh"
        }
        do {
            return try ChildProcess(script: script, arguments: ["check"]).nextLine() ?? "the script said nothing"
        } catch {
            return "\(error)"
        }
    }

    /// Runs a script on a file with a line for each request and returns its answers, a line each.
    package static func lines(of script: String, for requests: [String]) throws -> [String] {
        let file = FileManager.default.temporaryDirectory.appending(path: "requests-\(UUID().uuidString)")
        try Data(requests.joined(separator: "\n").utf8).write(to: file)
        defer { try? FileManager.default.removeItem(at: file) }  // the system empties the folder for temporary files
        let process = try ChildProcess(script: script, arguments: [file.path(percentEncoded: false)])
        var answers: [String] = []
        while let line = process.nextLine() { answers.append(line) }
        guard process.waitUntilExit() == 0, answers.count == requests.count else {
            throw Failure(description: "\(script) answered \(answers.count) of \(requests.count) requests")
        }
        return answers
    }

    /// Returns the answers of a script to requests, both in JSON.
    static func answers<Answer: Decodable>(of script: String, to requests: [some Encodable]) throws -> [Answer] {
        let lines = try requests.map { String(decoding: try JSONEncoder().encode($0), as: UTF8.self) }
        return try Self.lines(of: script, for: lines).map {
            try JSONDecoder().decode(Answer.self, from: Data($0.utf8))
        }
    }

    private struct Failure: Error, CustomStringConvertible {
        let description: String
    }

    private static func environment(for script: String) -> String {
        script.hasPrefix("nanotdf") ? ".venv-nanotdf" : ".venv"
    }
}
