#if os(Linux)
internal import Foundation
internal import TestSupport
internal import Testing

/// The last part of the demo, which needs network namespaces, tunnels and packet filters.
@Suite(
    "The private exit of runar demo",
    .aside,
    .enabled(if: TunnelLab.obstacle == nil, Comment(rawValue: TunnelLab.obstacle ?? "")),
    .timeLimit(.minutes(15))
) struct DemoExitTests {
    /// The network namespaces of the demo with this process id.
    private func spaces(of id: Int32) throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: "/run/netns").filter { $0.hasPrefix("runar-demo-\(id)-") }
    }

    @Test func `a page is read through a tunnel, and no namespace is left`() throws {
        let demo = try RunningCommand(["demo", "--json"], home: try TemporaryDataDirectory())
        let outcome = try demo.outcome()
        let steps = try #require(try outcome.json["steps"] as? [[String: Any]])
        for step in steps { #expect(step["ok"] as? Bool == true, "\(step)") }
        #expect(try outcome.json["exitSkipped"] == nil)
        let page = try #require(steps.last)
        #expect(page["name"] as? String == "a page through the tunnel")
        #expect((page["detail"] as? String)?.contains("198.51.100.1") == true)
        #expect(try spaces(of: demo.id).isEmpty)
    }

    @Test func `an interrupted demo leaves no namespace`() throws {
        let demo = try ChildProcess("runar", arguments: ["demo"])
        while let line = demo.nextLine(), !line.contains("start a gateway") {}
        #expect(try spaces(of: demo.id).count == 3)
        demo.send(SIGINT)
        #expect(demo.waitUntilExit() == 130)
        #expect(try spaces(of: demo.id).isEmpty)
    }
}
#endif
