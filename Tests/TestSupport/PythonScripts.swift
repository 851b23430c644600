package import Foundation

/// The scripts of the tests, and the Python environments that have the packages they need.
package enum PythonScripts {
    /// The root folder of the package.
    package static let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent()

    /// The Python for a script; those with otdf-python have an environment of their own.
    static func python(for script: String) -> String {
        root.appending(path: "\(environment(for: script))/bin/python3").path
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
    private static func environment(for script: String) -> String {
        script.hasPrefix("nanotdf") ? ".venv-nanotdf" : ".venv"
    }
}
