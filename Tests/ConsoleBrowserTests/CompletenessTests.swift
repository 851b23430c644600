internal import Foundation
internal import TestSupport
internal import Testing

@Suite("Scenarios") struct CompletenessTests {
    @Test(.enabled(if: BrowserScenario.missing.isEmpty, Comment(rawValue: BrowserScenario.missing)))
    func `every scenario is played by a test`() async throws {
        let folder = packageRoot.appending(path: "Tests/ConsoleBrowserTests")
        var played: Set<String> = []
        for file in try FileManager.default.contentsOfDirectory(atPath: folder.path) {
            let text = try String(contentsOf: folder.appending(path: file), encoding: .utf8)
            for match in text.matches(of: /play\("([a-z_.]+)"\)/) { played.insert(String(match.1)) }
        }
        #expect(try await BrowserScenario.names() == played)
    }
}
