package import Foundation

/// The scripts of the tests, and the Python in `.venv` that has the packages they need.
package enum PythonScripts {
    /// Where the package lies.
    package static let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent()
    static let python = root.appending(path: ".venv/bin/python3").path

    /// What must be installed before a script can run, or nothing: it says so itself when its argument is `check`.
    ///
    /// A reason is printed behind `consequence`, so that no test is left out silently.
    package static func missing(for script: String, otherwise consequence: String) -> String {
        let reason = check(script)
        if !reason.isEmpty { print("\(consequence): \(reason)") }
        return reason
    }

    private static func check(_ script: String) -> String {
        guard FileManager.default.isExecutableFile(atPath: python) else {
            return "there is no .venv; run ./scripts/python-env.sh"
        }
        do {
            return try ChildProcess(script: script, arguments: ["check"]).nextLine() ?? "the script said nothing"
        } catch {
            return "\(error)"
        }
    }
}
