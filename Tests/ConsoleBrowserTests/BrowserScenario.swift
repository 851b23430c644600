internal import Foundation
internal import TestSupport
internal import Testing

/// Plays the scenarios of `Tests/Browser` with the built command and a Chromium.
enum BrowserScenario {
    /// What must be installed before they can be played, or nothing.
    static let missing = PythonScripts.missing(for: script, otherwise: "no browser shows the console")
    private static let script = "../Browser/run.py"

    /// Where pictures are kept; those of failures of earlier runs are gone.
    private static let pictures = {
        let folder = PythonScripts.root.appending(path: ".build/console-screenshots")
        let names = try? FileManager.default.contentsOfDirectory(atPath: folder.path)  // there is none before the first
        for name in names ?? [] where name.hasPrefix("failed-") {
            try? FileManager.default.removeItem(at: folder.appending(path: name))  // the newer one replaces it
        }
        return folder.path
    }()

    /// Plays a scenario, named `module.function`; what it prints is the reason if it fails.
    static func play(_ name: String) async throws {
        let (status, lines) = try await run([name])
        for line in lines where line.hasPrefix("measured: ") { print(line) }
        #expect(status == 0, "\(lines.joined(separator: "\n"))")
    }

    /// The scenarios that there are.
    static func names() async throws -> Set<String> { Set(try await run(["list"]).lines.filter { !$0.isEmpty }) }

    private static func run(_ arguments: [String]) async throws -> (status: Int32, lines: [String]) {
        try await aside {
            // It ends with its input, and so with the process of the tests.
            let process = try ChildProcess(
                script: script,
                arguments: arguments,
                takesLines: true,
                environment: [
                    "RUNAR": ChildProcess.products.appending(path: "runar").path,
                    "CONSOLE_SCREENSHOTS": pictures,
                ]
            )
            var lines: [String] = []
            while let line = process.nextLine() { lines.append(line) }
            return (process.waitUntilExit(), lines)
        }
    }
}
