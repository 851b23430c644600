internal import Foundation
internal import TestSupport
internal import Testing

/// Plays the scenarios of `Tests/Browser` with the built command and a Chromium.
enum BrowserScenario {
    /// The reason why the scenarios cannot be played, such as a missing tool, or an empty text.
    static let missing = PythonScripts.missing(for: script, otherwise: "no browser shows the console")
    private static let script = "../Browser/run.py"

    /// The folder of the screenshots, without those of failures of earlier runs.
    private static let images = {
        let folder = packageRoot.appending(path: ".build/console-screenshots")
        let names = try? FileManager.default.contentsOfDirectory(atPath: folder.path)  // there is none before the first
        for name in names ?? [] where name.hasPrefix("failed-") {
            try? FileManager.default.removeItem(at: folder.appending(path: name))  // the newer one replaces it
        }
        return folder.path
    }()

    private static let environment = [
        "RUNAR": ChildProcess.products.appending(path: "runar").path,
        "CONSOLE_SCREENSHOTS": images,
    ]

    private static let server = Result { try ScenarioServer(script: script, environment: environment) }

    /// Plays a scenario, named `module.function`; its output is the reason if it fails.
    static func play(_ name: String) async throws {
        let result = try await server.get().play(name)
        for line in result.lines where line.hasPrefix("measured: ") { print(line) }
        #expect(result.status == 0, "\(result.lines.joined(separator: "\n"))")
    }

    /// Returns the names of all scenarios.
    static func names() async throws -> Set<String> {
        try await aside {
            let process = try ChildProcess(script: script, arguments: ["list"], environment: environment)
            var names: Set<String> = []
            while let line = process.nextLine() { names.insert(line) }
            _ = process.waitUntilExit()
            return names
        }
    }
}
